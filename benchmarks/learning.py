"""The learning loop against C and against gymnax, its flatness and its start-up. Run by `make bench`."""

from __future__ import annotations

import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

import aapi
from aapi.batch import simulator
from aapi.environments import deep_sea, ergodic
from aapi.evaluation import MonteCarlo
from aapi.features import OneHot
from aapi.kernels.random import streams
from aapi.simulation import Stretch, finite, transition_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from aapi.mdp import FiniteMDP

NUM_RUNS = 50
FLAGS = ("-O3", "-march=native", "-shared", "-fPIC")
SMALL_RUN = """
import aapi
from aapi.environments import ergodic
from aapi.evaluation import MonteCarlo
algorithm = aapi.AAPI(phase_length=100, evaluate=MonteCarlo(10, centre=True), eta=0.3)
"""


def seconds(work: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def in_turn(repeats: int, *works: Callable[[], object]) -> list[list[float]]:
    """The seconds of each work, measured in turn so that noise meets all; each is called once before that."""
    for work in works:
        work()
    return [list(times) for times in zip(*([seconds(work) for work in works] for _ in range(repeats)), strict=True)]


def median_ratio(numerators: list[float], denominators: list[float]) -> float:
    """The median of ratios of neighbours in time."""
    return statistics.median(a / b for a, b in zip(numerators, denominators, strict=True))


class Model(ctypes.Structure):
    """The model's tables, as plain.c declares them."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("num_states", "num_actions")),
        *((name, ctypes.c_void_p) for name in ("starts", "thresholds", "successors", "alternatives", "rewards")),
    ]


class Settings(ctypes.Structure):
    """The algorithm's settings, as plain.c declares them."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("num_phases", "phase_length", "horizon")),
        *((name, ctypes.c_double) for name in ("ridge", "eta")),
    ]


def compiled(source: str, name: str, *arguments: Any) -> Any:
    """The function of that name in a C program beside this file; it takes these arguments and returns a number."""
    path = Path(__file__).with_name(source)
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "reference.so"
        subprocess.run([os.environ.get("CC", "cc"), *FLAGS, "-o", library, path, "-lm"], check=True)
        function = getattr(ctypes.CDLL(str(library)), name)
    function.argtypes, function.restype = arguments, ctypes.c_int
    return function


class Contest:
    """The same learning in aapi and in plain C: one-hot features, H = 10, centred, ridge 1, η = 0.3."""

    def __init__(self, mdp: FiniteMDP, phase_length: int, num_phases: int) -> None:
        structures = ctypes.POINTER(Model), ctypes.POINTER(Settings)
        self.learn = compiled("plain.c", "learn", *structures, *[ctypes.c_int64] * 2, *[ctypes.c_void_p] * 2)
        self.mdp, self.num_steps = mdp, num_phases * phase_length
        self.algorithm = aapi.AAPI(phase_length=phase_length, evaluate=MonteCarlo(10, centre=True, ridge=1.0), eta=0.3)
        self.settings = Settings(num_phases, phase_length, 10, 1.0, 0.3)

    def ours(self, threads: int = 1) -> NDArray[np.float64]:
        """By aapi: the average rewards of the runs."""
        result = aapi.run(self.algorithm, self.mdp, self.num_steps, NUM_RUNS, features=OneHot(), threads=threads)
        return result.cumulated[:, -1] / self.num_steps

    def theirs(self) -> NDArray[np.float64]:
        """By C, tables and all."""
        tables = transition_tables(self.mdp)
        names = ("starts", "thresholds", "successors", "alternatives", "rewards")
        arrays = (getattr(tables, name).ctypes.data for name in names)
        model = Model(self.mdp.num_states, self.mdp.num_actions, *arrays)
        rewards, state = np.empty(NUM_RUNS), streams(0, range(NUM_RUNS))
        out = (array.ctypes.data for array in (state, rewards))
        assert self.learn(model, self.settings, NUM_RUNS, self.mdp.initial_state, *out) == 0
        return rewards / self.num_steps


def against_c(repeats: int = 7) -> None:
    """50 states × 5 actions, the whole learning loop."""
    contest = Contest(ergodic(50, 5), 1000, 500)
    ours, theirs, both = in_turn(repeats, contest.ours, contest.theirs, lambda: contest.ours(threads=2))
    assert np.array_equal(contest.ours(threads=2), contest.ours())
    apart = np.abs(contest.ours().mean() - contest.theirs().mean()) / contest.ours().mean()
    assert apart < 0.001  # the same algorithm, though not the same bits
    steps = NUM_RUNS * contest.num_steps
    print(f"AAPI on 50 states × 5 actions, τ = 1000, {NUM_RUNS} runs of {contest.num_steps:,} steps, ", end="")
    print(f"median of {repeats}; a plain C program, one run after the other, earns the same up to {apart:.1e}")
    for name, times in (("aapi, 1 thread", ours), ("C, 1 thread", theirs), ("aapi, 2 threads", both)):
        median = statistics.median(times)
        print(f"  {name:15} {median:6.2f} s  {1e9 * median / steps:5.1f} ns a step")
    print(f"  time ratio aapi / C: {median_ratio(ours, theirs):.2f}; ", end="")
    print(f"two threads are {median_ratio(ours, both):.2f} × as fast as one")


def lanes(repeats: int = 7) -> None:
    """The step loop alone, one run after the other and several in turn."""
    mdp = ergodic(50, 5)
    simulation = simulator(mdp, OneHot())(range(NUM_RUNS))
    stretch = Stretch(1, 0, 10_000, simulation.space.uniform(NUM_RUNS))

    def roll(count: int) -> None:
        with patch.object(finite, "LANES", count):
            simulation.rollout(stretch, 10_000)

    times = in_turn(repeats, lambda: roll(1), lambda: roll(finite.LANES))
    alone, in_lanes = (1e9 * statistics.median(row) / (NUM_RUNS * 10_000) for row in times)
    print(f"The step loop: {alone:.1f} ns a step with one run after the other, ", end="")
    print(f"{in_lanes:.1f} with {finite.LANES} in turn, {median_ratio(*times):.2f} × as fast")


def gymnax_stepping(num_steps: int) -> Callable[[], object]:
    """DeepSea-bsuite stepped at random, all in one compiled scan; observations are unused, so XLA may drop them."""
    import jax
    from gymnax.environments.bsuite.deep_sea import DeepSea

    env = DeepSea(size=20)
    params = env.default_params

    def step(carry: Any, _: None) -> tuple[Any, None]:
        key, state, total = carry
        key, for_actions, for_steps = jax.random.split(key, 3)
        actions = jax.random.randint(for_actions, (NUM_RUNS,), 0, 2)
        keys = jax.random.split(for_steps, NUM_RUNS)
        state, reward = jax.vmap(env.step, in_axes=(0, 0, 0, None))(keys, state, actions, params)[1:3]
        return (key, state, total + reward), None

    @jax.jit
    def roll(key: Any) -> Any:
        key, for_reset = jax.random.split(key)
        state = jax.vmap(env.reset, in_axes=(0, None))(jax.random.split(for_reset, NUM_RUNS), params)[1]
        return jax.lax.scan(step, (key, state, jax.numpy.zeros(NUM_RUNS)), length=num_steps)[0][2]

    return lambda: roll(jax.random.key(0)).block_until_ready()


def against_gymnax(repeats: int = 7) -> None:
    """DeepSea 20 in a batch of 50: learning here, stepping there."""
    ours_steps, theirs_steps = 600_000, 20_000
    try:
        stepping = gymnax_stepping(theirs_steps)
    except ModuleNotFoundError as error:
        print(f"DeepSea 20 against gymnax: skipped, no module {error.name}; pip install gymnax six")
        return
    mdp = deep_sea(20)
    algorithm = aapi.AAPI(phase_length=600, evaluate=MonteCarlo(40, ridge=1.0))

    def learning(threads: int) -> object:
        return aapi.run(algorithm, mdp, ours_steps, NUM_RUNS, threads=threads)

    times = in_turn(repeats, stepping, lambda: learning(1), lambda: learning(2))
    names = ("gymnax steps, JAX's default threads", "aapi learns, 1 thread", "aapi learns, 2 threads")
    print(f"DeepSea 20, batch of {NUM_RUNS}, AAPI with coordinates features, τ = 600, H = 40, median of {repeats}")
    rates = [
        [NUM_RUNS * steps / t for t in row]
        for steps, row in zip((theirs_steps, ours_steps, ours_steps), times, strict=True)
    ]
    for name, row in zip(names, rates, strict=True):
        ratio = f"  {median_ratio(row, rates[0]):5.1f} × gymnax" if row is not rates[0] else ""
        print(f"  {name:35} {1e-6 * statistics.median(row):6.1f} million steps/s{ratio}")


def flatness() -> None:
    """Small batches and short phases, where any cost that grows with the number of phases would show."""
    mdp = ergodic(10, 2)
    algorithm = aapi.AAPI(phase_length=50, evaluate=MonteCarlo(10, centre=True), eta=0.3)
    near, far, window = 10, 10_000, 200
    num_steps = 50 * (far + window)
    simulate = simulator(mdp, OneHot(), 0, np.array([num_steps]))

    def phases() -> Any:
        return aapi.play(algorithm, simulate(range(10)), num_steps)

    early, late = phases(), phases()
    for generator, ahead in ((early, near), (late, far)):
        for _ in range(ahead):
            next(generator)
    times = in_turn(window - 1, lambda: next(early), lambda: next(late))
    costs = [1e6 * statistics.median(row) for row in times]
    held = {}
    tracemalloc.start()
    for phase in phases():
        if phase.number in (near, far):
            held[phase.number] = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    print("AAPI on 10 states × 2 actions, τ = 50, 10 runs, around phase")
    for number, cost in zip((near, far), costs, strict=True):
        print(f"  {number:6,}  {cost:6.1f} µs per phase, {held[number] / 1024:6.1f} KiB held")


def start_up(repeats: int = 3) -> None:
    """Whole processes, from the interpreter's start to its end."""

    def process(code: str, cache: str) -> float:
        environment = os.environ | {"AAPI_CACHE_DIR": cache}
        return seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True, env=environment))

    run = SMALL_RUN + "aapi.run(algorithm, ergodic(10, 2), 1000, 5)"
    imports, cold, warm = [], [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            imports.append(process(SMALL_RUN + "aapi.run", cache))
            cold.append(process(run, cache))
            warm.append(process(run, cache))
    print(f"Start-up, a process from start to end, median of {repeats}")
    for name, row in (("imports", imports), ("first run, empty cache", cold), ("first run, warm cache", warm)):
        print(f"  {name:23} {statistics.median(row):5.2f} s")


if __name__ == "__main__":
    against_c()
    lanes()
    against_gymnax()
    flatness()
    start_up()
