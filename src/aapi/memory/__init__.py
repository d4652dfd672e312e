"""What is remembered of past phases: counts of transitions, sums over traces, or the last steps."""

from aapi.memory.counts import Counts, CountTransitions
from aapi.memory.protocol import Memory, Remembers
from aapi.memory.traces import SumTraces, Traces
from aapi.memory.window import KeepSteps, Window

__all__ = ["CountTransitions", "Counts", "KeepSteps", "Memory", "Remembers", "SumTraces", "Traces", "Window"]
