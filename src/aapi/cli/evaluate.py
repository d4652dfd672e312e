"""`aapi evaluate`: the average reward of a saved agent, and a video of it."""

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

    from aapi.cli.parser import Commands
    from aapi.gymnasium_types import Env
    from aapi.json_types import JsonObject


EXAMPLES = """examples:
  aapi evaluate cart.aapi --steps 2000
  aapi evaluate cart.aapi --steps 500 --video cart.gif
  aapi evaluate lake.aapi --deterministic --json
"""
MOST_FRAMES, WIDEST = 500, 400


def add_evaluate(commands: Commands) -> None:
    """Add `evaluate` to the command line."""
    command = add_command(
        commands, "evaluate", evaluate, epilog=EXAMPLES, help="run a saved agent, and film it",
        description="Run a saved agent in its environment, without learning.",
    )  # fmt: skip
    command.add_argument("agent", help="a file that aapi train saved")
    command.add_argument("--steps", type=int, default=2000, metavar="T", help="default: 2000")
    command.add_argument("--seed", type=int, default=1000, metavar="S", help="seed of the environment (default: 1000)")
    command.add_argument("--deterministic", action="store_true", help="take the most likely action, not a random one")
    command.add_argument("--env", metavar="ID", help="the environment, if its id has changed")
    command.add_argument("--video", metavar="FILE.gif", help=f"film it ({install_extra('video')})")
    add_json(command)


def evaluate(options: argparse.Namespace) -> None:
    """Run and print."""
    from aapi.agent import load, made_environment
    from aapi.checks import at_least

    at_least(1, **{"--steps": options.steps})
    at_least(0, **{"--seed": options.seed})
    film = Film(options.video, options.steps) if options.video else None
    agent = load(options.agent)
    try:
        arguments = {"render_mode": "rgb_array"} if film else {}
        env = made_environment(options.agent, options.env, make_environment, **arguments)
    except InvalidInput as error:
        raise InvalidInput(f"this environment cannot be filmed: {error}" if film else str(error)) from None
    show = not options.json and sys.stderr.isatty()
    score = agent.evaluate(
        options.steps, env, deterministic=options.deterministic, seed=options.seed, progress=show, film=film
    )
    if film:
        film.write(fps=int(env.metadata.get("render_fps", 30)))
    summary: JsonObject = {
        "steps": options.steps,
        "average_reward": score.average_reward,
        "standard_error": score.long_run.standard_error,
        "half_width": score.long_run.half_width,
        "method": score.long_run.method,
        "episodes": len(score.lengths),
        "episode_length": score.episode_length,
        "episode_return": score.episode_return,
        "actions": score.action_shares,
    }
    if options.json:
        print(json.dumps(summary | {"video": options.video}, allow_nan=False))
        return
    rows = [("average reward", f"{score.long_run}, over {options.steps} steps")]
    if score.lengths:
        rows += [
            ("episodes", f"{len(score.lengths)}, of {score.episode_length:.5g} steps on average"),
            ("return", f"{score.episode_return:.5g} an episode, in the environment's own rewards"),
        ]
    rows.append(("actions", ", ".join(f"{a}: {share:.1%}" for a, share in enumerate(score.action_shares))))
    if film:
        rows.append(("video", options.video))
    print_table(options.agent, f": {agent.num_steps} steps learnt", rows)


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
