"""How often intervals from logs hold the true gain: python benchmarks/estimated.py [repetitions [seed]].

For each problem and length of a log, of a behaviour that is uniform at random: two policies that are given, the optimal
one and the uniform one; and the optimum of the pairs that the log knows, with the policy that is said to be best. Of
logs that do not say enough, there is no interval.
"""

import sys
import time
from pathlib import Path

import numpy as np

from aapi.environments import access_control, ergodic, frozen_lake, garnet, river_swim
from aapi.mdp import FiniteMDP, estimate_model, policy_values, solve

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from logged import columns, uniform_logs

CHUNK = 50  # logs drawn at once
OPTIMA = 50  # logs whose optimum is looked at: the optimum of what a log knows takes a second
PROBLEMS = {
    "ergodic 10×2": (ergodic(10, 2), (200, 500, 2_000, 20_000)),
    "river-swim 6": (river_swim(6), (500, 1_000, 2_000, 5_000, 20_000)),
    "river-swim 6, noise": (river_swim(6, noise=0.3), (5_000, 20_000)),
    "access-control": (access_control(), (5_000, 20_000, 60_000)),
    "garnet 20×3": (garnet(20, 3), (500, 2_000, 10_000)),
    "frozen-lake": (frozen_lake(), (2_000, 10_000, 40_000)),
}


def examine(mdp, steps, repetitions, seed):
    """For each gain asked for: (known, rare, covered, half width) of each log."""
    best, start = solve(mdp), mdp.initial_state
    fixed = {"optimal": best.policy, "uniform": np.full(mdp.rewards.shape, 1.0 / mdp.num_actions)}
    truth = {name: policy_values(mdp, policy).gains[start] for name, policy in fixed.items()}
    found = {name: [] for name in ("optimal", "uniform", "optimum", "chosen policy")}
    for chunk in range(0, repetitions, CHUNK):
        logs = uniform_logs(mdp, steps, min(CHUNK, repetitions - chunk), [seed, steps, chunk])
        for number in range(len(logs[0])):
            sizes = {"num_states": mdp.num_states, "num_actions": mdp.num_actions}
            model = estimate_model(columns(logs, number), **sizes)
            for name, policy in fixed.items():
                found[name].append(row(model.gain_interval(policy), truth[name]))
            if chunk + number >= OPTIMA:
                continue
            optimum = model.optimum()
            best_allowed = solve(restricted(mdp, optimum.allowed)).gains[start]
            found["optimum"].append(row(optimum.interval, best_allowed))
            earned = policy_values(mdp, optimum.policy).gains[start]
            found["chosen policy"].append(row(optimum.interval, earned))
    return found, truth


def restricted(mdp, allowed):
    """The model in which pairs that are not allowed stay where they are and pay less than all others."""
    allowed = allowed | ~allowed.any(axis=1, keepdims=True)  # of states that the log does not know, all
    if allowed.all():
        return mdp
    transitions = (mdp.transitions.toarray() if mdp.is_sparse else mdp.transitions).reshape(allowed.size, -1).copy()
    pairs = np.flatnonzero(~allowed)
    transitions[pairs] = np.eye(mdp.num_states)[pairs // mdp.num_actions]
    lowest = mdp.rewards.min() - np.ptp(mdp.rewards) - 1.0
    return FiniteMDP(transitions.reshape(*allowed.shape, -1), np.where(allowed, mdp.rewards, lowest))


def row(interval, truth):
    """Whether there is an interval, whether it names rare pairs, whether it holds the truth, its half width."""
    holds = interval.lower - 1e-12 <= truth <= interval.upper + 1e-12
    return interval.known, bool(interval.rare), holds, 0.5 * (interval.upper - interval.lower)


def main():
    """Print the table."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    print(
        f"{repetitions} logs each, seed {seed}, level 0.95, {OPTIMA} of them for the optimum; covered: of the logs "
        "with an interval, and of those in which the policy needs no rare pair.\n"
    )
    print("| problem | steps | gain of | with an interval | covered | none rare | of these covered | half width |")
    print("|---|---|---|---|---|---|---|---|")
    for name, (mdp, lengths) in PROBLEMS.items():
        for steps in lengths:
            begun = time.perf_counter()
            found, truth = examine(mdp, steps, repetitions, seed)
            for policy, rows in found.items():
                known, rare, holds, width = (np.array(column) for column in zip(*rows, strict=True))
                plain = known & ~rare
                covered = [f"{holds[which].mean():.3f}" if which.any() else "" for which in (known, plain)]
                wide = (
                    f"{np.median(width[known]) / abs(truth.get(policy, truth['optimal'])):.1%}" if known.any() else ""
                )
                print(
                    f"| {name} | {steps:,} | {policy} | {known.mean():.2f} | {covered[0]} | {plain.mean():.2f} | "
                    f"{covered[1]} | {wide} |",
                    flush=True,
                )
            print(f"{name} {steps}: {time.perf_counter() - begun:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
