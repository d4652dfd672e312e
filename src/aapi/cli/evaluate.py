"""`aapi evaluate`: the average reward of a saved agent, and a video of it; or of anyone's policies, side by side."""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from aapi.cli.parser import add_command, add_json
from aapi.cli.text import print_table
from aapi.errors import InvalidInput, install_extra
from aapi.registry.gymnasium_ids import make_environment

if TYPE_CHECKING:
    import argparse

    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

    from aapi.agent.judge import AnyEnv
    from aapi.cli.parser import Commands
    from aapi.gymnasium_types import Env
    from aapi.json_types import JsonObject


EXAMPLES = """examples:
  aapi evaluate cart.aapi --steps 2000
  aapi evaluate cart.aapi --steps 500 --video cart.gif
  aapi evaluate lake.aapi --deterministic --json
  aapi evaluate adm.aapi --policy shop:threshold --policy random
  aapi evaluate --env aapi/CrissCross-v0 --policy MaxWeight --policy longest\\ queue --seeds 10
"""
MOST_FRAMES, WIDEST = 500, 400
ALONE, BESIDE = (2000, 1), (20_000, 5)  # steps and runs: of one agent as it is, and of policies that are judged


def add_evaluate(commands: Commands) -> None:
    """Add `evaluate` to the command line."""
    command = add_command(
        commands, "evaluate", evaluate, epilog=EXAMPLES, help="run a saved agent, film it, or judge policies",
        description="Run a saved agent in its environment, without learning; or judge policies side by side, by what "
        "they earn a step in the long run, with the same random numbers.",
    )  # fmt: skip
    command.add_argument("agents", nargs="*", metavar="agent", help="a file that aapi train saved")
    command.add_argument(
        "--policy", action="append", default=[], metavar="WHAT",
        help="module:function, from an observation to an action; or a rule: random, optimal (finite models), those of "
        "a network (may be repeated)",
    )  # fmt: skip
    command.add_argument("--env", metavar="ID", help="the environment, if it is not the agent's, or its id has changed")
    command.add_argument(
        "--steps", type=int, metavar="T", help=f"of each run (default: {ALONE[0]} of one agent, else {BESIDE[0]})"
    )
    command.add_argument(
        "--seeds", type=int, metavar="N", help=f"number of runs (default: {ALONE[1]} of one agent, else {BESIDE[1]})"
    )
    command.add_argument(
        "--seed", type=int, default=1000, metavar="S", help="seed of the environment in the first run (default: 1000)"
    )
    command.add_argument("--deterministic", action="store_true", help="take the most likely action, not a random one")
    command.add_argument("--video", metavar="FILE.gif", help=f"film one agent ({install_extra('video')})")
    add_json(command)


def evaluate(options: argparse.Namespace) -> None:
    """Run and print."""
    from aapi.checks import at_least

    alone = len(options.agents) == 1 and not options.policy and options.seeds is None
    steps, seeds = ALONE if alone else BESIDE
    options.steps = steps if options.steps is None else options.steps
    options.seeds = seeds if options.seeds is None else options.seeds
    at_least(1, **{"--steps": options.steps, "--seeds": options.seeds})
    at_least(0, **{"--seed": options.seed})
    if alone:
        _evaluate_one(options, options.agents[0])
    elif options.video:
        raise InvalidInput("--video films one agent in one run: drop --policy, --seeds and other agents")
    elif not options.agents and not options.policy:
        raise InvalidInput("give an agent's file, or --policy with --env")
    else:
        _compare(options)


def _compare(options: argparse.Namespace) -> None:
    """Judge policies side by side, and print a table."""
    from aapi.agent import evaluate as judge
    from aapi.agent import load, made_environment

    if options.env is None and not options.agents:
        raise InvalidInput("give the environment to judge in: --env ID")
    names = [*options.agents, *options.policy]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise InvalidInput(f"{repeated} is given twice")
    agents = {path: load(path) for path in options.agents}
    if options.agents:
        env: AnyEnv = made_environment(options.agents[0], options.env, make_environment)
    else:
        env = options.env
    rules, seeds = {name: name for name in options.policy}, range(options.seed, options.seed + options.seeds)
    found = judge(
        agents | rules, env, options.steps, seeds,
        deterministic=options.deterministic, progress=not options.json and sys.stderr.isatty(),
    )  # fmt: skip
    print(json.dumps(found.to_dict(), allow_nan=False) if options.json else found)


def _evaluate_one(options: argparse.Namespace, path: str) -> None:
    """Run one agent once, as it is, and print what it does."""
    from aapi.agent import load, made_environment

    film = Film(options.video, options.steps) if options.video else None
    agent = load(path)
    try:
        arguments = {"render_mode": "rgb_array"} if film else {}
        env = made_environment(path, options.env, make_environment, **arguments)
    except InvalidInput as error:
        raise InvalidInput(f"this environment cannot be filmed: {error}" if film else str(error)) from None
    show = not options.json and sys.stderr.isatty()
    score = agent.evaluate(
        options.steps, env, deterministic=options.deterministic, seed=options.seed, progress=show, film=film
    )
    if film:
        film.write(fps=int(env.metadata.get("render_fps", 30)))
    summary: JsonObject = {"steps": options.steps} | score.to_dict()
    if options.json:
        print(json.dumps(summary | {"video": options.video}, allow_nan=False))
        return
    percent = "" if score.long_run.half_width is None else " (95 %)"
    rows = [("average reward", f"{score.long_run}{percent}, over {options.steps} steps")]
    if score.lengths:
        rows += [
            ("episodes", f"{len(score.lengths)}, of {score.episode_length:.5g} steps on average"),
            ("return", f"{score.episode_return:.5g} an episode, in the environment's own rewards"),
        ]
    rows.append(("actions", ", ".join(f"{a}: {share:.1%}" for a, share in enumerate(score.action_shares))))
    if film:
        rows.append(("video", options.video))
    print_table(path, f": {agent.num_steps} steps learnt", rows)


class Film:
    """Collects frames of an evaluation, and writes them as a GIF."""

    def __init__(self, path: str, steps: int) -> None:
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # so that pygame opens no window
        try:
            import PIL.Image
        except ImportError:
            raise InvalidInput(f"a video needs the extra: {install_extra('video')}") from None
        if Path(path).suffix.lower() != ".gif":
            raise InvalidInput(f"--video must name a .gif file, not {path!r}")
        if not Path(path).parent.is_dir():
            raise InvalidInput(f"--video {path}: the folder {Path(path).parent} does not exist")
        self._path, self._image = path, PIL.Image
        self._every = math.ceil(steps / MOST_FRAMES)
        self._frames: list[Image] = []

    def __call__(self, step: int, env: Env | None) -> None:
        """Add a frame of the environment; of long evaluations, every n-th step only."""
        if env is None or step % self._every:
            return
        try:
            picture = self._image.fromarray(cast("NDArray[np.uint8]", env.render()))
        except Exception as error:  # noqa: BLE001 - whatever the environment's drawing raises
            raise InvalidInput(f"this environment cannot be filmed: {' '.join(str(error).split())}") from None
        if picture.width > WIDEST:
            picture = picture.resize((WIDEST, picture.height * WIDEST // picture.width))
        self._frames.append(picture.quantize(64))

    def write(self, fps: int) -> None:
        """Write the GIF."""
        from aapi.files import atomic_write

        first, *others = self._frames
        with atomic_write(self._path) as file:
            first.save(
                file, format="GIF", save_all=True, append_images=others, loop=0,
                duration=max(20, round(1000 * self._every / max(1, fps))),
            )  # fmt: skip
