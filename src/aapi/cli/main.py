"""The entry point: parses the command line, and reports errors in one line with exit status 2."""

from __future__ import annotations

import io
import os
import signal
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import aapi
from aapi.cli.evaluate import add_evaluate
from aapi.cli.export_policy import add_export_policy
from aapi.cli.parser import Parser
from aapi.cli.results import add_export, add_figures, add_report, add_watch
from aapi.cli.run import add_run
from aapi.cli.show import add_show
from aapi.cli.solve import add_solve
from aapi.cli.studies import add_reproduce, add_sweep
from aapi.cli.theory import add_theory
from aapi.cli.train import add_train
from aapi.cli.tune import add_tune
from aapi.errors import AapiError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


EXAMPLES = """examples:
  aapi reproduce                                 the paper's figures, in a minute
  aapi sweep study.toml --out results            your own study
  aapi watch results                             its curves as they grow, in the browser
  aapi tune deep-sea --search eta=0.01..100      good settings
  aapi train CartPole-v1 --save cart.aapi        an agent for any Gymnasium environment with discrete actions
  aapi evaluate cart.aapi --video cart.gif       see how it does
  aapi show cart.aapi --picture cart.png         what it does, as a table and a picture
  aapi solve ergodic --states 10 --actions 2     the exact optimum of a built-in problem
  aapi solve model.npz --json                    the same for your own model, as JSON
  aapi run deep-sea --size 20 --runs 50          learn, and compare with the optimum
  aapi theory ergodic --states 10 --actions 2    the decomposition of regret, and the bounds of the paper
"""


def parser() -> Parser:
    """The whole command line."""
    top = Parser(
        prog="aapi",
        description="Average-reward reinforcement learning: exact theory, algorithms, experiments.",
        epilog=EXAMPLES,
    )
    top.add_argument("--version", action="version", version=f"aapi {aapi.__version__}")
    commands = top.add_subparsers(dest="command", metavar="command", required=True, parser_class=Parser)
    for add in (
        add_reproduce, add_sweep, add_watch, add_report, add_figures, add_tune, add_export, add_train, add_evaluate,
        add_show, add_export_policy, add_run, add_theory, add_solve,
    ):  # fmt: skip
        add(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0, 2 for bad input, 130 after Ctrl-C."""
    name = "aapi"
    try:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # for terminals that cannot show ±
        options = parser().parse_args(arguments)
        name = f"aapi {options.command}"
        with _interrupts_raised():
            options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt as stop:
        with suppress(ValueError):  # in another thread there is no Ctrl-C
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C changes nothing
        where = f" {stop}" if str(stop) else ""
        print(f"{name}: interrupted{where}", file=sys.stderr, flush=True)
        if "multiprocessing.util" in sys.modules:  # release semaphores, or their tracker warns
            sys.modules["multiprocessing.util"]._run_finalizers(0)
        os._exit(130)  # at once: threads may be in a long kernel
    except MemoryError:
        print(f"{name}: not enough memory for a problem of this size", file=sys.stderr)
        return 2
    except (AapiError, OSError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    return 0


@contextmanager
def _interrupts_raised() -> Iterator[None]:
    """Raise the KeyboardInterrupt that caused an error, in its clean-up for example, instead of that error."""
    try:
        yield
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, KeyboardInterrupt):
            cause = cause.__cause__ or cause.__context__
        if cause is None:
            raise
        raise cause from None
