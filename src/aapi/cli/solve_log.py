"""`aapi solve log.parquet`: the model of a log, its optimal policy, and intervals that say what the log knows."""

from __future__ import annotations

import json
import math
import sys
from typing import TYPE_CHECKING

from aapi.cli.text import plural, print_lines, print_table, printable
from aapi.progress import showing_progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aapi.json_types import JsonObject
    from aapi.mdp import EstimatedModel, EstimatedOptimum, GainInterval

SHOWN = 8  # pairs in a list of those tried too seldom


def read_model_of_log(path: str, continuing: bool, as_json: bool) -> EstimatedModel:
    """The model of the log in a file."""
    from aapi.mdp import estimate_model

    with showing_progress(not as_json and sys.stderr.isatty()):
        return estimate_model(path, continuing=continuing)


def print_log(name: str, model: EstimatedModel, policy_text: str, optimum: EstimatedOptimum, as_json: bool) -> None:
    """What a log says of the optimum. policy_text: the policy in words."""
    if as_json:
        print(json.dumps(_summary(model, optimum), allow_nan=False))
        return
    log = model.log
    counts = (len(log.states), "transition"), (log.num_states, "state"), (log.num_actions, "action")
    size = ": " + ", ".join(plural(*each) for each in counts)
    print_table(name, size, list(_rows(model, policy_text, optimum)))
    if lines := list(_too_little(model, optimum.interval)):
        print_lines("too little data", lines)


def _rows(model: EstimatedModel, policy_text: str, optimum: EstimatedOptimum) -> Iterator[tuple[str, str]]:
    interval, elsewhere = optimum.interval, optimum.elsewhere
    tried = int((model.tries > 0).sum())
    yield "pairs tried", f"{tried} of {model.tries.size} pairs of a state and an action"
    if model.log.dropped:
        yield "left out", f"{plural(model.log.dropped, 'row')} at ends of the log, which lead to where it never goes on"
    yield "average reward", f"{model.log.rewards.mean():.6g} in the log"
    some = f", of policies that take the {optimum.allowed.sum()} pairs tried 10 times or more"
    among = "" if optimum.allowed.all() else some
    yield "optimal gain", _interval(interval) + among if interval.known else f"unknown: {interval.reason}"
    yield "best policy", policy_text
    if interval.known:
        flattered = "in the model that chose it, which flatters it"
        yield "its gain", f"{optimum.gain_in_model:.6g} {flattered}"
        yield (
            "on other data",
            f"{elsewhere.gain:.6g}, {_interval(elsewhere)}: chosen on one half, evaluated on the other",
        )
        if interval.upper - interval.lower > float(model.log.rewards.max() - model.log.rewards.min()):
            yield "", "The interval is wider than all rewards seen: the log says next to nothing of the gain."


def _interval(interval: GainInterval) -> str:
    return f"in [{interval.lower:.6g}, {interval.upper:.6g}] with {100 * interval.level:g} %"


def _too_little(model: EstimatedModel, interval: GainInterval) -> Iterator[str]:
    """The pairs that the policy needs and that were tried too seldom."""
    if interval.never:
        yield "never tried, where the policy comes to: " + _pairs(model, interval.never, counted=False)
        yield "So nothing is known of the gain: log these pairs."
    if interval.rare:
        share = f", {100 * interval.rare_share:.0f} % of the policy's steps" if interval.rare_share else ""
        yield f"tried fewer than 10 times{share}: " + _pairs(model, interval.rare, counted=True)
        yield "What these do seldom may not be in the log, and then it is not in the interval."


def _pairs(model: EstimatedModel, pairs: Sequence[tuple[int, int]], *, counted: bool) -> str:
    log = model.log
    actions = log.action_names or [f"action {a}" for a in range(log.num_actions)]
    states = log.state_names or range(log.num_states)
    named = [f"{actions[a]} in {states[x]}" + (f" ({model.tries[x, a]})" if counted else "") for x, a in pairs[:SHOWN]]
    more = f", and {len(pairs) - SHOWN} more" if len(pairs) > SHOWN else ""
    return printable(", ".join(named)) + more


def _summary(model: EstimatedModel, optimum: EstimatedOptimum) -> JsonObject:
    """What `--json` prints; what is not known is None."""
    log, interval = model.log, optimum.interval
    return {
        "transitions": len(log.states),
        "states": log.num_states,
        "actions": log.num_actions,
        "state_names": list(log.state_names) if log.state_names else None,
        "action_names": list(log.action_names) if log.action_names else None,
        "pairs_tried": int((model.tries > 0).sum()),
        "left_out": log.dropped,
        "average_reward": float(log.rewards.mean()),
        "policy": optimum.policy.tolist(),
        "gain_in_model": _number(optimum.gain_in_model),
        "optimum": _limits(interval),
        "pairs_allowed": int(optimum.allowed.sum()),
        "on_other_data": {"gain": _number(optimum.elsewhere.gain), **_limits(optimum.elsewhere)},
        "never_tried": [list(pair) for pair in interval.never],
        "rarely_tried": [list(pair) for pair in interval.rare],
        "share_of_rare": interval.rare_share,
    }


def _limits(interval: GainInterval) -> JsonObject:
    limits: JsonObject = {name: _number(vars(interval)[name]) for name in ("lower", "upper", "level")}
    return limits | ({"reason": interval.reason} if interval.reason else {})


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
