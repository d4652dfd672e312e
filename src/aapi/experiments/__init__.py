"""Experiments: studies, where they are run, and what is kept of them."""

from aapi.experiments.configuration import Configuration, Problem, configure
from aapi.experiments.engines import ENGINES, start_engine
from aapi.experiments.entries import log_spaced
from aapi.experiments.export import export
from aapi.experiments.figures import FIGURES, reproduction
from aapi.experiments.run import run_studies
from aapi.experiments.runner import Interrupted
from aapi.experiments.store import Store, StoreError
from aapi.experiments.study import Cell, Study, read_study
from aapi.experiments.summary import Summary, summarise

__all__ = [
    "ENGINES",
    "FIGURES",
    "Cell",
    "Configuration",
    "Interrupted",
    "Problem",
    "Store",
    "StoreError",
    "Study",
    "Summary",
    "configure",
    "export",
    "log_spaced",
    "read_study",
    "reproduction",
    "run_studies",
    "start_engine",
    "summarise",
]
