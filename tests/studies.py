"""Small studies of several kinds of problems, that take seconds."""

from aapi.experiments import Study

GRID = [0.1, 1.0, 10.0]
STUDY = Study(
    name="small",
    problems=[
        {"name": "deep-sea", "size": 4},
        {"name": "ergodic", "states": 5},
        {"name": "cartpole", "steps": 1000, "features": "fourier:1", "settings": {"phase_length": 250, "horizon": 10}},
    ],
    algorithms=[
        {"name": "aapi-paper", "eta": GRID, "tune": ["eta"]},
        {"name": "politex", "eta": GRID, "tune": ["eta"]},
        {"name": "rlsvi", "ridge": 1.0, "horizon": 4},
    ],
    steps=4000,
    runs=3,
    tuning_runs=2,
)
TOGETHER = Study(
    name="one η, rewards scaled",
    problems=[{"name": "deep-sea", "size": 4, "reward_scale": [0.01, 1.0, 100.0]}],
    algorithms=[{"name": name, "eta": GRID, "tune": ["eta"], "together": True} for name in ("aapi-paper", "politex")],
    steps=2000,
    runs=2,
    tuning_runs=1,
)


def long_study(steps=200_000, points=5):
    """Seconds of work, in many tasks."""
    etas = {"from": 0.01, "to": 10, "points": points}
    return Study(
        name="small",
        problems=[{"name": "ergodic", "states": 10, "actions": 2}, {"name": "deep-sea", "size": 6}],
        algorithms=[{"name": "aapi-paper", "eta": etas, "tune": ["eta"]}, {"name": "greedy"}],
        steps=steps,
        runs=4,
        tuning_runs=3,
    )
