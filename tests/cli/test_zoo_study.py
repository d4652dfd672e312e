import json
import re

import numpy as np
import pytest
from commands import run

from aapi.errors import InvalidInput
from aapi.experiments import reproduction
from aapi.experiments.reproduce import PRESETS, Preset
from aapi.registry import zoo as registered
from aapi.registry.zoo import zoo


@pytest.mark.parametrize("half", ["development", "reporting"])
def test_a_half_has_its_problems_and_no_other(half):
    for study in reproduction("zoo", "paper", half=half):
        problems = {str(table["name"]): table["steps"] for table in study.problems}
        assert (study.runs, study.seed != study.tuning_seed) == (10 if study.name.endswith("psrl") else 50, True)
        assert problems.items() <= {name: problem.num_steps for name, problem in zoo(half).items()}.items()
        if not study.name.endswith("psrl"):
            assert problems.keys() == zoo(half).keys()
            labels = [cell.plan.algorithm for cell in study.cells()][:3]
            assert labels == ["aapi", "greedy, same parts", "ucrl2b, tuned"]
            assert len(study.cells()[2].candidates) == 5
    with pytest.raises(InvalidInput, match="half must be development or reporting, not 'both'"):
        reproduction("zoo", half="both")


@pytest.fixture
def small(monkeypatch):
    few = ("Chain 12", "routing 8", "lock 10")
    monkeypatch.setattr(registered, "ZOO", {name: problem for name, problem in registered.ZOO.items() if name in few})
    preset = Preset(points=7, shorter=100, runs=2, tuning_runs=1, other_runs=1, other_tuning_runs=1)
    monkeypatch.setitem(PRESETS, "quick", preset)


def test_shares_and_lost_runs(small, capsys, tmp_path):
    arguments = ("reproduce", "zoo", "--runs", "4", "--out", str(tmp_path))
    status, out, _ = run(capsys, *arguments)
    assert status == 0
    assert re.search(r"^Chain 12 +aapi +0\.\d{3} +0\.\d{3} +\d\.\d{3} +\d of 4$", out, re.M)
    assert max(map(len, out.partition("zoo, development")[2].partition("\n\nThis took")[0].splitlines())) <= 80
    assert "zoo, development, psrl: 4 runs, tuned on 1 other" in out
    facts = json.loads(run(capsys, *arguments, "--json")[1])
    for row in facts["rows"]:
        earned, best, random = row["average_reward"]["mean"]["estimate"], row["optimal_gain"], row["random_gain"]
        expected = earned / best if best > 0 else (earned - random) / (best - random)
        assert row["share"] == pytest.approx(expected)
        assert row["worst_share"] <= row["share"]
        assert 0 <= row["runs_lost"] <= 4
    shares = {(row["problem"], row["algorithm"]): row["share"] for row in facts["rows"]}
    rival = max(shares["lock 10", "ucrl2b, tuned"], shares["lock 10", "psrl, tuned"])
    ratio = shares["lock 10", "greedy, same parts"] / rival
    assert re.search(rf"^lock 10 +greedy, same parts .* {ratio:.3f} ", out, re.M)
    assert np.isfinite(list(shares.values())).all()


def test_half_is_for_the_zoo(capsys):
    status, _, err = run(capsys, "reproduce", "untuned", "--half", "reporting")
    assert status == 2
    assert err == "aapi reproduce: --half is for the zoo: aapi reproduce zoo --half reporting\n"
