"""Learning from logged data first, then online, beside starting empty: python benchmarks/logged_start.py [seeds].

Logs are of a policy that acts at random. Means over seeds; ± is 95 %, and the differences are paired: both learners of
a seed act in the same environment, seeded alike. The policy learnt from the log alone is evaluated exactly.
"""

import sys

import gymnasium
import numpy as np

import aapi
from aapi.environments import inventory, tandem_queue
from aapi.mdp import policy_values, solve
from aapi.statistics import confidence_band

PROBLEMS = {"inventory": inventory(), "tandem queue": tandem_queue()}
LEARNERS = {"`AAPI()`": aapi.AAPI(), "`AAPI(exploration=())`": aapi.AAPI(exploration=())}
ROWS, STEPS = 10_000, 10_000


def random_log(model, seed):
    """What a random policy does in a model."""
    env, generator = made(model), np.random.default_rng(seed)
    state, rows = env.reset(seed=10_000 + seed)[0], []
    for action in generator.integers(model.num_actions, size=ROWS).tolist():
        after, reward, *_ = env.step(action)
        rows.append((state, action, reward, after))
        state = after
    return dict(zip(("state", "action", "reward", "next_state"), map(np.array, zip(*rows, strict=True)), strict=True))


def made(model):
    """The model as an environment."""
    return gymnasium.make("aapi/FiniteMDP-v0", model=model)


def outcome(learner, model, seed):
    """The gain of the policy learnt from the log, and what is then earned a step, with the log and without."""
    agent = aapi.Agent(learner, made(model), seed=seed).learn_from(random_log(model, seed))
    gain = float(policy_values(model, agent.policy[0]).gains[model.initial_state])
    empty = aapi.Agent(learner, made(model), seed=seed)
    return gain, *(each.learn(STEPS).total_reward / STEPS for each in (agent, empty))


def main(seeds="20"):
    """Print a table in Markdown."""
    print(f"{seeds} seeds, logs of {ROWS:,} random steps, then {STEPS:,} steps online; rewards a step:\n")
    print("| problem | learner | at random | optimum | learnt from the log alone | online, after the log | online, "
          "empty | difference |\n|---|---|---|---|---|---|---|---|")  # fmt: skip
    for problem, model in PROBLEMS.items():
        uniform = np.full(model.rewards.shape, 1.0 / model.num_actions)
        known = f"{policy_values(model, uniform).gains[model.initial_state]:.3f} | {solve(model).gain:.3f}"
        for name, learner in LEARNERS.items():
            found = np.array([outcome(learner, model, seed) for seed in range(int(seeds))]).T
            cells = [shown(column) for column in (*found, found[1] - found[2])]
            print(f"| {problem} | {name} | {known} | {' | '.join(cells)} |", flush=True)


def shown(values):
    """Mean ± half the width of its interval."""
    band = confidence_band(values)
    return f"{float(band.mean):.3f} ± {float(band.upper - band.mean):.3f}"


if __name__ == "__main__":
    main(*sys.argv[1:])
