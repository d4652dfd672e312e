"""Expeditions: where news is to be had at the least cost, and within what budget."""

import math

import numpy as np
import pytest
import scipy.optimize
from surveys import situation

import aapi
from aapi.batch import simulator
from aapi.environments import deep_sea, ergodic, garnet, river_swim, six_arms
from aapi.errors import InvalidInput
from aapi.evaluation import SelfConsistent
from aapi.exploration import Expeditions
from aapi.exploration.expeditions import ROOM, _seek
from aapi.exploration.survey import LOAN
from aapi.learners import Session
from aapi.mdp import FiniteMDP, policy_values, solve
from aapi.memory.news import TrackNews

PROBLEMS = {"ergodic": ergodic(6, 3), "river": river_swim(8), "garnet": garnet(40, 3, 5), "arms": six_arms()}


def believed(model):
    """The average model as a problem of the states seen."""
    places = {x: i for i, x in enumerate(model.states.tolist())}
    num_actions = model.rewards.shape[1]
    transitions = np.zeros((len(places), num_actions, len(places)))
    for x, i in places.items():
        for a in range(num_actions):
            pair = x * num_actions + a
            for e in range(model.begins[pair], model.begins[pair + 1]):
                transitions[i, a, places[int(model.after[e])]] += model.chances[e]
    return FiniteMDP(transitions, model.rewards[model.states])


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_greedy_plan_is_that_of_exact_theory(name):
    survey = situation(PROBLEMS[name], 400).survey
    greedy = survey.greedy
    mdp, states = believed(greedy.model), greedy.model.states
    best, spread = solve(mdp), np.ptp(greedy.model.rewards[states])
    at_random = policy_values(mdp, np.full(mdp.rewards.shape, 1.0 / mdp.num_actions)).gain
    assert survey.outlook.gain[0] == pytest.approx(best.gain, abs=2e-3 * spread)
    visits, q_values = survey.counts.visits[0][states], best.values.q_values
    once = (q_values.max(axis=1, keepdims=True) - q_values).mean(axis=1)  # what one step at random loses
    expected = min(best.gain - at_random, (visits.sum(axis=1) * once).sum() / visits.sum())
    assert greedy.unit == pytest.approx(expected, abs=1e-2 * spread)
    assert not greedy.free
    follow = np.eye(mdp.num_actions)[greedy.policy[states]]
    assert policy_values(mdp, follow).gain == pytest.approx(best.gain, abs=2e-3 * spread)
    assert (greedy.gaps >= 0.0).all()
    assert survey.outlook.work[0] > 0.0


def cheapest(model, news, gaps, unit, most):
    """U by linear programming: the largest one that no action improves, and none above `most`."""
    places = {x: i for i, x in enumerate(model.states.tolist())}
    rows, bounds, num_actions = [], [], gaps.shape[1]
    for x, i in places.items():
        for a in range(num_actions):
            row, pair = np.zeros(len(places)), x * num_actions + a
            row[i] += 1.0
            if news[x, a] < 1.0:
                for e in range(model.begins[pair], model.begins[pair + 1] - 1):
                    row[places[int(model.after[e])]] -= (1.0 - news[x, a]) * model.chances[e] / (1.0 - model.restart)
            rows.append(row)
            bounds.append(gaps[x, a] + unit)
    found = scipy.optimize.linprog(-np.ones(len(places)), np.array(rows), bounds, bounds=(0.0, most))
    assert found.status == 0
    return found.x


@pytest.mark.parametrize("most", [2.0, 30.0, 1e3])
@pytest.mark.parametrize("name", PROBLEMS)
def test_costs_are_those_of_a_linear_program(name, most):
    asked = situation(PROBLEMS[name], 400)
    model, policy, gaps, unit, _ = asked.survey.greedy
    news, most = asked.memories[TrackNews()].chances(), most * unit
    costs, towards = np.full(len(gaps), most), policy.copy()
    work = _seek(*model[:3], model.states, model.restart, news, gaps, unit, most, costs, towards)
    expected = cheapest(model, news, gaps, unit, most)
    assert costs[model.states] == pytest.approx(expected, rel=0.03, abs=0.02 * unit)
    assert (costs[model.states] >= expected - 1e-6 * most).all()  # they are lowered from above
    assert (expected[(news[model.states] == 1.0).any(axis=1)] < most).any() or not (news == 1.0).any()
    assert work >= len(model.after)


def test_the_cheapest_news_is_gone_for():
    # A row of six states: going on (1) has been tried up to the state 3, where nothing is known of it.
    asked = situation(deep_sea(6), 12, seed=3)
    out = Expeditions()(asked)
    counts = asked.counts
    tried = counts.visits[0] > 0
    for x in np.flatnonzero(counts.seen[0]):
        chosen = out.policies[0, x] > 0.0
        if (~tried[x]).any():
            assert (chosen == ~tried[x]).all()  # all that was never tried, and at random
        else:
            assert chosen.sum() == 1
        assert out.policies[0, x].sum() == pytest.approx(1.0)
    assert (out.policies[0, ~counts.seen[0]] == 0.5).all()
    assert (out.limits[0, ~counts.seen[0]] == 1).all()
    assert (out.limits[0][tried] <= counts.visits[0][tried]).all()
    assert out.priced
    assert out.runs.tolist() == [True]


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("part", [Expeditions(budget=0.0), Expeditions(reach=0.0)], ids=["budget", "reach"])
def test_nobody_sets_out_without_a_budget(part, name):
    for steps in (50, 400):
        asked = situation(PROBLEMS[name], steps)
        assert asked.survey.greedy.free or part(asked) is None


@pytest.mark.parametrize("reward", [0.0, 0.1, -7.0])
def test_expeditions_are_free_while_all_rewards_are_equal(reward):
    mdp = river_swim(8)
    asked = situation(FiniteMDP(mdp.transitions, np.full((8, 2), reward)), 200)
    assert asked.survey.greedy.free
    assert asked.survey.greedy.unit == 1.0
    assert Expeditions(budget=0.0, reach=0.0)(asked) is not None


def test_nobody_sets_out_where_plans_have_been_too_much_work():
    asked = situation(river_swim(8), 200)
    assert asked.survey.affordable
    asked.survey.spend(1e13)
    assert not asked.survey.affordable
    assert Expeditions()(asked) is None


class Watched(Expeditions):
    """Notes what is lost and what there is to lose whenever it is asked."""

    def __call__(self, situation):
        out, greedy = super().__call__(situation), situation.survey.greedy
        pairs = len(greedy.model.states) * greedy.gaps.shape[1] + ROOM
        budget = self.budget * greedy.unit * math.sqrt(pairs * (situation.counts.steps + LOAN))
        self.noted.append((float(situation.survey.outlook.lost[0]), budget, out is not None, greedy.free))
        return out


def learner(part):
    return aapi.AAPI(phase_length=60, evaluate=SelfConsistent(), exploration=(part,))


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("budget", [0.01, 0.05])
def test_what_is_lost_stays_below_the_budget_but_for_one_expedition(name, budget):
    part, noted = Watched(budget=budget), []
    object.__setattr__(part, "noted", noted)
    mdp = PROBLEMS[name]
    assert sum(1 for _ in aapi.play(learner(part), simulator(mdp, None, 2)([0]), 6000)) > 50
    priced = [(lost, allowed) for lost, allowed, out, free in noted if out and not free]
    assert priced
    assert all(lost < allowed for lost, allowed in priced)
    most = np.diff([lost for lost, *_ in noted]).max()
    assert max(lost for lost, *_ in noted) <= max(allowed for _, allowed, *_ in noted) + most
    assert sum(out for _, _, out, _ in noted) < len(noted)  # and there was none left, now and then


@pytest.mark.parametrize("name", [*PROBLEMS, "sea"])
def test_an_expedition_ends_when_a_new_state_is_seen(name):
    mdp = PROBLEMS.get(name, deep_sea(8))
    seen, found, expeditions = np.zeros(mdp.num_states, dtype=bool), 0, 0
    for phase in aapi.play(learner(Expeditions()), simulator(mdp, None, 2)([0]), 4000):
        states = phase.data.states[0]
        if phase.exploring is not None:
            expeditions += 1
            assert seen[states[:-1]].all()
            found += not seen[states[-1]]
        seen[states] = True
        seen[phase.data.last_state] = True
    assert expeditions > 1


def test_all_of_a_deep_sea_is_found():
    session = Session(learner(Expeditions()), simulator(deep_sea(12), None, 2)([0]))
    for _ in session.play(3000):
        pass
    counts = next(iter(session.state.memories.values()))
    assert (counts.visits[0] > 0.0).all()


def test_wrong_arguments_are_one_line():
    for part, message in (
        (Expeditions(budget=-1.0), "budget must be a finite number at least 0, not -1.0"),
        (Expeditions(reach=math.nan), "reach must be a finite number at least 0, not nan"),
    ):
        with pytest.raises(InvalidInput, match=message):
            aapi.AAPI(exploration=(part,)).check()
