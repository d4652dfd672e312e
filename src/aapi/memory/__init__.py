"""What is remembered of past phases: counts of transitions, or the last steps."""

from aapi.memory.counts import Counts, CountTransitions
from aapi.memory.protocol import Memory, Remembers

__all__ = ["CountTransitions", "Counts", "Memory", "Remembers"]
