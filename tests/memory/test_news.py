"""News: which visits have shown anything new, and how likely the next one is to do so."""

import gymnasium
import numpy as np
import pytest
from experience import rollout, uniform

import aapi
from aapi.batch import simulator
from aapi.environments import ergodic, garnet, river_swim, six_arms
from aapi.errors import InvalidInput
from aapi.memory.news import HUB, TrackNews
from aapi.simulation import PhaseData


def filled(mdp, lengths=(1, 30, 200, 77), runs=(0, 1, 2), seed=5):
    """News of some phases, and what happened in them."""
    simulation = simulator(mdp, None, seed)(runs)
    news, phases = TrackNews().start(simulation.space, len(runs)), []
    for steps in lengths:
        phases.append(rollout(simulation, uniform(simulation), steps))
        news = news.add(phases[-1], None)
    return news, phases


def slow_chances(shape, states, actions, rewards):
    """The same numbers, one visit after the other, from what the documentation of `News` says."""
    seen, highest, visits, found, log = {states[0]}, -np.inf, {}, set(), []
    for x, a, reward, after in zip(states, actions, rewards, states[1:], strict=False):
        before = visits.get((x, a), 0)
        new = after not in seen or (before > 0 and reward > highest)
        if before:
            log.append((x, a, before.bit_length() - 1, (x, a) in found, new))
        if new:
            found.add((x, a))
        visits[x, a] = before + 1
        seen.add(after)
        highest = max(highest, reward)

    def tally(**wanted):
        keys = ("x", "a", "octave", "known")
        chosen = [entry for entry in log if all(entry[keys.index(key)] == value for key, value in wanted.items())]
        return len(chosen), sum(entry[4] for entry in chosen)

    def guess(octave, known):
        numbers = [(2**i + 1, *tally(octave=i, known=known)) for i in range(octave + 1)]
        worth = max(1.0, 100.0 / len(visits))  # what the guess counts for
        return min((worth + finds) / (worth * k + attempts) for k, attempts, finds in numbers)

    chances = np.ones(shape)
    for (x, a), number in visits.items():
        octave, known = number.bit_length() - 1, (x, a) in found
        (attempts, finds), k = tally(a=a, octave=octave, known=known), 2**octave + 1
        chances[x, a] = (finds + k * guess(octave, known)) / (attempts + k)
        attempts, finds = tally(x=x, known=False)
        if not known and finds >= HUB:
            chances[x, a] = max(chances[x, a], finds / (attempts + 1))
    return chances


@pytest.mark.parametrize(
    "mdp", [ergodic(6, 3), river_swim(6), garnet(40, 3, 9), six_arms()], ids=["ergodic", "river", "garnet", "six-arms"]
)
def test_chances_are_those_of_the_slow_way(mdp):
    news, phases = filled(mdp, runs=(1,))
    states = np.concatenate([*(data.states[0] for data in phases), phases[-1].last_state[:1]]).tolist()
    actions, rewards = (np.concatenate([getattr(data, name)[0] for data in phases]).tolist()
                        for name in ("actions", "rewards"))  # fmt: skip
    expected = slow_chances((mdp.num_states, mdp.num_actions), states, actions, rewards)
    assert news.chances() == pytest.approx(expected, rel=1e-12)
    assert (expected[news.visits[0] > 0] < 1.0).any()


def test_by_hand():
    # (0, 0) three times: stays, pays more than ever, finds state 1, which pays less and leads back.
    states, rewards = np.array([[0, 0, 0, 1]], dtype=np.int32), np.array([[1.0, 2.0, 2.0, 0.5]])
    actions = np.zeros((1, 4), dtype=np.int32)
    news = TrackNews().start(simulator(ergodic(3, 2))([0]).space, 1)
    news = news.add(PhaseData(states, actions, rewards, np.array([0]), rewards, np.array([4])), None)
    assert news.visits[0].tolist() == [[3, 0], [1, 0], [0, 0]]
    assert news.found[0].tolist() == [[True, False], [False, False], [False, False]]
    # After one visit: one attempt, a find; after two, when it had found something, one attempt, a find.
    assert news.attempts[0, 0, 0, :2].tolist() == news.finds[0, 0, 0, :2].tolist() == [1, 0]
    assert news.attempts[0, 1, 0, :2].tolist() == news.finds[0, 1, 0, :2].tolist() == [0, 1]
    # Two pairs were tried, so a guess counts for 50.
    known, unknown = min(50 / (50 * 2), (50 + 1) / (50 * 3 + 1)), (50 + 1) / (50 * 2 + 1)
    assert news.chances().tolist() == [[(1 + 3 * known) / (1 + 3), 1.0], [(1 + 2 * unknown) / (1 + 2), 1.0], [1.0, 1.0]]


def test_runs_do_not_notice_each_other():
    together, alone = filled(garnet(40, 3, 9))[0], filled(garnet(40, 3, 9), runs=(2,))[0]
    for name, array in vars(alone).items():
        assert (array[0] == vars(together)[name][2]).all()


def test_it_goes_on_where_it_was_stored():
    mdp = garnet(40, 3, 9)
    whole, phases = filled(mdp)
    space = simulator(mdp)([0]).space
    for stop in range(len(phases) + 1):
        half = TrackNews().start(space, 3)
        for data in phases[:stop]:
            half = half.add(data, None)
        again = TrackNews().start(space, 3).restored({name: array.copy() for name, array in vars(half).items()})
        for data in phases[stop:]:
            again = again.add(data, None)
        assert all((array == vars(whole)[name]).all() for name, array in vars(again).items())


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("visits", lambda a: a - 1000, "visits must not be negative"),
        ("visits", lambda a: a[:, :1], "visits must be int64 of shape"),
        ("visits", lambda a: a * 1.0, "visits must be int64 of shape"),
        ("found", lambda a: a.astype(float), "found must be bool of shape"),
        ("finds", lambda a: a - 1.0, "finds must lie between 0 and attempts"),
        ("finds", lambda a: a + 1000.0, "finds must lie between 0 and attempts"),
        ("attempts", lambda a: -a, "finds must lie between 0 and attempts"),
        ("attempts", lambda a: a * np.nan, "attempts holds a value that is not a finite number"),
        ("state_finds", lambda a: a + 1000.0, "state_finds must lie between 0 and state_attempts"),
        ("highest", lambda a: a * np.nan, "highest"),
    ],
)
def test_altered_news_are_refused(name, value, message):
    news, _ = filled(garnet(40, 3, 9))
    arrays = {each: array.copy() for each, array in vars(news).items()}
    arrays[name] = value(arrays[name])
    with pytest.raises(InvalidInput, match=message) as error:
        TrackNews().start(simulator(garnet(40, 3, 9))([0]).space, 3).restored(arrays)
    assert "\n" not in str(error.value)


def test_an_agent_is_saved_before_anything_is_known(tmp_path):
    for steps in (1, 20):
        agent = aapi.Agent(aapi.AAPI(), gymnasium.make("FrozenLake-v1"), seed=4).learn(steps)
        agent.save(tmp_path / "agent")
        assert aapi.load(tmp_path / "agent", env=gymnasium.make("FrozenLake-v1")).num_steps == steps


def test_other_steps_are_noticed():
    news, _ = filled(river_swim(6))
    news.check_steps(308)
    with pytest.raises(InvalidInput, match="are not those of 309 steps"):
        news.check_steps(309)
