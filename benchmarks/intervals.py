"""How often intervals of a long-run average hold the exact gain: python benchmarks/intervals.py [repetitions [seed]].

Each run is preceded by a tenth of its length that does not count, as in `aapi.evaluate`. right: of all runs, those
with an interval that holds the gain; wrong: those with one that does not; the rest is said to be too short. Of those
with an interval, right ÷ (right + wrong) should be 95 %.
"""

import sys

import numpy as np

from aapi.batch import space_of
from aapi.environments import access_control, deep_sea, ergodic, river_swim
from aapi.long_run import long_run
from aapi.mdp import FiniteMDP, policy_values, solve
from aapi.simulation import FiniteSimulation, Stretch, transition_tables

LENGTHS = 1_000, 10_000, 100_000
CHUNK = 2_000_000  # steps simulated at once


def chain(transitions, rewards):
    """A model without choice."""
    return FiniteMDP(np.asarray(transitions)[:, None, :], np.asarray(rewards, dtype=np.float64)[:, None])


def two_states(there, back):
    """0 is paid in one state and 1 in the other; the chances to leave them."""
    return chain([[1.0 - there, there], [back, 1.0 - back]], [0.0, 1.0])


def queue(load, room):
    """M/M/1 with so much room, a step for each event; the reward is minus the number of jobs."""
    up = load / (1.0 + load)
    transitions = np.zeros((room + 1, room + 1))
    for jobs in range(room + 1):
        transitions[jobs, min(jobs + 1, room)] += up
        transitions[jobs, max(jobs - 1, 0)] += 1.0 - up
    return chain(transitions, -np.arange(room + 1.0))


def ring(places):
    """A walk around a ring, with one of two states drawn at each place."""
    transitions = np.zeros((2 * places, 2 * places))
    for place in range(places):
        for lane in (0, 1):
            following = 2 * ((place + 1) % places)
            transitions[2 * place + lane, following : following + 2] = 0.5
    return chain(transitions, np.arange(2.0 * places) % 7)


def mixed(mdp, share):
    """The optimal policy, and with this probability any action."""
    best = np.eye(mdp.num_actions)[solve(mdp).policy]
    return (1.0 - share) * best + share / mdp.num_actions


def chains():
    """Models and policies, by name."""
    alone = {
        "ring of 6, period 6": ring(6),
        "two states, switching .01": two_states(0.01, 0.01),
        "two states, switching .001": two_states(0.001, 0.001),
        "two states, .001 there and .01 back": two_states(0.001, 0.01),
        "M/M/1/20, load .5": queue(0.5, 20),
        "M/M/1/50, load .9": queue(0.9, 50),
    }
    ergodic_, access, river, sea = ergodic(10, 2), access_control(), river_swim(), deep_sea(10)
    return {
        "ergodic 10×2, at random": (ergodic_, mixed(ergodic_, 1.0)),
        "access control, at random": (access, mixed(access, 1.0)),
        "RiverSwim, optimal": (river, mixed(river, 0.0)),
        "RiverSwim, a tenth at random": (river, mixed(river, 0.1)),
        "DeepSea 10, at random": (sea, mixed(sea, 1.0)),
        "DeepSea 10, optimal (nothing is random)": (sea, mixed(sea, 0.0)),
    } | {name: (mdp, np.ones((mdp.num_states, 1))) for name, mdp in alone.items()}


def simulated(mdp, policy, steps, runs, seed):
    """States and rewards, (runs, steps), after a tenth that does not count."""
    simulation = FiniteSimulation(mdp, space_of(mdp), transition_tables(mdp), seed, range(runs))
    warm_up = steps // 10
    data = simulation.rollout(Stretch(1, 0, steps + warm_up, np.repeat(policy[None], runs, axis=0)), steps + warm_up)
    return data.states[:, warm_up:], data.rewards[:, warm_up:]


def examine(mdp, policy, steps, repetitions, seed, runs=1):
    """For intervals with and without states: the shares that are right and wrong. runs: that are pooled for one."""
    gain, found = policy_values(mdp, policy).gains[mdp.initial_state], []
    chunk = max(1, CHUNK // (steps * runs))
    for start in range(0, repetitions, chunk):
        count = min(chunk, repetitions - start)
        states, rewards = simulated(mdp, policy, steps, count * runs, seed + start)
        for i in range(count):
            part = slice(i * runs, (i + 1) * runs)
            for known in (None, states[part]):
                interval = long_run(rewards[part], known)
                given = interval.half_width is not None
                holds = given and abs(interval.mean - gain) <= interval.half_width + 1e-12
                found.append((holds, given and not holds))
    return np.array(found).reshape(repetitions, 2, 2).mean(axis=0)


def main():
    """Print a table for intervals from batches, and one for those from returns to a state."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    kinds = [(steps, 1) for steps in LENGTHS] + [(LENGTHS[0], 10)]
    heads = [f"{runs} runs of {steps:,} steps" if runs > 1 else f"{steps:,} steps" for steps, runs in kinds]
    found = {
        name: [examine(*model, steps, repetitions, seed, runs) for steps, runs in kinds]
        for name, model in chains().items()
    }
    print(f"{repetitions} intervals each, seed {seed}: right / wrong in percent; of the rest, the run is too short.")
    for which, title in enumerate(("Batches", "Returns to a state, else batches")):
        print(f"\n| {title} |", " | ".join(heads), "|")
        print("|---|" + "---|" * len(heads))
        for name, cells in found.items():
            each = [100.0 * cell[which] for cell in cells]
            texts = [f"{right:.1f} / {wrong:.1f}" if right + wrong else "too short" for right, wrong in each]
            print(f"| {name} |", " | ".join(texts), "|")


if __name__ == "__main__":
    main()
