"""`aapi reproduce`: the paper's figures, with algorithms tuned on separate runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aapi.cli.experiments import add_experiment_arguments, run_experiment

if TYPE_CHECKING:
    import argparse

    from aapi.cli.parser import Commands
    from aapi.experiments import Study


EXAMPLES = """examples:
  aapi reproduce                                      all figures, small: three minutes
  aapi reproduce deep-sea --preset paper --workers 2  one figure, as in the paper
  aapi reproduce untuned --preset paper               AAPI without tuning, against tuned rivals
  aapi reproduce all --preset paper --engine dask --address tcp://10.0.0.1:8786

After an interruption, the same command continues where it stopped.
"""


def add_command(commands: Commands) -> None:
    """Add `reproduce` to the command line."""
    command = commands.add_parser(
        "reproduce",
        help="reproduce the paper's figures",
        description="Run AAPI, POLITEX and RLSVI on the paper's problems: tune each on separate runs, then report.",
        epilog=EXAMPLES,
    )
    command.add_argument(
        "figure",
        nargs="?",
        default="all",
        choices=("ergodic", "deep-sea", "cartpole", "all", "untuned", "ablation"),
        help="default: all, of the paper; beyond it, untuned (AAPI without tuning) and ablation (of its parts)",
    )
    command.add_argument(
        "--preset", choices=("quick", "paper"), default="quick", help="quick (default), or paper: 50 runs"
    )
    add_experiment_arguments(command)
    command.set_defaults(run=reproduce)


def reproduce(options: argparse.Namespace) -> None:
    """Run and print."""

    def studies() -> list[Study]:
        from aapi.experiments import reproduction

        return reproduction(options.figure, options.preset, options.runs, options.seed or 0)

    run_experiment(options, studies)
