import pytest

from aapi.environments.queueing import criss_cross_network
from aapi.registry import rules
from aapi.registry.rules import network_rules


def test_rules_that_are_simulated_earn_what_they_earn_exactly(monkeypatch):
    monkeypatch.setattr(rules, "EVENTS", 1_000_000)
    capped = criss_cross_network("IL", 12)
    exact, simulated = network_rules("criss-cross", capped, 1e-6), network_rules("criss-cross", capped, None)
    for name in exact.keys() & simulated.keys():
        gain, half_width = simulated[name]
        assert half_width < 0.02
        assert gain == pytest.approx(exact[name][0], abs=2.0 * half_width)
    assert len(exact.keys() & simulated.keys()) >= 5
    assert any(name.startswith("threshold") for name in simulated)
