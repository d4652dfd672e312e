"""A log of what learning changed: a line of JSON for each phase."""

from __future__ import annotations

import copy
import json
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from aapi.agent.tables import state_visits
from aapi.environments.observations import observations_of
from aapi.errors import InvalidInput
from aapi.files import atomic_write, uninterrupted

if TYPE_CHECKING:
    import os

    from aapi.agent.agent import Agent
    from aapi.approximation import Policy
    from aapi.array_types import AnyArray
    from aapi.json_types import Json
    from aapi.learners import Phase

MOST_COMPARED = 1000  # vectors of a phase
BEGIN = b'{"time": "'  # of each line


class ChangeLog:
    """Appends a line to a file after each phase. Lines beyond the agent's steps, from before a kill, are taken out.

    time: when. agent: whose log it is, by seed, algorithm and observations. phase, steps, average_reward, explored: as
    they are then. observations: in how many the policies before and after the phase were compared: those seen so far,
    or, of vectors, those of the last 1000 steps of the phase. changed: in how many of them the most likely action is
    another one. largest: the one most visited of these, with its actions before (from) and now (to), and how often the
    agent was there.
    """

    def __init__(self, agent: Agent, path: str | os.PathLike[str]) -> None:
        self.agent, self.path = agent, Path(path)
        self._observations = observations_of(agent.observation_space)
        self._agent_id = f"{zlib.crc32(repr((agent.seed, agent.algorithm, agent.observation_space)).encode()):08x}"
        held = self.path.read_bytes() if self.path.exists() else b""
        *lines, rest = held.split(b"\n")
        if not (rest.startswith(BEGIN) or BEGIN.startswith(rest)):  # else it was cut off in the middle of a line
            raise InvalidInput(f"{path} is not a log of changes: it has the line {rest[:60]!r}")
        kept = [line for line in lines if self._steps(line) <= agent.num_steps]
        if lines and not agent.num_steps:
            raise InvalidInput(f"{path} has lines of another agent: give another file, or remove it")
        if (clean := b"".join(line + b"\n" for line in kept)) != held or not held:
            with atomic_write(self.path) as file:
                file.write(clean)
        self._before = self._copied_policy()

    def _steps(self, line: bytes) -> int:
        """Of a line, after how many steps it was written."""
        try:
            found = json.loads(line)
            steps, agent = int(found["steps"]), str(found["agent"])
        except (ValueError, TypeError, KeyError, OverflowError):
            raise InvalidInput(f"{self.path} is not a log of changes: it has the line {line[:60]!r}") from None
        if agent != self._agent_id:
            raise InvalidInput(f"{self.path} has lines of another agent: give another file, or remove it")
        return steps

    def _copied_policy(self) -> Policy:
        """The present policy, to compare the next one with, as its learner names actions."""
        return copy.deepcopy(self.agent.algorithm.current_policy(self.agent.session.state))

    def add(self, phase: Phase) -> None:
        """Append the line of a phase that was learnt from."""
        agent = self.agent
        if agent.space.countable:
            every = state_visits(agent).sum(axis=1)
            rows = np.flatnonzero(every)
            visits = every[rows]
        else:
            rows, visits = np.unique(phase.data.states[0, -MOST_COMPARED:], axis=0, return_counts=True)
        policies = self._before, self._copied_policy()
        self._before = policies[1]
        before, now = (
            agent.space.probabilities(agent.simulation.masks.in_table(policy), rows[None])[0].argmax(axis=1)
            for policy in policies
        )
        changed = np.flatnonzero(before != now)
        start, largest = int(self.agent.action_space.start), None
        if changed.size:
            i = int(changed[np.argmax(visits[changed])])
            largest = {
                "observation": self._shown(rows[i]), "from": start + int(before[i]), "to": start + int(now[i]),
                "visits": int(visits[i]),
            }  # fmt: skip
        line = {
            "time": datetime.now(UTC).isoformat(timespec="seconds"), "agent": self._agent_id, "phase": phase.number,
            "steps": self.agent.num_steps, "average_reward": float(phase.data.rewards.mean()),
            "explored": self.agent.explored_steps, "observations": len(rows), "changed": len(changed),
            "largest": largest,
        }  # fmt: skip
        with uninterrupted(), self.path.open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")

    def _shown(self, row: AnyArray) -> Json:
        """An observation in a line: its number, or numbers."""
        if not self.agent.space.countable:
            return [round(float(number), 6) for number in row]
        places = np.unravel_index(int(row), self._observations.counts)
        numbers = [int(place + low) for place, low in zip(places, self._observations.low, strict=True)]
        return numbers[0] if len(numbers) == 1 else numbers
