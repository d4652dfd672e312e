"""What is remembered of past phases: counts of transitions, a model of vectors, sums over traces, or the last steps."""

from aapi.memory.counts import Counts, CountTransitions
from aapi.memory.interpolated import Interpolate, InterpolatedModel
from aapi.memory.memory import Experience, LinearMemory, Memories, Memory, MemorySpec, empty_memories, remember
from aapi.memory.reward_moments import RewardMoments, TrackRewards
from aapi.memory.traces import SumTraces, Traces
from aapi.memory.window import KeepSteps, Window

__all__ = [
    "CountTransitions", "Counts", "Experience", "Interpolate", "InterpolatedModel", "KeepSteps", "LinearMemory",
    "Memories", "Memory", "MemorySpec", "RewardMoments", "SumTraces", "Traces", "TrackRewards", "Window",
    "empty_memories", "remember",
]  # fmt: skip
