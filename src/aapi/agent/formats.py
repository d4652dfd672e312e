"""Saved agents of earlier formats, as the present one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aapi.errors import InvalidInput
from aapi.learners.exploring import default_steps

if TYPE_CHECKING:
    from aapi.agent.storage import Description
    from aapi.array_types import Arrays


FORMAT = 5
# What the arrays of a learner, and of its memories, were called in formats 1 and 2.
LEARNER = {
    "phase": "k", "side_information": "prediction", "surprise": "surprise_size", "root_sum": "surprise_root_sum",
    "surprises": "surprise_sample", "differences": "surprise_differences",
}  # fmt: skip
MEMORY = {"tries": "attempts", "finds": "discoveries", "times": "transition_counts", "chances": "probabilities"}


def upgraded(description: Description, arrays: Arrays) -> tuple[Description, Arrays]:
    """A description and arrays of any format in the present one. 1 had phases of one length, and no memories."""
    if description["format"] == FORMAT:
        return description, arrays
    if description["format"] == 4:
        return description | {"format": FORMAT}, _noticed(description, _priced(arrays))
    counted = any(name.endswith(("_times", "_transition_counts")) for name in arrays)
    description = description | {"algorithm": _with_defaults(description["algorithm"], counted)}
    if description["format"] == 3:
        return description | {"format": FORMAT}, _priced(arrays)
    learner = dict(description["algorithm"])
    if learner.get("part") == "RLSVI":
        raise InvalidInput("an RLSVI agent of an earlier format can be read by earlier versions only: train it anew")
    old = {name.removeprefix("history_"): array for name, array in arrays.items() if name.startswith("history_")}
    kept = {name: array for name, array in arrays.items() if not name.startswith("history_")}
    kept = {name.replace("phase_", "stretch_", 1): array for name, array in kept.items()}
    start = description["steps"] - kept["stretch_rewards"].shape[1]
    state = {_renamed(name): array for name, array in old.items()}
    span = dict(learner.get("learning_rate", {})).get("norm") == "span"
    state |= {"start": np.array(start), "policy_span": np.array(span)}
    if parts := learner.pop("exploration", ()):
        learner = {"part": "Exploring", "learner": learner, "exploration": parts}
        state = _explored(state, old, start)
    kept |= {f"state_{name}": array for name, array in state.items()}
    return description | {"format": FORMAT, "algorithm": learner}, _priced(kept)


def _with_defaults(described: object, counted: bool) -> object:
    """Parts of formats 1 to 3, with what they then were. counted: whether transitions were counted, so on tables."""
    if not isinstance(described, dict):
        return described
    parts = {name: _with_defaults(part, counted) for name, part in described.items()}
    if parts.get("part") == "Growing":
        parts.setdefault("root", None)
    if parts.get("part") == "Automatic" and counted:
        return {"part": "SelfConsistent"}
    return parts


def _priced(arrays: Arrays) -> Arrays:
    """Arrays of a learner that explores, with what files lack that were saved before explorations had a price.

    Files of format 4 lack only the comparison with phases.
    """
    if "state_explored" not in arrays:
        return arrays
    states = max((array.shape[1] for name, array in arrays.items() if name.endswith("_seen")), default=0)
    older = {f"state_outlook_{name}": np.zeros(1) for name in ("gain", "lost", "work")}
    older |= {"state_outlook_values": np.zeros((1, 2, states))}
    older |= {"state_outlook_recent": np.zeros((1, 3)), "state_outlook_excess": np.zeros((1, 2))}
    if "state_excursion_policies" in arrays:
        older |= {"state_excursion_priced": np.array(False), "state_excursion_compared": np.array(False)}
    return older | arrays


def _noticed(description: Description, arrays: Arrays) -> Arrays:
    """Arrays of format 4, of learners on a grid: they did not look at noise then.

    Their plan is left out, and made anew: grids over many whole numbers have other vertices now.
    """
    learner, start = description["algorithm"], "state"
    if learner.get("part") == "Exploring":
        learner, start = learner["learner"], "state_inner"
    if learner.get("part") != "OptimisticGrid":
        return arrays
    plan = (f"{start}_values", f"{start}_q")
    return {f"{start}_noise": np.array(0.0)} | {name: array for name, array in arrays.items() if name not in plan}


def _renamed(name: str) -> str:
    if not name.startswith("memory_"):
        return LEARNER.get(name, name)
    _, number, inner = name.split("_", 2)
    return f"memories_{number}_{MEMORY.get(inner, inner)}"


def _explored(state: Arrays, old: Arrays, start: int) -> Arrays:
    """A learner with exploration around it; it may be in the middle of one."""
    spent = [array for name, array in state.items() if name.endswith("_explored")]
    found = {"start": np.array(start), "explored": spent[0] if spent else np.zeros(1, dtype=np.int64)}
    if "exploration" in old:
        state = state | {"start": np.array(start + default_steps(old["exploration"].shape))}
        found |= {"excursion_runs": old["exploring"], "excursion_policies": old["exploration"]}
    return {f"inner_{name}": array for name, array in state.items()} | found
