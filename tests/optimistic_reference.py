"""UCRL2, UCRL2B, KL-UCRL and SCAL in plain Python, from the papers: dense, slow, and nothing from the package.

Given what a run saw, `replay` checks when its episodes end, and says what each plan promises; `best_model` searches
the set of models by textbook steps over all states, and `extended_values` by damped value iteration with another
damping.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.optimize

LAZY = 0.5


class Seen:
    """Counts of one run, and all rewards of each pair."""

    def __init__(self, num_states, num_actions, low, high):
        self.transitions = np.zeros((num_states, num_actions, num_states))
        self.rewards = {pair: [] for pair in np.ndindex(num_states, num_actions)}
        self.states, self.steps, self.low, self.high = set(), 0, low, high

    def add(self, x, a, reward, y):
        self.transitions[x, a, y] += 1
        self.rewards[x, a].append((reward - self.low) / (self.high - self.low))
        self.states |= {x, y}
        self.steps += 1

    @property
    def visits(self):
        return self.transitions.sum(axis=2)


def hoeffding(seen, x, a, delta, width, horizon):
    num_states, num_actions, _ = seen.transitions.shape
    n, t = max(1, len(seen.rewards[x, a])), seen.steps + 1
    on_rewards = math.sqrt(7 * math.log(2 * num_states * num_actions * t / delta) / (2 * n))
    on_chances = math.sqrt(14 * num_states * math.log(2 * num_actions * t / delta) / n)
    return width * on_rewards, lambda p, u: most_in_ball(p, width * on_chances, u)


def bernstein(seen, x, a, delta, width, horizon):
    n = max(1, len(seen.rewards[x, a]))
    size = math.log(6 * seen.visits.size * n / delta) / n
    variance = np.var(seen.rewards[x, a]) if seen.rewards[x, a] else 0.0

    def most(p, u):
        return most_in_box(p, width * (2 * np.sqrt(p * (1 - p) * size) + 6 * size), u)

    return width * (2 * math.sqrt(variance * size) + 6 * size), most


def early_bernstein(seen, x, a, delta, width, horizon):
    n = len(seen.rewards[x, a])
    b = math.log(2 * seen.visits.size * (seen.steps + 1) / delta)
    variance = np.var(seen.rewards[x, a]) if seen.rewards[x, a] else 0.0
    last = 49 * b / (3 * max(1, n - 1))

    def most(p, u):
        return most_in_box(p, width * (np.sqrt(14 * p * (1 - p) * b / max(1, n)) + last), u)

    return width * (math.sqrt(14 * variance * b / max(1, n)) + last), most


def kullback_leibler(seen, x, a, delta, width, horizon):
    num_states, num_actions, _ = seen.transitions.shape
    n, log_t = max(1, len(seen.rewards[x, a])), math.log(horizon)
    b = math.log(2 * math.e * num_states**2 * num_actions * log_t / delta)
    constant = num_states * (b + math.log(b + 1 / log_t) * (1 + 1 / (b + 1 / log_t)))
    on_rewards = math.sqrt(math.log(4 * num_states * num_actions * log_t / delta) / 1.99 / n)
    return width * on_rewards, lambda p, u: most_in_divergence(p, width**2 * constant / n, u)


def most_in_ball(p, radius, u):
    """max qᵀu over ‖q − p‖₁ ≤ radius: figure 2 of Jaksch et al."""
    order = np.argsort(-u)
    q = p.copy()
    q[order[0]] = min(1.0, p[order[0]] + radius / 2)
    last = len(order) - 1
    while q.sum() > 1.0 + 1e-15 and last > 0:
        q[order[last]] = max(0.0, q[order[last]] - (q.sum() - 1.0))
        last -= 1
    return q @ u


def most_in_box(p, widths, u):
    """max qᵀu over |q − p| ≤ widths."""
    lower, upper = np.maximum(0.0, p - widths), np.minimum(1.0, p + widths)
    q = lower.copy()
    for x in np.argsort(-u):
        q[x] = min(upper[x], lower[x] + max(0.0, 1.0 - q.sum()))
    return q @ u


def most_in_divergence(p, radius, u):
    """max qᵀu over KL(p, q) ≤ radius: by its dual, min_ν ν − e^{−radius} exp Σ p log(ν − u) over ν ≥ max u, convex."""
    top, support = u.max(), p > 0
    chances, below = p[support].tolist(), (top - u[support]).tolist()
    if radius <= 0 or max(below) < 1e-12:
        return p @ u

    def geometric(distance):
        return math.exp(-radius + sum(c * math.log(distance + b) for c, b in zip(chances, below, strict=True)))

    def slope(distance):
        return 1 - geometric(distance) * sum(c / (distance + b) for c, b in zip(chances, below, strict=True))

    least, most = 1e-13 * max(below), max(below)
    while slope(most) < 0:
        most *= 10
    best = (
        least if slope(least) >= 0 else scipy.optimize.brentq(slope, least, most, xtol=1e-13 * max(below), rtol=1e-14)
    )
    return top + best - geometric(best)


def extended_values(seen, bounds, states, delta, width, horizon, gap, span=math.inf):
    """Gain and Q of the best model. bounds: one of those above; span: of values, in units of the range."""
    num_actions = seen.transitions.shape[1]
    states = np.array(sorted(states))
    sets = {(x, a): bounds(seen, x, a, delta, width, horizon) for x in states for a in range(num_actions)}
    u, q = np.zeros(len(states)), np.zeros((len(states), num_actions))
    for _ in range(100_000):
        for i, x in enumerate(states):
            for a in range(num_actions):
                rewards = seen.rewards[x, a]
                if not rewards:
                    q[i, a] = 1.0 + u.max()
                    continue
                margin, most = sets[x, a]
                q[i, a] = min(1.0, float(np.mean(rewards)) + margin) + most(
                    seen.transitions[x, a, states] / len(rewards), u
                )
        after = (1 - LAZY) * q.max(axis=1) + LAZY * u
        after = np.minimum(after, after.min() + span)
        change = (after - u) / (1 - LAZY)
        u = after - after.min()
        if change.max() - change.min() <= gap:
            break
    return (change.max() + change.min()) / 2, dict(zip(states.tolist(), q, strict=True))


def replay(episodes, seen, plan):
    """Of episodes, (policy, [(x, a, r, x'), …]) each: what is planned at their ends, which must be those of figure 1.

    An episode goes on while v(x, a) < max(1, N(x, a)) for the pair that comes next, and no longer.
    """
    for policy, steps in episodes:
        limits, inside = np.maximum(1, seen.visits), np.zeros(seen.visits.shape)
        for x, a, reward, y in steps:
            assert inside[x, a] < limits[x, a], "it should have ended"
            seen.add(x, a, reward, y)
            inside[x, a] += 1
        likely = policy[y] > 0
        assert (inside[y, likely] >= limits[y, likely]).any(), "it should have gone on"
        yield plan(seen)
