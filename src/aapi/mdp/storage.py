"""Files that hold a model: .npz by name of arrays, P.npy with R.npy beside it, .csv with rows of text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from aapi.errors import InvalidInput
from aapi.files import MOST_BYTES, atomic_write, read_arrays, read_one_array
from aapi.mdp.columns import LOG, TEXTS, text_kind

if TYPE_CHECKING:
    import os

    from aapi.array_types import AnyArray, Arrays

# The arrays of an .npz file: ours, or those of the MDP toolboxes.
ARRAYS = (
    "transitions", "rewards", "transitions_data", "transitions_indices", "transitions_indptr", "initial_state",
    "state_names", "action_names", "coordinates", "reward_spread", "allowed", "outcome_starts", "outcome_successors",
    "outcome_probabilities", "outcome_rewards", "P", "R",
)  # fmt: skip
LOGS = (".parquet", ".pq")  # of files that can only be logs


def is_log(path: str | os.PathLike[str]) -> bool:
    """Whether a file holds logged transitions; an error if it holds neither these nor a model."""
    ending = Path(path).suffix.lower()
    return ending in LOGS or (ending in TEXTS and text_kind(path) == "log")


def refuse_log(path: str | os.PathLike[str]) -> None:
    """Raise if a file holds a log where a model is wanted."""
    if is_log(path):
        raise InvalidInput(
            f"{path} is a log of transitions ({', '.join(LOG)}), not a model: aapi solve {path} --save model.npz "
            "estimates one"
        )


def read_model_arrays(path: str | os.PathLike[str]) -> Arrays:
    """The arrays of an .npz file, or of P.npy and R.npy: transitions and rewards, or P and R; or an error."""
    if Path(path).suffix.lower() == ".npy":
        return {
            "P": read_one_array(path, "a model"),
            "R": read_one_array(rewards_beside(path), "the rewards of a model"),
        }
    arrays = read_arrays(path, "an .npz file", ARRAYS, MOST_BYTES)
    ours = "rewards" in arrays and bool({"transitions", "transitions_data"} & arrays.keys())
    if not ours and not {"P", "R"} <= arrays.keys():
        raise InvalidInput(
            f"{path} must hold the arrays transitions and rewards; it holds {', '.join(arrays) or 'nothing'}"
        )
    return arrays


def write_arrays(path: str | os.PathLike[str], arrays: Arrays) -> None:
    """An .npz file; compressed, unless it is so large that reading it again would be refused."""
    write = np.savez_compressed if sum(array.nbytes for array in arrays.values()) < MOST_BYTES // 2 else np.savez
    with atomic_write(path) as file:
        write(file, **cast("dict[str, Any]", arrays))


def write_pair(path: str | os.PathLike[str], transitions: AnyArray, rewards: AnyArray) -> None:
    """P.npy, and R.npy beside it."""
    for name, array in ((rewards_beside(path), rewards), (path, transitions)):
        with atomic_write(name) as file:
            np.save(file, array)


def rewards_beside(path: str | os.PathLike[str]) -> Path:
    """R.npy for P.npy, and so for every name that ends in P."""
    path = Path(path)
    if not path.stem.endswith("P"):
        raise InvalidInput(f"{path} must have a name that ends in P.npy: the rewards are in R.npy beside it")
    return path.with_name(f"{path.stem[:-1]}R{path.suffix}")
