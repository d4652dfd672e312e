"""`AAPI()` on tasks with observation vectors, and beside it DQN and PPO of Stable-Baselines3 at their defaults.

python interop/vectors.py [--seeds 5] [--tasks MountainCar-v0 …] [--rivals]: mean and worst over seeds, of the last
tenth of the steps: the return of episodes, or the average reward where there are none.
"""

from __future__ import annotations

import argparse
import time

import gymnasium
import numpy as np
import vector_tasks

import aapi

# steps; whether settings were chosen on it, or it was only looked at afterwards
TASKS = {
    "MountainCar-v0": (100_000, "chosen on"),
    "Acrobot-v1": (100_000, "chosen on"),
    "CartPole-v1": (50_000, "chosen on"),
    "AdmissionQueue": (100_000, "chosen on"),
    "Pendulum": (100_000, "chosen on"),
    "TwoClasses": (100_000, "chosen on"),
    "Inventory": (100_000, "chosen on"),
    "PuckWorld": (100_000, "chosen on"),
    "Catch": (100_000, "chosen on"),
    "Routing": (100_000, "chosen on"),
    "FourStations": (100_000, "chosen on"),
    "SixStations": (100_000, "chosen on"),
    "LinearSystem": (100_000, "chosen on"),
    "LeadTime": (100_000, "chosen on"),
    "Lander": (100_000, "held out"),
    "Odd": (100_000, "chosen on"),
    "Shifted": (100_000, "held out"),
}
OWN = {
    each.__name__: each
    for each in vars(vector_tasks).values()
    if isinstance(each, type) and issubclass(each, vector_tasks.Task)
}


def make(name):
    """An environment by its name."""
    return OWN[name]() if name in OWN else gymnasium.make(name)


def by_aapi(name, steps, seed):
    """What is earned over the last tenth; of CartPole, how long the policy then balances, of 500 steps."""
    agent, returns, rewards = aapi.Agent(aapi.AAPI(), make(name), seed=seed), [], []

    def note(progress):
        if progress.steps > 0.9 * steps:
            returns.extend(episode["return"] for episode in progress.episodes)
            rewards.append(progress.average_reward)

    agent.learn(steps, callback=note)
    if name == "CartPole-v1":
        plain = aapi.environments.Continuing(gymnasium.make(name))
        return float(np.mean(agent.evaluate(5000, plain, deterministic=True).lengths or [5000]))
    return float(np.mean(returns if returns else rewards))


def by_sb3(algorithm, name, steps, seed):
    """The same of one of theirs; of CartPole, the mean length of episodes of the learnt policy."""
    import stable_baselines3
    from stable_baselines3.common.evaluation import evaluate_policy

    env = make(name)
    if name in OWN:  # PPO and DQN expect ends; these cut what is logged, and are not terminations
        env = gymnasium.wrappers.TimeLimit(env, 200)
    env = gymnasium.wrappers.RecordEpisodeStatistics(env, buffer_length=10**6)
    model = getattr(stable_baselines3, algorithm)("MlpPolicy", env, seed=seed, device="cpu")
    model.learn(steps)
    if name == "CartPole-v1":
        return float(evaluate_policy(model, gymnasium.make(name), 10)[0])
    lengths, returns = np.array(env.length_queue), np.array(env.return_queue)
    late = np.cumsum(lengths) > 0.9 * steps
    return float(returns[late].sum() / lengths[late].sum() if name in OWN else returns[late].mean())


def by_hand(choose, name):
    """What a way to choose earns over 30,000 steps of one of our tasks."""
    env = make(name)
    env.reset(seed=1)
    return float(np.mean([env.step(choose(env))[1] for _ in range(30_000)]))


def print_rules(names):
    """What simple rules earn in our tasks, and random actions."""
    random = np.random.default_rng(0)
    print("| task | a simple rule | at random |\n|---|---|---|")
    for name in names:
        if name in OWN:
            rule = f"{by_hand(lambda env: env.rule(), name):.3g}" if hasattr(OWN[name], "rule") else ""
            chance = by_hand(lambda env: random.integers(env.action_space.n), name)
            print(f"| {name} | {rule} | {chance:.3g} |", flush=True)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=100)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--rivals", action="store_true")
    parser.add_argument("--rules", action="store_true", help="simple rules and random actions, in place of learning")
    options = parser.parse_args()
    if options.rules:
        print_rules(options.tasks)
        return
    print("| task | steps | | algorithm | mean | worst | µs a step |\n|---|---|---|---|---|---|---|")
    learners = {"AAPI()": by_aapi}
    if options.rivals:
        learners |= {each: lambda *task, each=each: by_sb3(each, *task) for each in ("DQN", "PPO")}
    for name in options.tasks:
        steps, role = TASKS[name]
        for word, learn in learners.items():
            start = time.perf_counter()
            seeds = range(options.first_seed, options.first_seed + options.seeds)
            scores = [learn(name, steps, seed) for seed in seeds]
            each = 1e6 * (time.perf_counter() - start) / (steps * options.seeds)
            figures = f"{np.mean(scores):.4g} | {min(scores):.4g} | {each:.0f}"
            print(f"| {name} | {steps:,} | {role} | {word} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
