"""Regret taken apart: luck, errors of evaluation, and learning itself, for two algorithms side by side."""

import aapi
from aapi import theory
from aapi.environments import ergodic
from aapi.evaluation import MonteCarlo

problem = ergodic(10, 2)
parts = {"phase_length": 1000, "evaluate": MonteCarlo(horizon=10, centre=True, ridge=0.1), "eta": 0.3}
for algorithm in (aapi.AAPI(**parts), aapi.Politex(**parts)):
    result = aapi.run(algorithm, problem, num_steps=100_000, num_runs=20, record=True)
    found = theory.analyse(result)
    print(type(algorithm.learning_rate).__name__)
    for part in ("regret", "noise", "pseudo_regret", "estimation", "online_learning"):
        band = found.decomposition.band(part)
        print(f"  {part:16}{band.mean[-1]:8.1f}  [{band.lower[-1]:8.1f}, {band.upper[-1]:8.1f}]")
    print(f"  errors of Q̂ in the last phase: {found.errors.sup[:, -1].mean():.2f}")
    print(f"  |ΔQ| ≤ {found.relative_q.constant:.2f} |Δπ|, and the proof allows {theory.proven_constant(10, 100):,.0f}")
