"""Acts by a policy that `aapi export-policy` wrote. It needs NumPy alone: copy it to where the policy is used."""

from __future__ import annotations

import json
from typing import Any

import numpy as np


class Policy:
    """A policy from a file. about: names of observations and actions, and what the policy was made from."""

    def __init__(self, path: Any) -> None:
        with np.load(path, allow_pickle=False) as file:
            self.arrays = {name: file[name] for name in file.files}
        self.about = json.loads(self.arrays.pop("about").tobytes())
        self.rows = {tuple(vector): i for i, vector in enumerate(self.arrays.get("vectors", np.empty(0)).tolist())}

    def act(self, observation: Any, draw: Any = None) -> int:
        """The most likely action; or one that is drawn, by a function like random.random."""
        chances = self.probabilities(observation)
        action = chances.argmax() if draw is None else (chances.cumsum() <= draw() * chances.sum()).sum()
        return int(self.about["first_action"]) + min(int(action), len(chances) - 1)

    def probabilities(self, observation: Any) -> Any:
        """The probability of each action. observation: a number, or its numbers in order."""
        x, a = np.ravel(observation), self.arrays
        if x.shape != a["low"].shape or not np.isfinite(x).all():
            raise ValueError(f"an observation has {len(a['low'])} finite numbers, unlike {observation!r}")
        if self.about["kind"] == "table":  # of all observations, which are whole numbers
            place = x - a["low"]
            if (place != place.astype(int)).any() or (place < 0).any() or (place >= a["counts"]).any():
                last = a["low"] + a["counts"] - 1
                raise ValueError(f"{observation!r} is no observation: these are whole numbers, {a['low']} to {last}")
            return a["probabilities"][np.ravel_multi_index(tuple(place.astype(int)), a["counts"])]
        if self.about["kind"] == "vectors":  # that were seen; the last row is for all others
            return a["probabilities"][self.rows.get(tuple(np.clip(x, a["low"], a["high"]).tolist()), -1)]
        waves = a["frequencies"] @ np.clip((x - a["low"]) / a["width"], 0.0, 1.0) + a["phases"]
        features = np.concatenate([a["scale"] * np.cos(waves), x if self.about["linear"] else []])
        scores, past = a["index"] @ features, (features @ a["differences"]).reshape(-1, len(a["index"]))
        sizes = np.ptp(past, axis=1) / 2 if self.about["span"] else np.abs(past).max(axis=1, initial=0.0)
        heat, below = float(a["constant"] + np.sqrt((sizes**2).sum())), scores - scores.max()
        weights = np.exp(below / heat) if heat > 0.0 else (below == 0.0).astype(float)
        return weights / weights.sum()
