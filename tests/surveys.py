"""Situations for tests of explorations that plan: what one run has seen, and a survey of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from experience import rollout, uniform

from aapi.batch import simulator
from aapi.exploration import Situation
from aapi.exploration.survey import Outlook, Survey
from aapi.memory import CountTransitions, empty_memories, remember
from aapi.memory.news import TrackNews
from aapi.memory.reward_moments import TrackRewards

if TYPE_CHECKING:
    from aapi.mdp import FiniteMDP


def situation(mdp: FiniteMDP, steps: int, seed: int = 1, *, explored: int = 0) -> Situation:
    """After so many steps at random."""
    simulation = simulator(mdp, None, seed)([0])
    memories = empty_memories([CountTransitions(), TrackNews(), TrackRewards()], simulation.space, 1)
    memories = remember(memories, rollout(simulation, uniform(simulation), steps), uniform(simulation))
    counts = memories[CountTransitions()]
    survey = Survey(counts, Outlook.start(simulation.space, 1))
    return Situation(counts, np.array([explored]), np.ones(1, dtype=bool), simulation.streams, memories, survey)
