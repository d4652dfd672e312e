"""An agent for a Gymnasium environment: learn, save, load, go on, and see how it does."""

import tempfile
from pathlib import Path

import gymnasium

import aapi

algorithm = aapi.AAPI(
    phase_length=2000, eta=0.05, evaluate=aapi.evaluation.MonteCarlo(horizon=100, ridge=100.0, centre=False)
)
# Episodes follow each other without end; a fall costs what is missing to 200 steps, as in the paper.
env = aapi.environments.Continuing(gymnasium.make("CartPole-v1"), ending="shortfall", limit=200)
agent = aapi.Agent(algorithm, env, features=aapi.features.Fourier(order=2))
agent.learn(12_000, callback=lambda p: print(f"phase {p.phase}: average reward {p.average_reward:.3f}"))

with tempfile.TemporaryDirectory() as folder:
    agent.save(Path(folder) / "cart.aapi")
    env = aapi.environments.Continuing(gymnasium.make("CartPole-v1"), ending="shortfall", limit=200)
    agent = aapi.load(Path(folder) / "cart.aapi", env=env)  # goes on as if it had never stopped

agent.learn(12_000)
score = agent.evaluate(2000)
print(f"episodes of {score.episode_length:.0f} steps; action {agent.predict([0.0, 0.0, 0.1, 0.0])} against a tilt")
