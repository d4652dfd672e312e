"""The same bits on every machine: rewards, policies and Q̂ of every combination of parts."""

from collections import defaultdict

import golden
import pytest

VECTORS = ("fourier", "tiles", "radial")


def grouped():
    """The cases by their algorithm and by whether Q-functions are tables or weights; agents by their environment."""
    groups = defaultdict(dict)
    for name, task in golden.cases():
        first, *_, last = name.split()
        kind = last if first == "agent" else "vectors" if last in VECTORS else "tables"
        groups[f"{first} {kind}"][name] = task
    return groups


GROUPS = grouped()


def test_every_case_was_recorded():
    assert {name for tasks in GROUPS.values() for name in tasks} == golden.known().keys()


@pytest.mark.parametrize("group", GROUPS)
def test_bits_are_those_recorded(group):
    found = {name: golden.measure(task) for name, task in GROUPS[group].items()}
    assert golden.differences(found, golden.known()) == {}
