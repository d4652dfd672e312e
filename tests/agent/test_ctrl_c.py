"""Ctrl-C while an agent is saved: the file is whole, the agent knows of it, and it is Ctrl-C that is raised.

While it learns: going on gives the bits of an undisturbed run.
"""

import signal
import sys
from functools import partial

import gymnasium
import numpy as np
import pytest

import aapi
from aapi.files import uninterrupted


@pytest.fixture
def at_line():
    """A function that does something, with Ctrl-C before the n-th line of it that is run, and counts these lines."""
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored here: a job in the background
    outside = sys.gettrace()

    def do(something, moment=None):
        lines = 0

        def trace(frame, event, argument):
            nonlocal lines
            if event == "line":
                lines += 1
                if lines == moment:
                    signal.raise_signal(signal.SIGINT)
            return trace

        sys.settrace(trace)
        try:
            something()
        finally:
            sys.settrace(outside)
        return lines

    yield do
    signal.signal(signal.SIGINT, usual)


def test_ctrl_c_at_any_moment_of_saving(agent, at_line, tmp_path):
    learner, path = agent(), tmp_path / "a.aapi"
    lines = at_line(lambda: learner.save(path))
    assert lines > 500
    too_early = [0]
    for moment in range(1, lines, 17):
        before, known = path.read_bytes(), learner.saved
        learner.learn(1)
        with pytest.raises(KeyboardInterrupt):
            at_line(lambda: learner.save(path), moment)
        if path.read_bytes() == before:
            done = known
            too_early.append(moment)
        else:
            done = (path, learner.num_steps)
        assert learner.saved == done
        assert aapi.load(path).num_steps == done[1]
        assert [each.name for each in tmp_path.iterdir()] == ["a.aapi"]
    assert max(too_early) < 100, "once it has begun to write it ends"


@pytest.mark.parametrize("times", [1, 3])
def test_ctrl_c_waits_and_comes_once(at_line, times):
    done = []

    @uninterrupted()
    def work(depth):
        signal.raise_signal(signal.SIGINT)
        if depth:
            work(depth - 1)
        done.append(depth)

    for _ in range(2):  # as often as the function is called
        with pytest.raises(KeyboardInterrupt):
            work(times - 1)
    assert done == [*range(times)] * 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_is_ignored_stays_ignored(at_line):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with uninterrupted():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


TOLD = {"reward_low": 0.0, "reward_high": 1.0}
LEARNERS = {
    "differential-q": aapi.DifferentialQ(),
    "sarsa": aapi.learners.DifferentialSarsa(),
    "optimistic-q": aapi.OptimisticQ(total_steps=100, **TOLD),
    "ucrl2": aapi.UCRL2(**TOLD),
    "psrl": aapi.PSRL(**TOLD),
}
ENVIRONMENTS = {
    "one": partial(gymnasium.make, "FrozenLake-v1"),
    "vector": partial(gymnasium.make_vec, "FrozenLake-v1", 2, vectorization_mode="sync"),
}


@pytest.mark.parametrize("env", ENVIRONMENTS)
@pytest.mark.parametrize("name", LEARNERS)
def test_ctrl_c_at_any_moment_of_learning_loses_no_step(name, env, at_line, tmp_path):
    steps, path = 14, tmp_path / "agent.aapi"

    def bits(agent):
        agent.save(path)
        with np.load(path) as archive:
            return {each: archive[each].tobytes() for each in archive.files}

    def make():
        return aapi.Agent(LEARNERS[name], ENVIRONMENTS[env](), seed=3)

    make().learn(200)  # with all kernels compiled
    expected = bits(make().learn(steps + 6))
    lines = at_line(partial(make().learn, steps))
    within = set()
    for moment in range(1, lines, 61):
        agent = make()
        with pytest.raises((KeyboardInterrupt, SystemError)):  # numba turns the one into the other
            at_line(partial(agent.learn, steps), moment)
        within.add(agent.num_steps)
        agent.learn(steps + 6 - agent.num_steps)
        assert bits(agent) == expected, moment
    assert len(within) > 3


def test_a_second_ctrl_c_does_not_wait_for_a_step_that_hangs(at_line):
    class Hanging(gymnasium.Wrapper):
        presses = 0

        def step(self, action):
            for _ in range(self.presses):
                signal.raise_signal(signal.SIGINT)
            return super().step(action)

    env = Hanging(gymnasium.make("FrozenLake-v1"))
    agent = aapi.Agent(aapi.DifferentialQ(), env)
    for env.presses, steps in ((1, 1), (2, 1), (1, 2)):
        with pytest.raises(KeyboardInterrupt):
            agent.learn(10)
        assert agent.num_steps == agent.session.state.visits.sum() == steps
