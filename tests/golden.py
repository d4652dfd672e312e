"""Hashes of rewards, policies and Q̂ of every algorithm × evaluator × representation × exploration.

learners/test_golden.py compares them with those of golden.json, which hold on every machine. `python tests/golden.py`
says how they differ, and with `--record` writes them.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import sys
import tempfile
import warnings
from pathlib import Path

import gymnasium
import numpy as np

import aapi
from aapi.approximation import GridPolicy
from aapi.batch import simulator
from aapi.environments import Continuing, access_control, cartpole, deep_sea, ergodic, river_swim
from aapi.evaluation import (
    LSPE,
    LSTD,
    ExactQ,
    ImportanceMonteCarlo,
    MonteCarlo,
    PosteriorSampled,
    SelfConsistent,
)
from aapi.exploration import (
    Discovery,
    Expeditions,
    FewestVisits,
    PosteriorSampling,
    ThompsonSampling,
    UniformShare,
)
from aapi.features import Coordinates, FeatureMatrix, Fourier, OneHot, Radial, Tiles
from aapi.improvement import ExponentialAverage, Predicted, PreviousEstimate, Zero

FILE = Path(__file__).with_name("golden.json")
RUNS, SEED = 3, 11


def digest(*arrays) -> str:
    hashed = hashlib.sha256()
    for array in arrays:
        whole = np.ascontiguousarray(array)
        hashed.update(f"{whole.dtype}{whole.shape}".encode() + whole.tobytes())
    return hashed.hexdigest()[:16]


def policy_arrays(policy):
    """The arrays of a policy: tables, a grid, or weights."""
    if isinstance(policy, np.ndarray):
        return [policy]
    if isinstance(policy, GridPolicy):
        return [*policy.grid, policy.slots, policy.numbers, policy.q]
    return [policy.index, policy.constant, policy.differences]


def stages(algorithm, env, features, steps):
    """Every phase of a batch, or of one run of a learner whose runs fall out of step."""
    return aapi.play(algorithm, simulator(env, features, SEED)(range(RUNS if algorithm.lockstep else 1)), steps)


def hashes(algorithm, env, features, steps) -> list[str]:
    """Of the rewards, the policies, and the Q-functions of all phases."""
    rewards, policies, q_hats = [], [], []
    for phase in stages(algorithm, env, features, steps):
        rewards.append(phase.data.rewards)
        policies += policy_arrays(phase.policy) + policy_arrays(phase.next_policy)
        if phase.q_hat is not None:
            q_hats.append(phase.q_hat)
    return [digest(*rewards), digest(*policies), digest(*q_hats)]


def agent_hashes(algorithm, make, features, pieces) -> list[str]:
    """The same of an agent that learns in pieces, and is saved and loaded between them."""
    rewards, policies, q_hats = [], [], []

    def watch(progress):
        phase = progress.details
        rewards.append(phase.data.rewards)
        policies.extend(policy_arrays(phase.policy) + policy_arrays(phase.next_policy))
        if phase.q_hat is not None:
            q_hats.append(phase.q_hat)

    agent = aapi.Agent(algorithm, make(), features, seed=SEED)
    for steps in pieces:
        agent.learn(steps, callback=watch)
        with tempfile.TemporaryDirectory() as folder:
            agent.save(Path(folder) / "agent")
            own = {} if features is None or not callable(features) else {"features": features}
            agent = aapi.load(Path(folder) / "agent", env=make(), **own)
    return [digest(*rewards, agent.total_reward), digest(*policies), digest(*q_hats)]


def model_based(**more):
    """Learners that plan in a model, for one run. more: the range of rewards, where no model says it."""
    for rewards in ("known", "beta", "normal"):
        yield f"psrl {rewards}", aapi.PSRL(rewards=rewards, **more)
    yield "psrl wide", aapi.PSRL(prior=2.0, width=1.5, **more)
    yield "rmax", aapi.RMAX(known_after=3, **more)


def own_features(observation):
    return np.array([1.0, observation[0], observation[2], observation[2] * observation[3]])


class BoxQueue(gymnasium.Env):
    """Accept a customer, for what it offers, or not; each that waits costs 0.125 a step. Both are seen, as numbers."""

    observation_space = gymnasium.spaces.Box(0.0, 8.0, (2,), np.float64)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.seen = np.array([0.0, 1.0])
        return self.seen, {}

    def step(self, accept):
        waiting, offer = self.seen
        accepted = accept and waiting < 8.0
        served = waiting + accepted > 0.0 and self.np_random.random() < 0.375
        self.seen = np.array([waiting + accepted - served, self.np_random.integers(9) / 4 + self.np_random.random()])
        return self.seen, float(accepted * offer - 0.125 * self.seen[0]), False, False, {}


def algorithms(length, evaluate, *, exact_sums=True, **more):
    """The corners of Algorithm 1 with an evaluation. exact_sums: also the exact rate, where tables have one."""
    yield "aapi-sup", aapi.AAPI(phase_length=length, evaluate=evaluate, eta=0.3, **more)
    yield "aapi-span", aapi.AAPI(phase_length=length, evaluate=evaluate, eta=1.0, norm="span", **more)
    yield "politex", aapi.Politex(phase_length=length, evaluate=evaluate, eta=3.0, **more)
    yield "ftrl", aapi.AdaptiveFTRL(phase_length=length, evaluate=evaluate, eta=0.5, **more)
    yield "greedy", aapi.GreedyAPI(phase_length=length, evaluate=evaluate, **more)


def cases():
    """(name, function that gives its hashes)."""
    yield from batch_cases()
    yield from agent_cases()


def batch_cases():
    ring, sea, river, queue = ergodic(8, 3), deep_sea(5), river_swim(6), access_control(2)
    psi = np.random.default_rng(1).normal(size=(8, 4))
    tables = {
        "one-hot": (ring, OneHot(), 120),
        "coordinates": (sea, Coordinates(), 75),
        "matrix": (ring, FeatureMatrix(psi), 120),
    }
    evaluators = {
        "monte-carlo": MonteCarlo(horizon=6, ridge=0.3),
        "monte-carlo-centred": MonteCarlo(horizon=9, centre=True, ridge=1.0),
        "importance": ImportanceMonteCarlo(horizon=4, window=300, ridge=0.5),
        "lstd": LSTD(),
        "lstd-trace": LSTD(trace=0.5, ridge=0.4),
        "lstd-window": LSTD(reuse="window", window=200, trace=0.3),
        "lstd-phase": LSTD(reuse="phase"),
        "lspe": LSPE(trace=0.4, step=0.5, reuse="phase", ridge=1.0),
        "self-consistent": SelfConsistent(),
        "self-consistent-bonus": SelfConsistent(prior=0.1, bonus=0.5),
        "posterior": PosteriorSampled(),
        "exact": ExactQ(),
    }
    for (place, (env, features, length)), (judge, evaluate) in itertools.product(tables.items(), evaluators.items()):
        if (place, judge) in {("coordinates", "exact"), ("coordinates", "lspe")}:
            continue  # periodic: no single bias, and no fixed point
        for name, algorithm in algorithms(length, evaluate):
            yield f"{name} {judge} {place}", (hashes, algorithm, env, features, 6 * length + 17)
    explorations = {
        "discovery": (Discovery(),), "posterior": (PosteriorSampling(),), "fewest": (FewestVisits(),),
        "uniform": (UniformShare(),), "both": (Discovery(), PosteriorSampling()),
    }  # fmt: skip
    for (called, parts), (judge, evaluate) in itertools.product(
        explorations.items(), {k: evaluators[k] for k in ("self-consistent", "monte-carlo", "lstd")}.items()
    ):
        for name, algorithm in algorithms(80, evaluate, exploration=parts):
            yield f"{name} {judge} river {called}", (hashes, algorithm, river, None, 1300)
    news = {"expeditions": (Expeditions(),), "thompson": (ThompsonSampling(),),
            "expeditions+thompson": (Expeditions(), ThompsonSampling())}  # fmt: skip
    for called, parts in news.items():
        for name, algorithm in algorithms(80, SelfConsistent(reach=10.0), exploration=parts):
            yield f"{name} horizon river {called}", (hashes, algorithm, river, None, 1300)
    for guess in (PreviousEstimate(), Zero(), ExponentialAverage(), Predicted()):
        for judge in ("self-consistent", "lstd", "posterior"):
            algorithm = aapi.AAPI(phase_length=90, evaluate=evaluators[judge], side_information=guess, eta=1.0)
            yield f"aapi {type(guess).__name__} {judge}", (hashes, algorithm, ring, None, 1000)
    for sampled in (2, 5):
        algorithm = aapi.AAPI(phase_length=30, evaluate=evaluators["monte-carlo"], num_sampled=sampled, eta=1.0)
        yield f"aapi sampled {sampled}", (hashes, algorithm, ring, None, 3000)
    for schedule in ("sqrt", "horizon"):
        algorithm = aapi.Politex(phase_length=50, evaluate=evaluators["monte-carlo"], schedule=schedule)
        yield f"politex {schedule}", (hashes, algorithm, ring, None, 1000)
    for called, env, features in (
        ("ergodic", ring, None), ("river", river, None), ("queue", queue, None), ("sea", sea, None),
        ("sea one-hot", sea, OneHot()), ("sea 12", deep_sea(12), OneHot()),
    ):  # fmt: skip
        yield f"untuned {called}", (hashes, aapi.AAPI(), env, features, 4000)
        yield f"uniform {called}", (hashes, aapi.learners.Uniform(phase_length=300), env, features, 1000)
        yield f"oomd {called}", (hashes, aapi.OOMD(phase_length=40, window=5), env, features, 1000)
        for form in ("relative", "finite-horizon", "discounted"):
            algorithm = aapi.RLSVI(phase_length=100, horizon=12, form=form, ridge=0.3)
            yield f"rlsvi {form} {called}", (hashes, algorithm, env, features, 1000)
        for name, algorithm in optimists().items():
            yield f"{name} {called}", (hashes, algorithm, env, features, 2000)
        for kind, algorithm in model_based():
            yield f"{kind} {called}", (hashes, algorithm, env, features, 1000)
        yield f"imed-rl {called}", (hashes, aapi.IMEDRL(), env, features, 1000)
    for (name, learner), (called, env) in itertools.product(by_steps(), {"ergodic": ring, "river": river}.items()):
        yield f"{name} {called}", (hashes, learner, env, None, 3000)
    yield from vector_cases()


def by_steps():
    """Learners that learn at every step."""
    learners = aapi.learners
    yield "differential-q", learners.DifferentialQ()
    yield "differential-q decay", learners.DifferentialQ(step_size="0.5/n^0.7", epsilon="1/n^0.5", gain_rate=0.1)
    yield "differential-sarsa", learners.DifferentialSarsa()
    yield "centred-q", learners.CentredQ()
    yield "r-learning", learners.RLearning()
    yield "rvi-q", learners.RVIQ()
    yield "rvi-q mean", learners.RVIQ(reference="mean")
    yield "optimistic-q", learners.OptimisticQ(width=0.1)


def optimists(**more):
    """The learners that plan in the best model of a confidence set."""
    return {
        "ucrl2": aapi.UCRL2(width=0.1, **more),
        "ucrl2b": aapi.UCRL2B(width=0.01, **more),
        "kl-ucrl": aapi.KLUCRL(width=0.1, seen_only=False, total_steps=2000, **more),
        "scal": aapi.SCAL(width=0.003, span=9.0, **more),
    }


def vector_cases():
    cart = cartpole()
    features = {
        "fourier": Fourier(order=2), "tiles": Tiles(tiles=3, tilings=2), "radial": Radial(num_features=40),
    }  # fmt: skip
    judges = {
        "monte-carlo": MonteCarlo(horizon=20, ridge=10.0),
        "importance": ImportanceMonteCarlo(horizon=3, window=500, ridge=10.0),
        "lstd-window": LSTD(reuse="window", window=400, ridge=5.0),
        "lstd-phase": LSTD(reuse="phase", trace=0.3, ridge=5.0),
    }
    for (place, chosen), (judge, evaluate) in itertools.product(features.items(), judges.items()):
        for name, algorithm in algorithms(150, evaluate):
            yield f"{name} {judge} {place}", (hashes, algorithm, cart, chosen, 1100)
    for place, chosen in features.items():
        yield f"untuned {place}", (hashes, aapi.AAPI(), cart, chosen, 1500)
        yield f"uniform {place}", (hashes, aapi.learners.Uniform(phase_length=300), cart, chosen, 700)
        for form in ("relative", "finite-horizon", "discounted"):
            algorithm = aapi.RLSVI(phase_length=150, horizon=5, form=form, ridge=20.0, memory=250)
            yield f"rlsvi {form} {place}", (hashes, algorithm, cart, chosen, 700)
    algorithm = aapi.AAPI(phase_length=30, evaluate=MonteCarlo(horizon=5, ridge=10.0), num_sampled=3, eta=1.0)
    yield "aapi sampled 3 fourier", (hashes, algorithm, cart, features["fourier"], 1500)
    for place, learner in itertools.product(
        features, (aapi.learners.DifferentialQ(), aapi.learners.DifferentialSarsa())
    ):
        yield f"{learner!r} {place}", (hashes, learner, cart, features[place], 700)
    algorithm = aapi.Politex(phase_length=100, evaluate=judges["monte-carlo"], schedule="sqrt")
    yield "politex sqrt fourier", (hashes, algorithm, cart, features["fourier"], 700)


def agent_cases():
    def lake():
        return gymnasium.make("FrozenLake-v1")

    def cart():
        return Continuing(gymnasium.make("CartPole-v1"), ending="shortfall", limit=200)

    returns = MonteCarlo(horizon=20, ridge=10.0)
    pieces = (170, 333, 1, 700)
    for name, algorithm in algorithms(200, returns):
        yield f"agent {name} lake", (agent_hashes, algorithm, lake, None, pieces)
        yield f"agent {name} cart", (agent_hashes, algorithm, cart, Fourier(order=1), pieces)
    for judge in (SelfConsistent(), PosteriorSampled(), LSTD(), LSTD(reuse="window", window=300)):
        algorithm = aapi.AAPI(phase_length=200, evaluate=judge, exploration=(Discovery(), PosteriorSampling()), eta=1.0)
        yield f"agent aapi {type(judge).__name__} {judge.__dict__.get('reuse', '')} lake", (
            agent_hashes, algorithm, lake, None, pieces,
        )  # fmt: skip
    algorithm = aapi.AAPI(phase_length=100, evaluate=returns, exploration=(Expeditions(), ThompsonSampling()))
    yield "agent expeditions+thompson lake", (agent_hashes, algorithm, lake, None, pieces)
    yield "agent untuned lake", (agent_hashes, aapi.AAPI(), lake, None, pieces)
    yield "agent untuned cart", (agent_hashes, aapi.AAPI(), cart, Fourier(order=1), pieces)
    yield "agent untuned box-queue", (agent_hashes, aapi.AAPI(), BoxQueue, None, pieces)
    yield "agent untuned mountain-car", (
        agent_hashes, aapi.AAPI(), lambda: gymnasium.make("MountainCar-v0"), None, pieces,
    )  # fmt: skip
    yield "agent tiles cart", (
        agent_hashes, aapi.AAPI(phase_length=150, evaluate=returns, eta=1.0), cart, Tiles(tiles=3, tilings=2), pieces,
    )  # fmt: skip
    yield "agent own features cart", (
        agent_hashes, aapi.AAPI(phase_length=150, evaluate=returns, eta=1.0), cart, own_features, pieces,
    )  # fmt: skip
    rlsvi = aapi.RLSVI(phase_length=150, horizon=5, ridge=5.0, memory=250)
    for name, algorithm in optimists(reward_low=0.0, reward_high=1.0).items():
        yield f"agent {name} lake", (agent_hashes, algorithm, lake, None, pieces)
    yield "agent rlsvi lake", (agent_hashes, rlsvi, lake, None, pieces)
    told = {"reward_low": 0.0, "reward_high": 1.0}
    for kind, algorithm in (*model_based(**told), ("imed-rl", aapi.IMEDRL(**told))):
        yield f"agent {kind} lake", (agent_hashes, algorithm, lake, None, pieces)
    yield "agent oomd lake", (agent_hashes, aapi.OOMD(phase_length=60, window=5), lake, None, pieces)
    yield "agent rlsvi cart", (agent_hashes, rlsvi, cart, Fourier(order=1), pieces)


def measure(task) -> list[str]:
    """The hashes of a case; of one that is refused, the name of the error."""
    function, *arguments = task
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*arguments)
        except aapi.errors.AapiError as error:
            return [type(error).__name__] * 3


def known() -> dict[str, list[str]]:
    """The hashes that were recorded."""
    return json.loads(FILE.read_text())


def differences(found: dict[str, list[str]], before: dict[str, list[str]]) -> dict[str, list[str]]:
    """What differs of which case."""
    parts = ("rewards", "policies", "q_hats")
    return {
        name: [part for part, one, other in zip(parts, hashed, before.get(name, [""] * 3), strict=True) if one != other]
        for name, hashed in found.items()
        if hashed != before.get(name)
    }


def main() -> None:
    found, before = {name: measure(task) for name, task in cases()}, known()
    if "--record" in sys.argv:
        FILE.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")
    changed = differences(found, before)
    lines = [f"{len(found)} cases, {len(changed)} differ", *(f"   {name} {parts}" for name, parts in changed.items())]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
