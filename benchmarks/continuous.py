"""CartPole and Gymnasium: action selection against C, learning against mere stepping, flatness. Run by `make bench`."""
# ruff: noqa: E402 - the number of threads is read when numpy is imported

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # one thread on either side

import ctypes
import itertools
import statistics
import time
import tracemalloc
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from learning import compiled, in_turn, median_ratio

import aapi
from aapi.batch import simulator
from aapi.environments import cartpole
from aapi.environments.copies import continuing
from aapi.evaluation import MonteCarlo
from aapi.features import Fourier, OneHot
from aapi.simulation import Stretch

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from aapi.approximation import LinearPolicy
    from aapi.features.basis import Basis
    from aapi.simulation import Simulation

NUM_SAMPLED = 30


def paper_algorithm() -> aapi.Learner[Any]:
    """AAPI as the paper runs it on CartPole: τ = 2000, H = 100, ridge 1, η = 0.1, 30 sampled differences."""
    evaluate = MonteCarlo(100, ridge=1.0)
    return aapi.AAPI(phase_length=2000, evaluate=evaluate, eta=0.1, num_sampled=NUM_SAMPLED)


def simulation_of(order: int, num_steps: int) -> Simulation:
    """One run of the compiled CartPole."""
    return simulator(cartpole(), Fourier(order=order), 0, np.array([num_steps]))([0])


class Policy(ctypes.Structure):
    """A policy with Fourier features, as cartpole.c declares it."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("dimension", "order", "num_features", "num_actions", "width")),
        *((name, ctypes.c_void_p) for name in ("low", "range", "index", "differences")),
    ]


def compile_reference() -> Any:
    """The C reference's `act`."""
    return compiled("cartpole.c", "act", ctypes.POINTER(Policy), ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


def probabilities_in_c(
    act: Any, basis: Basis, policy: LinearPolicy, observations: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What LinearPolicy.probabilities returns, by C; the weights are the library's own arrays."""
    runs, num_actions, num_features = policy.index.shape
    assert (runs, policy.constant[0], policy.span) == (1, 0.0, False)
    sizes = (basis.dimension, basis.order, num_features, num_actions, policy.differences.shape[2])
    arrays = (basis.low, basis.width, policy.index, policy.differences)
    given = Policy(*sizes, *(array.ctypes.data for array in arrays))
    probabilities = np.empty((*observations.shape[:2], num_actions))
    assert act(given, observations.shape[1], observations.ctypes.data, probabilities.ctypes.data) == 0
    return probabilities


def against_c(repeats: int = 15) -> None:
    """The probabilities of a policy that was learnt on CartPole, where it goes; and its rollout, which knows less."""
    act, count, num_phases = compile_reference(), 20_000, 40
    algorithm, simulation = paper_algorithm(), simulation_of(4, 10**9)
    for phase in aapi.play(algorithm, simulation, num_phases * 2000):
        policy = phase.next_policy
    basis = simulation.space.basis
    assert policy.differences.shape[2] >= 2 * NUM_SAMPLED
    stretch = Stretch(1, simulation.time, count, policy)
    observations = simulation.rollout(stretch, count).states

    def ours() -> NDArray[np.float64]:
        return policy.probabilities(basis, observations)

    def theirs() -> NDArray[np.float64]:
        return probabilities_in_c(act, basis, policy, observations)

    found = ours()
    assert np.allclose(found, theirs(), rtol=1e-9)
    assert 0.0 < found.min() < found.max() < 1.0  # a temperature that matters
    times = in_turn(repeats, ours, theirs, lambda: simulation.rollout(stretch, count))
    print(
        f"CartPole, {basis.num_features} Fourier features, {NUM_SAMPLED} differences × 2 actions, {count:,} steps, ",
        end="",
    )
    print(f"1 thread, median of {repeats}; probabilities equal to C's up to 1e-9")
    names = ("aapi, probabilities", "C, probabilities", "aapi, rollout: features, draws and dynamics")
    for name, row in zip(names, times, strict=True):
        print(f"  {name:43} {1e6 * statistics.median(row) / count:5.2f} µs per step")
    print(f"  time ratio aapi / C: {median_ratio(times[0], times[1]):.2f}")


def bare_stepping(name: str, num_steps: int) -> Callable[[], object]:
    """Gymnasium steps, with actions drawn beforehand, and resets where an episode ends."""
    env = gymnasium.make(name)
    actions = np.random.default_rng(0).integers(env.action_space.n, size=num_steps).tolist()

    def steps() -> None:
        env.reset(seed=0)
        step, reset = env.step, env.reset
        for action in actions:
            _, _, terminated, truncated, _ = step(action)
            if terminated or truncated:
                reset()

    return steps


def learning_against_stepping(repeats: int = 5) -> None:
    """The compiled CartPole learnt with order 4, and Gymnasium's CartPole merely stepped."""
    ours_steps, theirs_steps = 200_000, 50_000
    algorithm = paper_algorithm()

    def learning() -> object:
        return aapi.run(algorithm, cartpole(), ours_steps, features=Fourier(order=4))

    times = in_turn(repeats, learning, bare_stepping("CartPole-v1", theirs_steps))
    rates = [[steps / t for t in row] for steps, row in zip((ours_steps, theirs_steps), times, strict=True)]
    print(f"CartPole, Fourier order 4, τ = 2000, H = 100, 1 run of {ours_steps:,} steps, ", end="")
    print(f"1 thread, median of {repeats}")
    for name, row in zip(("aapi learns", "Gymnasium steps at random"), rates, strict=True):
        rate = statistics.median(row)
        print(f"  {name:25} {1e-3 * rate:6.1f} thousand steps/s, {1e6 / rate:5.2f} µs per step")
    print(f"  aapi learns {median_ratio(*rates):.2f} × as fast as Gymnasium steps")


def agent_against_stepping(repeats: int = 5) -> None:
    """Learning in environments that are Python: what the agent adds to their own time."""
    num_steps = 20_000
    taxi = "Taxi-v4" if "Taxi-v4" in gymnasium.registry else "Taxi-v3"
    cases = (("FrozenLake-v1", OneHot()), (taxi, OneHot()), ("CartPole-v1", Fourier(order=2)))
    print(f"Agent.learn in Gymnasium's environments, τ = 2000, H = 100, {num_steps:,} steps, median of {repeats}")
    for name, features in cases:
        env = gymnasium.make(name)
        algorithm = aapi.AAPI(phase_length=2000, evaluate=MonteCarlo(horizon=100))

        def learning(algorithm: Any = algorithm, env: Any = env, features: Any = features) -> object:
            return aapi.Agent(algorithm, env, features).learn(num_steps)

        times = in_turn(repeats, learning, bare_stepping(name, num_steps))
        learn, bare = (1e6 * statistics.median(row) / num_steps for row in times)
        kind = f"Fourier({features.order})" if isinstance(features, Fourier) else "one-hot"
        print(f"  {name:13} {kind:10} learn {learn:5.2f} µs per step, bare steps {bare:5.2f} µs: ", end="")
        print(f"time ratio {median_ratio(*times):.2f}")


def copies_against_stepping(copies: int = 8, repeats: int = 5) -> None:
    """Learning in copies of an environment at once: what the agent adds to the time of a vector environment."""
    num_steps = 20_000
    cases = (("FrozenLake-v1", OneHot()), ("CartPole-v1", Fourier(order=2)))
    print(f"Agent.learn in {copies} copies, τ = 2000, H = 100, {num_steps:,} steps in all, median of {repeats}")
    for (name, features), mode in itertools.product(cases, ("sync", "async")):
        algorithm = aapi.AAPI(phase_length=2000, evaluate=MonteCarlo(horizon=100))
        learnt_in = gymnasium.make_vec(name, copies, vectorization_mode=mode, wrappers=[continuing])
        stepped = gymnasium.make_vec(name, copies, vectorization_mode=mode)
        actions = np.random.default_rng(0).integers(stepped.single_action_space.n, size=(num_steps // copies, copies))

        def learning(algorithm: Any = algorithm, env: Any = learnt_in, features: Any = features) -> object:
            return aapi.Agent(algorithm, env, features).learn(num_steps)

        def stepping(env: Any = stepped, actions: Any = actions) -> None:
            env.reset(seed=0)
            for row in actions:
                env.step(row)

        times = in_turn(repeats, learning, stepping)
        learn, bare = (1e6 * statistics.median(row) / num_steps for row in times)
        kind = f"Fourier({features.order})" if isinstance(features, Fourier) else "one-hot"
        print(f"  {name:13} {kind:10} {mode:5} learn {learn:6.2f} µs per step, bare steps {bare:6.2f} µs: ", end="")
        print(f"time ratio {median_ratio(*times):.2f}")
        learnt_in.close()
        stepped.close()


class Slow(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A step takes a millisecond, during which the processor may do something else, as with a robot or a server."""

    def step(self, action: Any) -> Any:
        """A step, after a while."""
        time.sleep(1e-3)
        return self.env.step(action)


def copies_of_a_slow_environment(copies: int = 8, num_steps: int = 4000) -> None:
    """What copies buy: the time of slow environments, side by side; not what is learnt from as many steps."""
    rates = []
    aapi.Agent(aapi.AAPI(), gymnasium.make("FrozenLake-v1")).learn(num_steps)  # compiles what is not compiled yet
    for processes in (False, True):
        make = [lambda: continuing(Slow(gymnasium.make("FrozenLake-v1")))] * (copies if processes else 1)
        env = (gymnasium.vector.AsyncVectorEnv if processes else gymnasium.vector.SyncVectorEnv)(make)
        agent = aapi.Agent(aapi.AAPI(), env).learn(8)
        start = time.perf_counter()
        agent.learn(num_steps)
        rates.append(num_steps / (time.perf_counter() - start))
        env.close()
    print(
        f"FrozenLake-v1 with steps of 1 ms: one {rates[0]:,.0f} steps a second, {copies} copies in processes ", end=""
    )
    print(f"{rates[1]:,.0f}, {rates[1] / rates[0]:.1f} times as many")


def learning_from_copies(num_steps: int = 50_000, seeds: int = 10) -> None:
    """Average rewards of all steps, by the number of copies that they are divided among."""
    for name, features in (("FrozenLake-v1", None), ("CartPole-v1", Fourier(order=3))):
        found = []
        for copies in (1, 8, 32):
            rewards = []
            for seed in range(seeds):
                env = gymnasium.make_vec(name, copies, vectorization_mode="sync")
                rewards.append(aapi.Agent(aapi.AAPI(), env, features, seed).learn(num_steps).total_reward / num_steps)
            error = statistics.stdev(rewards) / seeds**0.5
            found.append(f"{copies}: {statistics.mean(rewards):.4f} ± {error:.4f}")
        print(f"AAPI() on {name}, {num_steps:,} steps, average reward by copies, {seeds} seeds: {', '.join(found)}")


def flatness() -> None:
    """Few features and short phases, where any cost that grows with the number of phases would show."""
    near, far, window, length = 50, 1000, 100, 200
    algorithm = aapi.AAPI(phase_length=length, evaluate=MonteCarlo(100, ridge=1.0), eta=0.1, num_sampled=NUM_SAMPLED)

    def phases() -> Any:
        # As many phases in either, for the room that is made at the start.
        num_steps = length * (far + window)
        return aapi.play(algorithm, simulation_of(1, num_steps), num_steps)

    early, late = phases(), phases()
    for generator, ahead in ((early, near), (late, far)):
        for _ in range(ahead):
            next(generator)
    times = in_turn(window - 1, lambda: next(early), lambda: next(late))
    held = {}
    tracemalloc.start()
    for phase in phases():
        if phase.number in (near, far):
            held[phase.number] = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    print(f"CartPole, Fourier order 1, τ = {length}, 1 run, around phase")
    for number, row in zip((near, far), times, strict=True):
        cost = 1e6 * statistics.median(row)
        print(f"  {number:5,}  {cost:6.1f} µs per phase, {held[number] / 1024:6.1f} KiB held")


if __name__ == "__main__":
    against_c()
    learning_against_stepping()
    agent_against_stepping()
    copies_against_stepping()
    copies_of_a_slow_environment()
    learning_from_copies()
    flatness()
