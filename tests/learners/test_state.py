"""States of learners are values: copied they share nothing, stored and restored they are what they were."""

import dataclasses
import itertools

import numpy as np
import pytest

import aapi
from aapi.approximation import QSpace
from aapi.batch import simulator
from aapi.environments import cartpole, ergodic
from aapi.errors import InvalidInput
from aapi.evaluation import LSPE, LSTD, ImportanceMonteCarlo, MonteCarlo, PosteriorSampled, SelfConsistent
from aapi.exploration import Discovery, PosteriorSampling, UniformShare
from aapi.features import Fourier, OneHot
from aapi.improvement import ExponentialAverage, Predicted
from aapi.learners import Session, Uniform
from aapi.learners.state import copied, restored, stored

RETURNS = MonteCarlo(horizon=5)
ON_TABLES = {
    "aapi": aapi.AAPI(phase_length=30, evaluate=RETURNS),
    "sampled": aapi.AAPI(phase_length=30, evaluate=RETURNS, num_sampled=1),  # a reservoir of 10, which is soon full
    "politex": aapi.Politex(phase_length=30, evaluate=RETURNS),
    "ftrl": aapi.AdaptiveFTRL(phase_length=30, evaluate=RETURNS),
    "greedy": aapi.GreedyAPI(phase_length=30, evaluate=RETURNS),
    "counts": aapi.AAPI(phase_length=30, evaluate=SelfConsistent(), side_information=Predicted()),
    "posterior": aapi.AAPI(phase_length=30, evaluate=PosteriorSampled(), side_information=ExponentialAverage()),
    "traces": aapi.AAPI(phase_length=30, evaluate=LSTD(trace=0.5)),
    "no trace": aapi.AAPI(phase_length=30, evaluate=LSTD()),
    "window": aapi.AAPI(phase_length=30, evaluate=LSTD(reuse="window", window=50)),
    "lspe": aapi.AAPI(phase_length=30, evaluate=LSPE(trace=0.4, step=0.5, reuse="phase", ridge=1.0)),
    "importance": aapi.AAPI(phase_length=30, evaluate=ImportanceMonteCarlo(horizon=3, window=70)),
    "without tuning": aapi.AAPI(exploration=(Discovery(), PosteriorSampling())),
    "exploring": aapi.Politex(phase_length=30, evaluate=LSTD(), exploration=(UniformShare(), PosteriorSampling())),
    "rlsvi": aapi.RLSVI(phase_length=30, horizon=4),
    "rlsvi, exploring": aapi.Exploring(aapi.RLSVI(phase_length=30, horizon=4), (Discovery(),)),
    "uniform": Uniform(phase_length=30),
    "uniform, exploring": aapi.Exploring(Uniform(phase_length=30), (Discovery(),)),
}
ON_WEIGHTS = {
    "aapi": ON_TABLES["aapi"],
    "sampled": ON_TABLES["sampled"],
    "politex": ON_TABLES["politex"],
    "window": ON_TABLES["window"],
    "importance": ON_TABLES["importance"],
    "without tuning": aapi.AAPI(phase_length=100, exploration=(Discovery(),)),
    "rlsvi": aapi.RLSVI(phase_length=30, horizon=4, memory=50),
    "uniform": ON_TABLES["uniform"],
}
ALONE = {  # of one run
    "patient": aapi.Politex(phase_length=30, evaluate=RETURNS, exploration=(Discovery(patience=40),)),
    "without tuning": aapi.AAPI(),
    "psrl": aapi.PSRL(),
    "psrl, normal rewards": aapi.PSRL(rewards="normal"),
    "rmax": aapi.RMAX(known_after=4),
}
CASES = {
    **{f"{name} on tables": (learner, ergodic(4, 3), OneHot(), 3) for name, learner in ON_TABLES.items()},
    **{f"{name} on weights": (learner, cartpole(), Fourier(1), 2) for name, learner in ON_WEIGHTS.items()},
    **{f"{name}, one run": (learner, ergodic(4, 3), OneHot(), 1) for name, learner in ALONE.items()},
}
every = pytest.mark.parametrize("case", CASES)


OPTIONAL = {"excursion_policies", "excursion_steps", "excursion_limits"}  # an exploration may do without


def sessions(case):
    """After twelve stretches, and after thirteen: where there are explorations, in one and after one."""
    learner, env, features, runs = CASES[case]
    for stretches in (12, 13):
        session = Session(learner, simulator(env, features, 5)(range(runs)))
        assert len(list(itertools.islice(session.play(10**6), stretches))) == stretches
        yield session


def next_data(session):
    """What happens next, with random streams of its own."""
    stretch = session.learner.act(session.state)
    data = session.simulation.rollout(stretch, stretch.steps)
    assert data.complete
    return lambda: dataclasses.replace(data, streams=data.streams.copy())


def arrays_in(value, path="state"):
    """All arrays in a state, by where they are; not those of a space, which belongs to the simulation."""
    if isinstance(value, np.ndarray):
        yield path, value
    elif isinstance(value, dict):
        for number, part in enumerate(value.values()):
            yield from arrays_in(part, f"{path}[{number}]")
    elif dataclasses.is_dataclass(value) and not isinstance(value, QSpace):
        for name, part in vars(value).items():
            yield from arrays_in(part, f"{path}.{name}")


def bits(state):
    return {path: (array.dtype, array.shape, array.tobytes()) for path, array in arrays_in(state)}


def fingerprint(state):
    """What is stored of a state, to the bit."""
    return {name: (array.dtype, array.shape, array.tobytes()) for name, array in stored(state).items()}


@every
def test_a_copy_shares_no_memory(case):
    for session in sessions(case):
        state = session.state
        twin = copied(state)
        assert type(twin) is type(state)
        assert bits(twin) == bits(state)
        mine, others = list(arrays_in(state)), list(arrays_in(twin))
        shared = [(a, b) for a, one in mine for b, other in others if np.shares_memory(one, other)]
        assert shared == []


@every
def test_a_copy_may_be_updated_and_the_state_kept(case):
    for session in sessions(case):
        state, data = session.state, next_data(session)
        before = bits(state)
        first, phase = session.learner.update(copied(state), data())
        assert bits(state) == before
        again, same = session.learner.update(state, data())
        assert fingerprint(again) == fingerprint(first)
        assert bits(again.memories) == bits(first.memories)
        assert bits(same.next_policy) == bits(phase.next_policy)


@every
def test_what_was_stored_is_restored(case):
    for session in sessions(case):
        learner, state = session.learner, session.state
        arrays = {name: array.copy() for name, array in stored(state).items()}
        assert len(arrays) == len(stored(state))
        back = restored(learner.init(session.simulation.space, len(session.simulation.streams)), arrays)
        assert type(back) is type(state)
        assert fingerprint(back) == fingerprint(state)
        assert not any(np.shares_memory(a, b) for _, a in arrays_in(back) for b in arrays.values())
        one, other = learner.act(state), learner.act(back)
        assert (one.number, one.start, one.steps) == (other.number, other.start, other.steps)
        assert bits(one.acting) == bits(other.acting)
        data = next_data(session)
        (one, phase), (other, same) = learner.update(state, data()), learner.update(back, data())
        assert fingerprint(one) == fingerprint(other)
        assert bits(phase.next_policy) == bits(same.next_policy)
        assert (phase.number, phase.weight) == (same.number, same.weight)


def spoilt(array):
    """An array in forms that it must not have."""
    yield "nothing", None
    yield "an axis more", array[None]
    yield "another type", array.astype(np.float32 if array.dtype.kind == "f" else np.float64)
    if array.ndim and len(array):
        yield "a run more", np.concatenate([array, array[:1]])
        yield "an axis less", array[0]
    if array.dtype.kind == "f" and array.size:
        for value in (np.nan, np.inf):
            wrong = np.array(array)
            wrong.ravel()[-1:] = value
            yield str(value), wrong.reshape(array.shape)


def refusal(new, arrays):
    """What is said where they do not fit; nothing if they do."""
    try:
        restored(new, arrays)
    except InvalidInput as error:
        return str(error)
    return ""


@every
def test_what_does_not_fit_is_refused_in_one_line(case):
    for session in sessions(case):
        arrays = stored(session.state)
        new = session.learner.init(session.simulation.space, len(session.simulation.streams))
        for name, array in arrays.items():
            for how, wrong in spoilt(array):
                changed = {key: value for key, value in (arrays | {name: wrong}).items() if value is not None}
                if wrong is None and name in OPTIONAL:
                    continue
                assert len(refusal(new, changed).splitlines()) == 1, f"{name}, {how}"


def test_numbers_and_nested_states_have_their_names():
    _, env, features, _ = CASES["exploring on tables"]
    session = Session(CASES["exploring on tables"][0], simulator(env, features, 5)(range(3)), copy_states=True)
    for _ in session.play(30):
        pass
    names = stored(session.state)
    assert {"start", "explored", "inner_k", "inner_start", "inner_total", "inner_surprise_root_sum"} <= names.keys()
    assert {"excursion_runs", "excursion_policies", "inner_memories_0_visits", "inner_memories_1_steps"} <= names.keys()
    assert names["inner_k"] == 1
    assert names["start"] == 30
    assert names["explored"].tolist() == [0, 0, 0]


def test_explorations_of_every_kind_are_among_the_cases():
    found = [stored(session.state).keys() for case in CASES for session in sessions(case)]
    assert any("excursion_policies" in names and "excursion_limits" not in names for names in found)
    assert any({"excursion_policies", "excursion_limits", "excursion_steps"} <= names for names in found)
    assert any("excursion_policies" not in names and "explored" in names for names in found)


@dataclasses.dataclass(frozen=True)
class Numbers:
    """What a state may hold beside arrays."""

    truth: bool
    whole: int
    real: float
    whole_of_numpy: np.int64
    real_of_numpy: np.float32


def test_numbers_of_numpy_are_numbers():
    state = Numbers(True, 3, 0.5, np.int64(4), np.float32(0.25))
    back = restored(Numbers(False, 0, 0.0, np.int64(0), np.float32(0.0)), stored(state))
    assert back == state
    assert [type(value) for value in vars(back).values()] == [type(value) for value in vars(state).values()]
