"""Runs of Gymnasium environments: one agent for each."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import numpy as np

from aapi.agent import Agent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from aapi.experiments.configuration import Configuration


def run_seed(seed: int, number: int) -> int:
    """The seed of the agent of a run, and of its environment: as independent of others as compiled runs' streams."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])


@contextmanager
def new_agent(configuration: Configuration, seed: int, number: int) -> Iterator[Agent]:
    """The agent of a run, in an environment of its own, which is closed when the block ends."""
    with closing(configuration.problem.make_environment()) as env:
        yield Agent(configuration.algorithm, env, configuration.features, run_seed(seed, number))


def agent_curves(
    configuration: Configuration, seed: int, numbers: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The ends of phases, (grid,), and the sum of rewards up to each of them, (runs, grid)."""
    curves = []
    for number in numbers:
        steps: list[int] = []
        sums: list[float] = []
        with new_agent(configuration, seed, number) as agent:
            while agent.num_steps < configuration.steps:
                left = configuration.steps - agent.num_steps
                agent.learn(min(left, agent.steps_left))
                steps.append(agent.num_steps)
                sums.append(agent.total_reward)
        curves.append(sums)
    return np.array(steps, dtype=np.int64), np.array(curves, dtype=np.float64)
