"""Runs of Gymnasium environments: one agent for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aapi.agent import Agent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from aapi.experiments.configuration import Configuration

__all__ = ["agent_curves", "close_environment", "new_agent", "run_seed"]


def run_seed(seed: int, number: int) -> int:
    """The seed of the agent of a run, and of its environment: as independent of others as compiled runs' streams."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])


def new_agent(configuration: Configuration, seed: int, number: int) -> Agent:
    """The agent of a run, in an environment of its own, which the caller closes."""
    env = configuration.problem.make_environment()
    try:
        return Agent(configuration.algorithm, env, configuration.features, run_seed(seed, number))
    except BaseException:
        env.close()
        raise


def agent_curves(
    configuration: Configuration, seed: int, numbers: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The ends of phases, (grid,), and the sum of rewards up to each of them, (runs, grid)."""
    curves = []
    for number in numbers:
        agent = new_agent(configuration, seed, number)
        steps: list[int] = []
        sums: list[float] = []
        try:
            while agent.num_steps < configuration.steps:
                left = configuration.steps - agent.num_steps
                agent.learn(min(left, agent.steps_left))
                steps.append(agent.num_steps)
                sums.append(agent.total_reward)
        finally:
            close_environment(agent)
        curves.append(sums)
    return np.array(steps, dtype=np.int64), np.array(curves, dtype=np.float64)


def close_environment(agent: Agent) -> None:
    """Close the environment of an agent."""
    if agent.env is not None:
        agent.env.close()
