"""The pictures of docs/operations.md: optimal policies of two coordinates, from exact solutions, and frames of games.

python docs/operations_pictures.py, or as a part of make operations
"""

from __future__ import annotations

from itertools import count
from pathlib import Path

import gymnasium
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

import aapi  # noqa: F401  (registers the environments)
from aapi.environments import car_rental, inventory, maintenance, n_model, routing
from aapi.environments.queueing import criss_cross_network
from aapi.mdp import solve, solve_events
from aapi.report.panels import INK, drawing

HERE = Path(__file__).parent / "pictures"
FREE = "#f0f1f3"  # where there is nothing to choose
PAIR = ("#4878a8", "#e0a458")
MOST_MOVED = 5  # cars, in a night
CLASS_3, SHOWN = 3, 16  # jobs of class 3 in the picture of criss-cross, and how many of the others are shown


def main() -> None:
    """Draw and save all."""
    with drawing():
        _save("operations-queues", [_criss_cross, _n_model, _routing])
        _save("operations-stock", [_inventory, _two_machines, _car_rental])
    frames = [_frame("aapi/Catch-v0", balls=3), _frame("aapi/WindyCatch-v0", balls=3), _frame("aapi/Taxi-v0", balls=0)]
    with drawing():
        _save_frames("operations-suite", frames, ("Catch", "windy Catch", "Taxi"))


def _save(name, panels):
    figure, all_axes = plt.subplots(1, len(panels), figsize=(8.4, 2.9))
    for axes, draw in zip(all_axes, panels, strict=True):
        axes.grid(visible=False)
        draw(axes)
    figure.savefig(HERE / f"{name}.png", metadata={"Software": None})
    plt.close(figure)


def _save_frames(name, frames, titles):
    figure, all_axes = plt.subplots(1, len(frames), figsize=(6.0, 2.8))
    for axes, frame, title in zip(all_axes, frames, titles, strict=True):
        axes.imshow(frame)
        axes.set_title(title)
        axes.axis("off")
    figure.savefig(HERE / f"{name}.png", metadata={"Software": None})
    plt.close(figure)


def _map(axes, values, colours, labels, *, title, across, up):
    """A map of whole numbers from 0 on, (across, up): the colour of each, and what it means."""
    bounds = np.arange(len(colours) + 1) - 0.5
    shown = mpl.colors.ListedColormap(colours)
    norm = mpl.colors.BoundaryNorm(bounds, len(colours))
    image = axes.imshow(values.T, origin="lower", cmap=shown, norm=norm, aspect="auto")
    axes.set(title=title, xlabel=across, ylabel=up)
    axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(5, integer=True))
    axes.yaxis.set_major_locator(mpl.ticker.MaxNLocator(5, integer=True))
    bar = axes.figure.colorbar(image, ax=axes, ticks=range(len(colours)))
    bar.ax.set_yticklabels(labels, color=INK)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)


def _criss_cross(axes):
    capped = criss_cross_network("BM")
    policy = solve_events(capped.event_model(), 1e-6).policy
    jobs = capped.jobs()
    served = capped.network.served(jobs, policy)[:, 0].reshape(capped.shape)[:SHOWN, :SHOWN, CLASS_3]
    served = np.where(jobs[:, 0].reshape(capped.shape)[:SHOWN, :SHOWN, CLASS_3] > 0, served + 1, 0)
    _map(
        axes, served, (FREE, *PAIR), ("no choice", "class 1", "class 3"),
        title=f"criss-cross BM: station 1 serves,\nwith {CLASS_3} jobs of class 3", across="jobs of class 1",
        up="jobs of class 2",
    )  # fmt: skip


def _table(mdp):
    """The optimal policy on the grid of the two coordinates."""
    size = mdp.coordinates.max(axis=0) + 1
    table = np.zeros(size, dtype=np.int64)
    table[tuple(mdp.coordinates.T)] = solve(mdp).policy
    return table


def _n_model(axes):
    table = _table(n_model())
    first, second = np.indices(table.shape)
    _map(
        axes, np.where((first > 0) & (second > 0), table + 1, 0), (FREE, *PAIR), ("no choice", "kind 1", "kind 2"),
        title="N-model:\nthe shared server helps", across="customers of kind 1", up="customers of kind 2",
    )  # fmt: skip


def _routing(axes):
    _map(
        axes, _table(routing()), PAIR, ("the fast one", "the slow one"), title="routing:\na customer is sent to",
        across="at the fast server", up="at the slow server",
    )  # fmt: skip


def _inventory(axes):
    table = _table(inventory(capacity=12, demand=3.0, lead_time=1))
    most = int(table.max()) + 1
    colours = [FREE, *plt.get_cmap("Blues")(np.linspace(0.25, 1.0, most - 1))]
    _map(
        axes, table, colours, range(most), title="inventory, lead time 1:\npieces ordered",
        across="pieces in stock", up="pieces to arrive",
    )  # fmt: skip


def _two_machines(axes):
    _map(
        axes, _table(maintenance(6, 2)), (FREE, *PAIR), ("neither", "the first", "the second"),
        title="two machines:\nthe crew repairs", across="wear of the first", up="wear of the second",
    )  # fmt: skip


def _car_rental(axes):
    wanted = _table(car_rental()) - MOST_MOVED
    first, second = np.indices(wanted.shape)
    moved = np.where(wanted > 0, np.minimum(wanted, first), -np.minimum(-wanted, second))
    least, most = int(moved.min()), int(moved.max())
    numbers = np.arange(least, most + 1)
    colours = plt.get_cmap("RdBu")(0.5 + numbers / (2 * MOST_MOVED + 2))
    _map(
        axes, moved - least, colours, [f"{number:+d}" if number else "0" for number in numbers],
        title="car rental: cars moved from\nthe first place to the second", across="cars at the first place",
        up="cars at the second place",
    )  # fmt: skip


def _frame(name, balls):
    """A frame after some steps at random, the first with so many balls."""
    env = gymnasium.make(name, render_mode="rgb_array")
    env.action_space.seed(0)
    observation, _ = env.reset(seed=0)
    for step in count():
        if step >= 20 and (not balls or int(np.sum(observation[:-1])) >= balls):
            break
        observation, *_ = env.step(env.action_space.sample())
    picture = env.render()
    env.close()
    return picture


if __name__ == "__main__":
    main()
