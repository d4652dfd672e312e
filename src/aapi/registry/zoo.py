"""The zoo: finite problems of many families, in two halves, to see how learners do without tuning.

One half is for development. The other one is for reporting: nothing is chosen by looking at it. Every family is in
both halves, near variants in different ones. What was seen when the zoo was put together is for development.

Problems that the default learner was mended by are for development, even if they were in the reporting half before:
Taxi in the rain and in light rain, lottery 0.005, slippery CliffWalking with both goals, inventory 12 and 15, late, and
N-model 8 and 12. In their place came variants, and problems of kinds that the development half does not have (key maze,
tree, polling, repair shop, pricing, battery, Pig, car rental, windy Catch), on which no learner had been run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from aapi.checks import one_of
from aapi.registry.problems import make_problem

if TYPE_CHECKING:
    from aapi.mdp import FiniteMDP
    from aapi.registry.problems import Sizes

HALVES = ("development", "reporting")


@dataclass(frozen=True)
class ZooProblem:
    """A problem of the zoo: its word and its sizes, as the command has them, and a natural number of steps."""

    family: str
    half: str
    num_steps: int
    name: str
    sizes: Sizes

    def make(self) -> FiniteMDP:
        """The model."""
        return cast("FiniteMDP", make_problem(self.name, self.sizes))


def _development(family: str, num_steps: int, name: str, **sizes: float) -> ZooProblem:
    return ZooProblem(family, "development", num_steps, name, sizes)


def _reporting(family: str, num_steps: int, name: str, **sizes: float) -> ZooProblem:
    return ZooProblem(family, "reporting", num_steps, name, sizes)


ZOO = {
    "RiverSwim 6": _development("chains", 100_000, "river-swim", states=6),
    "RiverSwim 12": _reporting("chains", 200_000, "river-swim", states=12),
    "RiverSwim 25": _reporting("chains", 300_000, "river-swim", states=25),
    "RiverSwim 40": _development("chains", 500_000, "river-swim", states=40),
    "Chain 5": _reporting("chains", 100_000, "chain", states=5),
    "Chain 12": _development("chains", 100_000, "chain", states=12, slip=0.1),
    "double loop 5": _development("chains", 100_000, "double-loop", length=5),
    "double loop 20": _reporting("chains", 100_000, "double-loop", length=20),
    "lock 10": _development("locks", 100_000, "combination-lock", length=10, actions=3),
    "lock 25": _reporting("locks", 200_000, "combination-lock", length=25, actions=4, model_seed=1),
    "DeepSea 15": _reporting("locks", 150_000, "deep-sea", size=15),
    "DeepSea 20": _development("locks", 200_000, "deep-sea", size=20),
    "Six-Arms": _development("locks", 200_000, "six-arms"),
    "Five-Arms": _reporting("locks", 100_000, "six-arms", arms=5),
    "tree 6": _reporting("locks", 100_000, "tree", depth=6),
    "two rooms 10×10": _development("grids", 200_000, "rooms", size=10, rooms=2),
    "four rooms 11×11": _reporting("grids", 200_000, "rooms", size=11, rooms=4),
    "four rooms 13×13, slippery": _reporting("grids", 200_000, "rooms", size=13, rooms=4, slip=0.2),
    "windy grid": _development("grids", 200_000, "windy-grid"),
    "windy grid, king's moves": _reporting("grids", 200_000, "windy-grid", actions=8, slip=0.1),
    "trap grid 8": _development("grids", 200_000, "trap-grid", size=8),
    "trap grid 12": _reporting("grids", 300_000, "trap-grid", size=12, model_seed=1),
    "FrozenLake 4×4": _reporting("grids", 100_000, "frozen-lake", size=4),
    "FrozenLake 8×8": _development("grids", 300_000, "frozen-lake", size=8),
    "CliffWalking": _development("grids", 100_000, "cliff-walking"),
    "slippery CliffWalking": _development("grids", 200_000, "cliff-walking", goal=100.0, slippery=1),
    "slippery CliffWalking, goal 200": _development("grids", 200_000, "cliff-walking", goal=200.0, slippery=1),
    "Taxi": _development("grids", 500_000, "taxi"),
    "Taxi in the rain": _development("grids", 500_000, "taxi", rain=0.2),
    "Taxi in light rain": _development("grids", 500_000, "taxi", rain=0.1),
    "key maze 8": _reporting("grids", 300_000, "key-maze", size=8),
    "windy Catch 3×4": _reporting("grids", 200_000, "windy-catch", rows=3, columns=4),
    "garnet 20×4, sparse": _development("random", 100_000, "garnet"),
    "garnet 100×3, sparse": _reporting("random", 200_000, "garnet", states=100, actions=3, branching=2, model_seed=1),
    "garnet 50×5, dense": _reporting("random", 200_000, "garnet", states=50, actions=5, branching=50, model_seed=2),
    "garnet 30×3, dense": _development("random", 100_000, "garnet", states=30, actions=3, branching=30, model_seed=3),
    "garnet 60×4, three rewards": _development(
        "random", 200_000, "garnet", states=60, actions=4, branching=3, model_seed=4, paying=3
    ),
    "garnet 100×4, two rewards": _reporting(
        "random", 300_000, "garnet", states=100, actions=4, branching=3, model_seed=5, paying=2
    ),
    "ergodic 30,4": _reporting("random", 200_000, "ergodic", states=30, actions=4),
    "ergodic 20,5": _development("random", 200_000, "ergodic", states=20, actions=5),
    "access control 10": _development("queues", 200_000, "access-control", servers=10),
    "access control 15": _reporting("queues", 200_000, "access-control", servers=15),
    "tandem queue 10": _development("queues", 200_000, "tandem-queue", capacity=10),
    "tandem queue 15": _reporting("queues", 200_000, "tandem-queue", capacity=15, arrivals=0.22),
    "routing 8": _development("queues", 200_000, "routing", capacity=8),
    "routing 12": _reporting("queues", 200_000, "routing", capacity=12, arrivals=0.35),
    "N-model 8": _development("queues", 300_000, "n-model", capacity=8),
    "N-model 12": _development("queues", 300_000, "n-model", capacity=12),
    "N-model 10": _reporting("queues", 300_000, "n-model", capacity=10),
    "polling 8": _reporting("queues", 200_000, "polling", capacity=8),
    "inventory 20": _development("operations", 200_000, "inventory", capacity=20),
    "inventory 12, late": _development("operations", 300_000, "inventory", capacity=12, demand=3.0, lead_time=1),
    "inventory 15, late": _development("operations", 300_000, "inventory", capacity=15, demand=4.0, lead_time=1),
    "car rental 7": _reporting("operations", 200_000, "car-rental", cars=7),
    "maintenance 10": _reporting("operations", 100_000, "maintenance", levels=10),
    "two machines 6": _development("operations", 200_000, "maintenance", levels=6, machines=2),
    "repair shop 6": _reporting("operations", 200_000, "repair-shop", machines=6),
    "pricing 8": _reporting("operations", 300_000, "pricing", capacity=8, days=24),
    "battery 10": _reporting("operations", 300_000, "battery", capacity=10),
    "bandit 10, N(·, 3)": _development("noise", 100_000, "bandit", arms=10, noise=3.0),
    "bandit 25, N(·, 2)": _reporting("noise", 100_000, "bandit", arms=25, noise=2.0, model_seed=1),
    "RiverSwim 10, noise 1": _development("noise", 300_000, "river-swim", states=10, noise=1.0),
    "RiverSwim 6, noise 0.5": _reporting("noise", 200_000, "river-swim", states=6, noise=0.5),
    "garnet 20×4, coins": _development("noise", 200_000, "garnet", model_seed=6, coins=1),
    "garnet 40×3, coins": _reporting(
        "noise", 300_000, "garnet", states=40, actions=3, branching=4, model_seed=7, coins=1
    ),
    "lottery 0.02": _development("noise", 100_000, "lottery", length=3, chance=0.02),
    "lottery 0.005": _development("noise", 200_000, "lottery", length=5, chance=0.005),
    "lottery 0.01, far": _reporting("noise", 200_000, "lottery", length=8, chance=0.01),
    "Pig": _reporting("noise", 100_000, "pig", sides=6),
}


def zoo(half: str | None = None) -> dict[str, ZooProblem]:
    """The problems by name; of one half, "development" or "reporting", or all."""
    if half is not None:
        one_of(HALVES, half=half)
    return {name: problem for name, problem in ZOO.items() if half in (None, problem.half)}
