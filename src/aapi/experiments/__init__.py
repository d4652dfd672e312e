"""Experiments: studies, where they are run, and the store of their results."""

from aapi.experiments.configuration import Configuration, Problem, configure
from aapi.experiments.database import StoreError
from aapi.experiments.engines import ENGINES, Interrupted, start_engine
from aapi.experiments.export import export
from aapi.experiments.paper_studies import FIGURES
from aapi.experiments.reproduce import reproduction
from aapi.experiments.scheduler import run_studies
from aapi.experiments.schema import log_spaced
from aapi.experiments.store import Store
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
