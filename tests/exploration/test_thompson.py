"""Models drawn from the posterior: means and variances, and how often they are followed."""

import math
from dataclasses import replace

import numpy as np
import pytest
from surveys import situation

import aapi
from aapi.batch import simulator
from aapi.environments import ergodic, garnet, river_swim
from aapi.errors import InvalidInput
from aapi.evaluation import SelfConsistent
from aapi.exploration import ThompsonSampling
from aapi.exploration.survey import LOAN, Outlook, Survey
from aapi.exploration.thompson import _draw_rewards, _draw_transitions, _new_successors
from aapi.kernels.random import streams
from aapi.mdp import policy_values, solve
from aapi.memory.reward_moments import TrackRewards

DRAWS = 4000


def successors(counts):
    """Of each pair, how often each successor was seen, from the counts alone."""
    found, num_actions = {}, counts.visits.shape[2]
    for pair, after, number in zip(counts.pairs[0], counts.successors[0], counts.transition_counts[0], strict=True):
        if number:
            found.setdefault(divmod(int(pair), num_actions), {})[int(after)] = float(number)
    return found


def slow_alpha(counts):
    """α with harmonic numbers as they are."""
    found, chances = 0.5, 1.0
    for (x, a), after in successors(counts).items():
        number = int(counts.visits[0, x, a])
        found += len(after) - 1 if number > 1 else 0
        chances += sum(1.0 / n for n in range(1, number))
    return min(1.0, 3.0 * found / chances)


@pytest.mark.parametrize("mdp", [ergodic(6, 3), river_swim(6), garnet(15, 3, 4)], ids=["ergodic", "river", "garnet"])
@pytest.mark.parametrize("steps", [40, 3000])
def test_alpha_is_what_data_says_of_new_successors(mdp, steps):
    asked = situation(mdp, steps)
    model = asked.survey.greedy.model
    found = _new_successors(model.begins, model.states, asked.counts.visits[0])
    assert found == pytest.approx(slow_alpha(asked.counts), rel=0.03)


def test_transitions_have_dirichlet_distributions():
    asked = situation(river_swim(4), 60)
    model, counts, stream = asked.survey.greedy.model, asked.counts, streams(3, [0])[0]
    alpha, number = _new_successors(model.begins, model.states, counts.visits[0]), model.rewards.shape[1]
    drawn, others = [], []
    for _ in range(DRAWS):
        after, chances = model.after.copy(), model.chances.copy()
        _draw_transitions(model.begins, after, chances, model.states, model.restart, counts.visits[0], stream)
        drawn.append(chances)
        others.append(after)
    drawn, others = np.array(drawn), np.array(others)
    for (x, a), seen in successors(counts).items():
        first, last = model.begins[x * number + a], model.begins[x * number + a + 1] - 2
        shapes = np.array([seen[int(y)] for y in model.after[first:last]] + [alpha])
        found, total = drawn[:, first : last + 1] / (1.0 - model.restart), shapes.sum()
        assert found.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
        assert (drawn[:, last + 1] == model.restart).all()
        means = shapes / total
        variances = means * (1.0 - means) / (total + 1.0)
        assert found.mean(axis=0) == pytest.approx(means, abs=5.0 * math.sqrt(variances.max() / DRAWS))
        assert found.var(axis=0) == pytest.approx(variances, rel=0.2, abs=1e-5)
        assert (others[:, first:last] == model.after[first:last]).all()
        expected = np.zeros(4)
        for b in range(number):
            own = successors(counts).get((x, b), seen)
            for y, times in own.items():
                expected[y] += times / sum(own.values()) / number
        assert np.bincount(others[:, last], minlength=4) / DRAWS == pytest.approx(expected, abs=0.04)


def test_certain_rewards_stay_certain():
    asked = situation(river_swim(6), 300)
    model, stream = asked.survey.greedy.model, streams(3, [0])[0]
    before, deviations = stream.copy(), asked.memories[TrackRewards()].deviations[0]
    assert not deviations.any()
    paid = _draw_rewards(model.rewards, model.states, asked.counts.visits[0], deviations, stream)
    assert (paid == model.rewards).all()
    assert (stream == before).all()


def test_mean_rewards_are_normal():
    visits, rewards = np.array([[4.0, 9.0], [1.0, 0.0]]), np.array([[1.0, 2.0], [3.0, -1.0]])
    deviations = np.array([[6.0, 0.0], [0.0, 0.0]])
    stream = streams(3, [0])[0]
    drawn = np.array([_draw_rewards(rewards, np.array([0, 1]), visits, deviations, stream) for _ in range(DRAWS)])
    # All pairs have 6 over the 3 + 8 visits that were not the first, and so has state 0.
    variances = np.array([[(6.0 + 6.0 / 11.0) / 16.0, (6.0 / 11.0) / 81.0], [6.0 / 11.0, 0.0]])
    assert drawn.mean(axis=0) == pytest.approx(rewards, abs=5.0 * math.sqrt(variances.max() / DRAWS))
    assert drawn.var(axis=0) == pytest.approx(variances, rel=0.1)
    assert (drawn[:, 1, 1] == -1.0).all()  # it was never tried


def test_little_that_is_left_possible_is_nearly_optimal():
    mdp = ergodic(6, 2)
    out = ThompsonSampling()(situation(mdp, 20_000))
    assert policy_values(mdp, out.policies[0]).gain > 0.98 * solve(mdp).gain
    assert set(out.policies.ravel()) == {0.0, 1.0}
    assert out.compared
    assert not out.priced


def after(asked, phases, draws):
    """The same situation after phases and draws that lost so much a step, and earned so much less than the gain."""
    outlook = asked.survey.outlook
    for lost in phases:
        outlook = outlook.after_phase(np.full(1000, lost), np.full(1000, -lost), 10_000)
    for lost in draws:
        outlook = outlook.after_comparison(np.full(1000, lost), np.full(1000, -lost))
    return replace(asked, survey=Survey(asked.counts, outlook))


def test_it_stops_while_draws_lose_more_than_phases_do():
    asked = situation(river_swim(6), 10_000)
    unit = asked.survey.greedy.unit
    allowed = 10.0 * unit * math.sqrt(10_000 + LOAN)
    enough = math.ceil(allowed / (1000 * unit)) + 1
    assert ThompsonSampling()(after(asked, [0.0], [unit] * (enough - 2))) is not None
    assert ThompsonSampling()(after(asked, [0.0], [unit] * enough)) is None
    assert ThompsonSampling(budget=None)(after(asked, [0.0], [unit] * enough)) is not None
    assert ThompsonSampling()(after(asked, [unit], [unit] * enough)) is not None  # phases lose as much
    assert ThompsonSampling()(after(asked, [0.0], [unit] * enough + [-unit] * 3)) is not None  # they made up for it


def test_it_does_not_stop_where_there_is_nothing_to_lose_whatever_the_unit_of_rewards():
    asked = situation(river_swim(6), 10_000)
    greedy = asked.survey.greedy._replace(unit=1.0, free=True)
    for scale in (1.0, 2.0**40):
        lost = after(asked, [0.0], [scale] * 10)
        vars(lost.survey)["greedy"] = greedy
        assert ThompsonSampling()(lost) is not None


def test_phases_are_compared_with_by_what_they_did_of_late():
    outlook = Outlook.start(simulator(river_swim(6))([0]).space, 1)
    outlook = outlook.after_phase(np.full(100, 0.5), np.full(100, 2.0), 999)
    assert outlook.recent.tolist() == [[100.0, 50.0, -200.0]]
    outlook = outlook.after_phase(np.zeros(50), np.full(50, 4.0), 999)  # of a quarter of 1000 steps, a fifth is new
    assert outlook.recent == pytest.approx(np.array([[130.0, 40.0, -360.0]]))
    outlook = outlook.after_comparison(np.full(13, 1.0), np.full(13, 2.0))
    assert outlook.excess == pytest.approx(np.array([[13.0 - 4.0, -26.0 + 36.0]]))
    assert (outlook.after_comparison(np.zeros(1300), np.full(1300, 9.0)).excess == 0.0).all()


def test_bad_budgets_are_refused():
    with pytest.raises(InvalidInput, match="budget must be"):
        ThompsonSampling(budget=-1.0).check()


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
def test_the_share_is_respected(share):
    assert ThompsonSampling(share)(situation(river_swim(6), 200, explored=int(200 * share))) is None
    algorithm = aapi.AAPI(phase_length=60, evaluate=SelfConsistent(), exploration=(ThompsonSampling(share),))
    spent, last, time = 0, 0, 0
    for phase in aapi.play(algorithm, simulator(ergodic(6, 3), None, 2)([0]), 5000):
        if phase.exploring is not None:
            assert spent < share * min(time, math.sqrt(LOAN * time))
            last = phase.data.steps
            spent += last
            assert last <= 20 + math.sqrt(time)
        time = phase.data.time
    assert spent <= share * time + last
    assert spent >= 0.8 * share * time


def test_wrong_arguments_are_one_line():
    with pytest.raises(InvalidInput, match="share must be a finite number at least 0, not -1"):
        aapi.AAPI(exploration=(ThompsonSampling(-1.0),)).check()
