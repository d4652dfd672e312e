"""Algorithms that the words of a study file do not reach."""

import aapi
from aapi.evaluation import SelfConsistent
from aapi.exploration import FewestVisits
from aapi.schedules import Growing


def long_first_phase() -> aapi.Learner:
    """No exploration but a first phase at random, ten times as long as usual."""
    return aapi.AAPI(phase_length=Growing(first=20.0, most=100_000), evaluate=SelfConsistent(), norm="span")


def budget_and_bonus() -> aapi.Learner:
    """The prototype that this began with: a longer first phase, a budget for rare pairs, a small bonus."""
    return aapi.AAPI(
        phase_length=Growing(first=5.0), evaluate=SelfConsistent(bonus=0.2), norm="span",
        exploration=(FewestVisits(budget=0.25),),
    )  # fmt: skip
