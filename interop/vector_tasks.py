"""Small tasks whose observations are vectors in a Box, for `vectors.py`: what people who run things would bring."""

from __future__ import annotations

import math

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete


class Task(gymnasium.Env):
    """A task that never ends. low, high: bounds of the observation."""

    def __init__(self, low, high, num_actions):
        self.observation_space = Box(np.array(low, np.float32), np.array(high, np.float32))
        self.action_space = Discrete(num_actions)

    def reset(self, *, seed=None, options=None):  # noqa: ARG002
        """Begin, with random numbers by the seed."""
        super().reset(seed=seed)
        self.start()
        return self.observe(), {}

    def step(self, action):
        """A step, which never ends."""
        reward = self.move(int(action))
        return self.observe(), float(reward), False, False, {}


class AdmissionQueue(Task):
    """Accept a customer or not: each brings what it offers, each that waits costs 0.1 a step, 0.4 are served a step.

    Observed: how many wait, and the offer, from [0, 2]. Accepting offers above 0.8 + 0.4 · waiting earns 0.434.
    """

    def __init__(self):
        super().__init__([0.0, 0.0], [20.0, 2.0], 2)

    def start(self):
        """Begin."""
        self.waiting, self.offer = 0, self.np_random.uniform(0.0, 2.0)

    def observe(self):
        """What is seen now."""
        return np.array([self.waiting, self.offer], np.float32)

    def move(self, accept):
        """Take a step; its reward."""
        reward = 0.0
        if accept and self.waiting < 20:
            reward, self.waiting = self.offer, self.waiting + 1
        if self.waiting and self.np_random.random() < 0.4:
            self.waiting -= 1
        self.offer = self.np_random.uniform(0.0, 2.0)
        return reward - 0.1 * self.waiting


class TwoClasses(Task):
    """Which of two queues to serve. Observed: both lengths, up to 15, and which server speed is on, as numbers.

    Customers of class 1 cost 1 a step and are served with probability 0.6, those of class 2 cost 3 and 0.4; speeds are
    halved for a while now and then. Serving the class of the higher cost times rate, if anyone is there, is the rule.
    """

    def __init__(self):
        super().__init__([0.0, 0.0, 0.0], [15.0, 15.0, 1.0], 2)

    def start(self):
        """Begin."""
        self.lengths, self.slow = [0, 0], 0

    def observe(self):
        """What is seen now."""
        return np.array([*self.lengths, self.slow], np.float32)

    def move(self, served):
        """Take a step; its reward."""
        for each, rate in enumerate((0.2, 0.12)):
            if self.np_random.random() < rate:
                self.lengths[each] = min(15, self.lengths[each] + 1)
        speed = (0.6, 0.4)[served] * (0.5 if self.slow else 1.0)
        if self.lengths[served] and self.np_random.random() < speed:
            self.lengths[served] -= 1
        if self.np_random.random() < 0.02:
            self.slow = 1 - self.slow
        return -0.1 * (self.lengths[0] + 3 * self.lengths[1])


class Inventory(Task):
    """How much to order, 0 to 4 units. Observed: the stock and the season's demand, real numbers.

    Demand is gamma distributed, around a mean that goes up and down over 50 steps; a unit sold pays 2, ordered costs 1,
    in stock 0.1, and what is not in stock is not sold.
    """

    def __init__(self):
        super().__init__([0.0, 0.0], [20.0, 4.0], 5)

    def start(self):
        """Begin."""
        self.stock, self.time = 5.0, 0

    @property
    def mean(self):
        """Of the demand now."""
        return 2.0 + 1.5 * math.sin(2.0 * math.pi * self.time / 50)

    def observe(self):
        """What is seen now."""
        return np.array([self.stock, self.mean], np.float32)

    def move(self, ordered):
        """Take a step; its reward."""
        stock = min(20.0, self.stock + ordered)
        demand = self.np_random.gamma(4.0, self.mean / 4.0)
        sold = min(stock, demand)
        self.stock, self.time = stock - sold, self.time + 1
        return 2.0 * sold - ordered - 0.1 * self.stock


class Pendulum(Task):
    """Gymnasium's pendulum with three torques, −2, 0 and 2, in one long episode. Observed: cos, sin and speed."""

    def __init__(self):
        super().__init__([-1.0, -1.0, -8.0], [1.0, 1.0, 8.0], 3)

    def start(self):
        """Begin."""
        self.angle, self.speed = self.np_random.uniform(-math.pi, math.pi), self.np_random.uniform(-1.0, 1.0)
        self.time = 0

    def observe(self):
        """What is seen now."""
        return np.array([math.cos(self.angle), math.sin(self.angle), self.speed], np.float32)

    def move(self, action):
        """Take a step; its reward."""
        torque = 2.0 * (action - 1)
        cost = self.angle**2 + 0.1 * self.speed**2 + 0.001 * torque**2
        self.speed = min(8.0, max(-8.0, self.speed + (15.0 * math.sin(self.angle) + 3.0 * torque) * 0.05))
        self.angle = (self.angle + self.speed * 0.05 + math.pi) % (2.0 * math.pi) - math.pi
        self.time += 1
        if self.time % 200 == 0:  # as its episodes begin
            self.angle, self.speed = self.np_random.uniform(-math.pi, math.pi), self.np_random.uniform(-1.0, 1.0)
        return -cost


class PuckWorld(Task):
    """Push a puck to a target that jumps every 150 steps. Observed: place, speed, and the way to the target."""

    def __init__(self):
        super().__init__([0.0, 0.0, -0.1, -0.1, -1.0, -1.0], [1.0, 1.0, 0.1, 0.1, 1.0, 1.0], 5)

    def start(self):
        """Begin."""
        self.place, self.speed, self.time = self.np_random.uniform(size=2), np.zeros(2), 0
        self.target = self.np_random.uniform(size=2)

    def observe(self):
        """What is seen now."""
        return np.array([*self.place, *self.speed, *(self.target - self.place)], np.float32)

    def move(self, action):
        """Take a step; its reward."""
        push = ((0.0, 0.0), (0.01, 0.0), (-0.01, 0.0), (0.0, 0.01), (0.0, -0.01))[action]
        self.speed = np.clip(0.95 * self.speed + push, -0.1, 0.1)
        place = np.clip(self.place + self.speed, 0.0, 1.0)
        self.speed = np.where(place == self.place + self.speed, self.speed, 0.0)
        self.place, self.time = place, self.time + 1
        if self.time % 150 == 0:
            self.target = self.np_random.uniform(size=2)
        return -float(np.hypot(*(self.target - self.place)))


class Catch(Task):
    """A ball falls ten rows; the paddle below moves left, stays or moves right. Observed: the board, 50 zeros and ones.

    Catching pays 1, missing −1; then another ball falls. The best earns 0.1 a step.
    """

    def __init__(self):
        super().__init__(np.zeros(50), np.ones(50), 3)

    def start(self):
        """Begin."""
        self.paddle = 2
        self.drop()

    def drop(self):
        """Another ball."""
        self.row, self.column = 0, int(self.np_random.integers(5))

    def observe(self):
        """What is seen now."""
        board = np.zeros((10, 5), np.float32)
        board[self.row, self.column] = board[9, self.paddle] = 1.0
        return board.ravel()

    def move(self, action):
        """Take a step; its reward."""
        self.paddle = min(4, max(0, self.paddle + action - 1))
        self.row += 1
        if self.row < 9:
            return 0.0
        caught = self.column == self.paddle
        self.drop()
        return 1.0 if caught else -1.0


class Routing(Task):
    """Which of three stations takes the next customer. Observed: how many are at each, up to 12.

    One comes with probability 0.6 a step, and is served with 0.15, 0.25 or 0.35; each that is there costs 0.1. The rule
    takes the station with the least (number + 1)/rate.
    """

    coming, rates, most = 0.6, (0.15, 0.25, 0.35), 12

    def __init__(self):
        stations = len(self.rates)
        super().__init__([0.0] * stations, [float(self.most)] * stations, stations)

    def start(self):
        """Begin."""
        self.numbers = [0] * len(self.rates)

    def observe(self):
        """What is seen now."""
        return np.array(self.numbers, np.float32)

    def move(self, chosen):
        """Take a step; its reward."""
        if self.np_random.random() < self.coming:
            self.numbers[chosen] = min(self.most, self.numbers[chosen] + 1)
        for each, rate in enumerate(self.rates):
            if self.numbers[each] and self.np_random.random() < rate:
                self.numbers[each] -= 1
        return -0.1 * sum(self.numbers)

    def rule(self):
        """What a simple rule would do."""
        return int(np.argmin([(number + 1) / rate for number, rate in zip(self.numbers, self.rates, strict=True)]))


class FourStations(Routing):
    """The same with four stations for up to 20 customers each, 194,481 states."""

    coming, rates, most = 0.64, (0.1, 0.17, 0.23, 0.3), 20


class SixStations(Routing):
    """The same with six stations, 86 million states."""

    coming, rates, most = 0.9, (0.1, 0.13, 0.17, 0.21, 0.24, 0.28), 20


class LinearSystem(Task):
    """Keep six numbers near 0: x' = A x + b u + noise, u in {−1, 0, 1}. Observed: x, without bounds.

    A is random, of spectral radius 0.95. The cost is the mean of squares. The rule is the better of ±1 a step ahead.
    """

    def __init__(self):
        super().__init__([-np.inf] * 6, [np.inf] * 6, 3)
        random = np.random.default_rng(6)
        matrix = random.normal(size=(6, 6))
        self.matrix = 0.95 * matrix / np.abs(np.linalg.eigvals(matrix)).max()
        self.pushed = 0.3 * random.normal(size=6)

    def start(self):
        """Begin."""
        self.x = np.zeros(6)

    def observe(self):
        """What is seen now."""
        return self.x.astype(np.float32)

    def move(self, action):
        """Take a step; its reward."""
        self.x = self.matrix @ self.x + self.pushed * (action - 1) + 0.1 * self.np_random.normal(size=6)
        return -float((self.x**2).mean())

    def rule(self):
        """What a simple rule would do."""
        return 1 - int(np.sign(self.pushed @ self.matrix @ self.x))


class LeadTime(Task):
    """How many units to order, 0 to 3; they come three steps later. Observed: the stock, and what is under way.

    Demand is Poisson, 1.5 a step; what is not in stock is lost and costs 4, a unit in stock 0.5. The rule orders up to
    7 units, with those under way.
    """

    def __init__(self):
        super().__init__([0.0] * 3, [20.0, 3.0, 3.0], 4)

    def start(self):
        """Begin."""
        self.stock, self.coming = 4, [1, 1]

    def observe(self):
        """What is seen now."""
        return np.array([self.stock, *self.coming], np.float32)

    def move(self, ordered):
        """Take a step; its reward."""
        stock = min(20, self.stock + self.coming[0])
        self.coming = [self.coming[1], ordered]
        demand = int(self.np_random.poisson(1.5))
        self.stock = max(0, stock - demand)
        return -4.0 * max(0, demand - stock) - 0.5 * self.stock

    def rule(self):
        """What a simple rule would do."""
        return min(3, max(0, 7 - self.stock - sum(self.coming)))


class Lander(Task):
    """Come down softly on a pad. Observed: place, speed, tilt, its speed, and which of two legs stand, eight numbers.

    Actions: nothing, the left engine, the main one, the right one. It pays for coming closer, slower and more upright,
    100 for a soft landing and −100 for any other; then it begins anew, high up.
    """

    def __init__(self):
        super().__init__([-1.5, -0.1, -np.inf, -np.inf, -np.inf, -np.inf, 0.0, 0.0], [1.5, 2.0, *[np.inf] * 4, 1, 1], 4)

    def start(self):
        """Begin."""
        self.x = np.array([self.np_random.uniform(-0.5, 0.5), 1.4, *self.np_random.normal(0.0, 0.2, 2), 0.0, 0.0])

    def observe(self):
        """What is seen now."""
        y, tilt = self.x[1], self.x[4]
        legs = [float(y + side * 0.1 * tilt < 0.02) for side in (-1.0, 1.0)]
        return np.array([*self.x, *legs], np.float32)

    def worth(self):
        """Of a place."""
        x, y, right, up, tilt, _ = self.x
        return -100.0 * (math.hypot(x, y) + math.hypot(right, up) + abs(tilt))

    def move(self, action):
        """Take a step; its reward."""
        before = self.worth()
        x, y, right, up, tilt, spin = self.x
        push = 0.06 * (action == 2) * self.np_random.uniform(0.8, 1.2)
        spin += 0.04 * ((action == 3) - (action == 1))
        right, up = right - push * math.sin(tilt), up + push * math.cos(tilt) - 0.025
        self.x = np.array([x + 0.05 * right, y + 0.05 * up, right, up, tilt + 0.05 * spin, spin])
        gained = self.worth() - before - 0.3 * (action == 2)
        x, y = self.x[:2]
        if y > 0.0 and abs(x) < 1.5 and y < 2.0 and abs(self.x[4]) < 1.5:
            return gained
        soft = y <= 0.0 and abs(x) < 0.3 and up > -0.4 and abs(self.x[4]) < 0.3
        self.start()
        return gained + (100.0 if soft else -100.0)


class Odd(AdmissionQueue):
    """The queue above, in other units, and with numbers that say nothing: a constant, a copy, and noise of all sizes.

    Observed: waiting · 10⁶, the offer/1000, 0.3, the offer/1000 again, noise of a Cauchy distribution; without bounds.
    """

    def __init__(self):
        super().__init__()
        self.observation_space = Box(-np.inf, np.inf, (5,), np.float64)

    def observe(self):
        """What is seen now."""
        noise = self.np_random.standard_cauchy()
        return np.array([1e6 * self.waiting, self.offer / 1000.0, 0.3, self.offer / 1000.0, noise])

    def rule(self):
        """What a simple rule would do."""
        return int(self.offer > 0.8 + 0.4 * self.waiting)


class Shifted(AdmissionQueue):
    """The queue above with rewards of (r + 10) · 1024, of which it must make nothing."""

    def move(self, accept):
        """Take a step; its reward."""
        return 1024.0 * (super().move(accept) + 10.0)
