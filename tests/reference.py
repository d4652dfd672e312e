"""A slow, independent reference: plain Python loops, written from the paper's text, one run at a time.

It shares with the library only data: transition tables, initial streams and the model; and, of actions that are as good
to rounding, which one was taken. Nothing is vectorised, nothing is accumulated cleverly: sums over the past are taken
over lists of everything that happened.
"""

from __future__ import annotations

import math

import numpy as np

MASK = 2**64 - 1
TIE = 1e-9  # as good to rounding, whose last bits hang on the processor


def bell(x):
    return math.exp(-x * x / 2)


class Stream:
    """xoshiro256++ on Python integers."""

    def __init__(self, state):
        self.s = [int(word) for word in state]

    def bits(self):
        s = self.s
        result = (self._rotate((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = self._rotate(s[3], 45)
        return result

    @staticmethod
    def _rotate(x, k):
        return ((x << k) | (x >> (64 - k))) & MASK

    def uniform(self):
        return (self.bits() >> 11) / 2**53

    def normals(self, count):
        """The ziggurat: 256 layers of the same area under e^(−x²/2), each with a core that lies below the curve."""
        start = 3.6541528853610088
        area = start * bell(start) + math.sqrt(math.pi / 2) * math.erfc(start / math.sqrt(2))
        widths = [area / bell(start), start]
        while len(widths) < 256:
            widths.append(math.sqrt(-2 * math.log(bell(widths[-1]) + area / widths[-1])))
        widths.append(0.0)
        values = []
        while len(values) < count:
            bits = self.bits()
            layer, x = bits % 256, (2 * ((bits >> 11) / 2**53) - 1) * widths[bits % 256]
            if abs(x) >= widths[layer + 1]:
                if layer == 0:
                    while True:
                        more, limit = -math.log(1 - self.uniform()) / start, -2 * math.log(1 - self.uniform())
                        if more**2 <= limit:
                            break
                    x = start + more if x > 0 else -start - more
                else:
                    low, high = bell(widths[layer]), bell(widths[layer + 1])
                    if low + self.uniform() * (high - low) >= bell(x):
                        continue
            values.append(x)
        return values

    def sample(self, population, count):
        """Floyd's sample without replacement."""
        chosen = []
        for top in range(population - count, population):
            drawn = int(self.uniform() * (top + 1))
            chosen.append(top if drawn in chosen else drawn)
        return chosen


class World:
    """One run through the model."""

    def __init__(self, mdp, tables, state):
        self.mdp, self.tables, self.stream, self.x = mdp, tables, Stream(state), mdp.initial_state

    def step(self, probabilities):
        u, cumulated, a = self.stream.uniform(), 0.0, None
        for action, p in enumerate(probabilities):
            if p > 0:
                a, cumulated = action, cumulated + p
                if u < cumulated:
                    break
        x, t = self.x, self.tables
        first, last = t.starts[x * self.mdp.num_actions + a : x * self.mdp.num_actions + a + 2]
        column = 0
        alternative = False
        if last - first > 1:
            place = self.stream.uniform() * int(last - first)
            column = int(place)
            alternative = not place - column < t.thresholds[first + column]
        self.x = int((t.alternatives if alternative else t.successors)[first + column])
        return x, a, float(self.mdp.rewards[x, a])

    def phase(self, policy, length):
        return [self.step(policy[self.x]) for _ in range(length)]


def monte_carlo(data, phi, shape, horizon, centre, ridge):
    """Ridge regression on all features at once, from the definition of the returns."""
    states, actions = shape
    mean = sum(r for _, _, r in data) / len(data) if centre else 0.0
    rows, targets = [], []
    for t in range(len(data) - horizon + 1):
        x, a, _ = data[t]
        rows.append(phi(x, a))
        targets.append(sum(r - mean for _, _, r in data[t : t + horizon]))
    rows, targets = np.array(rows), np.array(targets)
    d = rows.shape[1]
    if ridge > 0:
        w = np.linalg.solve(rows.T @ rows + ridge * np.eye(d), rows.T @ targets)
    else:
        w = np.linalg.lstsq(rows, targets, rcond=None)[0]
    return [[float(phi(x, a) @ w) for a in range(actions)] for x in range(states)]


def norm(values, kind):
    return max(abs(v) for v in values) if kind == "sup" else (max(values) - min(values)) / 2


def best(index, taken):
    """The best actions, each as often; where rounding decides which these are, those that were `taken`, if they may be.

    Zeros are zeros in any rounding: where all actions have them, nothing was seen, and all are the best.
    """
    top = max(index)
    winners, others = [v == top for v in index], [p > 0 for p in taken]
    if any(index) and all(v >= top - TIE * max(map(abs, index)) for v, p in zip(index, others, strict=True) if p):
        winners = others
    return [w / sum(winners) for w in winners]


def softmax(index, temperature, taken):
    top = max(index)
    if temperature == 0:
        return best(index, taken)
    weights = [math.exp((v - top) / temperature) for v in index]
    return [w / sum(weights) for w in weights]


def policy_iteration(world, evaluate, rate, side, length, steps, taken, kind="sup", decay=1.0):
    """Algorithm 1. rate(k, K, surprises, stream) gives a temperature per state; side is `previous` or `zero`.

    taken: the policies that another took after each phase, to be followed where two actions are as good to rounding.
    """
    n, actions = world.mdp.num_states, world.mdp.num_actions
    policy = [[1 / actions] * actions for _ in range(n)]
    history, predicted, surprises, phases = [], [[0.0] * actions for _ in range(n)], [], []
    for k in range(1, steps // length + 1):
        data = world.phase(policy, length)
        q = evaluate(policy, data)
        history.append(q)
        surprises.append(
            [norm([q[x][a] - predicted[x][a] for a in range(actions)], kind) for x in range(n)],
        )
        temperature = rate(k, steps // length, surprises, world.stream)
        predicted = q if side == "previous" else [[0.0] * actions for _ in range(n)]
        index = [
            [
                sum(decay ** (len(history) - 1 - s) * past[x][a] for s, past in enumerate(history)) + predicted[x][a]
                for a in range(actions)
            ]
            for x in range(n)
        ]
        phases.append((data, policy, q, temperature))
        policy = [softmax(index[x], temperature[x], taken[k - 1][x]) for x in range(n)]
    return phases, policy


def rlsvi(world, phi, num_features, length, steps, horizon, form, ridge, variance, taken):
    """RLSVI from the list of all transitions seen; blocks of features share nothing, so all are solved at once."""
    n, actions = world.mdp.num_states, world.mdp.num_actions
    policy = [[1 / actions] * actions for _ in range(n)]
    seen, phases = [], []
    q = np.zeros((n, actions))
    for k in range(steps // length):
        data = []
        for _ in range(length):
            x, a, r = world.step(policy[world.x])
            data.append((x, a, r))
            seen.append((x, a, r, world.x))
        phases.append((data, policy, q.tolist()))
        features = np.array([phi(x, a) for x, a, _, _ in seen])
        precision = features.T @ features / variance + ridge * np.eye(num_features)
        lower = np.linalg.cholesky(precision)
        q, values = np.zeros((n, actions)), np.zeros(n)
        for _ in range(horizon):
            z = np.array(world.stream.normals(num_features))
            b = np.array([r + values[y] for _, _, r, y in seen])
            theta = np.linalg.solve(precision, features.T @ b / variance) + np.linalg.solve(lower.T, z)
            q = np.array([[phi(x, a) @ theta for a in range(actions)] for x in range(n)])
            values = q.max(axis=1)
            if form == "relative":
                values = values - np.mean([values[x] for x, _, _, _ in seen])
            if form == "discounted":
                values = values * (1 - 1 / horizon)
        policy = [best(list(row), others) for row, others in zip(q, taken[k], strict=True)]
    return phases, policy
