import numpy as np
import pytest

import aapi
from aapi.environments import ergodic
from aapi.errors import InvalidInput
from aapi.evaluation import MonteCarlo
from aapi.experiments import Problem, Study, configure, log_spaced, read_study

ETA = {"from": 0.01, "to": 100.0, "points": 13}


def study(**changes):
    given = {
        "name": "try",
        "problems": [{"name": "ergodic", "states": 5}],
        "algorithms": [{"name": "aapi-paper", "eta": 0.3}],
        "steps": 2000,
    }
    return Study(**(given | changes))


def test_thirteen_values_from_a_hundredth_to_a_hundred():
    expected = [0.01, 0.0215, 0.0464, 0.1, 0.215, 0.464, 1.0, 2.15, 4.64, 10.0, 21.5, 46.4, 100.0]
    assert log_spaced(0.01, 100.0, 13) == expected


def test_grids_that_are_not_tuned_are_crossed_and_those_that_are_become_candidates():
    cells = study(
        problems=[{"name": "ergodic", "states": [5, 10], "reward_scale": [1, 100]}],
        algorithms=[{"name": "aapi-paper", "eta": ETA, "horizon": [5, 10], "tune": ["eta"]}, {"name": "uniform"}],
    ).cells()
    assert len(cells) == 2 * 2 * (2 + 1)
    first = cells[0]
    assert first.algorithm == "aapi-paper, horizon 5"
    assert [candidate.settings["eta"] for candidate in first.candidates] == log_spaced(0.01, 100.0, 13)
    assert {candidate.settings["horizon"] for candidate in first.candidates} == {5}
    assert len(cells[2].candidates) == 1
    assert {(cell.problem.label, cell.problem.reward_scale) for cell in cells} == {
        (f"ergodic {states}", scale) for states in (5, 10) for scale in (1.0, 100.0)
    }


def test_settings_come_from_the_problem_then_the_algorithm_then_both():
    entry = {
        "name": "ergodic",
        "settings": {"ridge": 7.0, "horizon": 3, "eta": 9.0},
        "settings_for": {"rlsvi": {"horizon": 4}},
    }
    algorithms = [{"name": "aapi-paper", "eta": 0.5}, {"name": "rlsvi"}]
    ours, theirs = (cell.candidates[0] for cell in study(problems=[entry], algorithms=algorithms).cells())
    assert (ours.settings["ridge"], ours.settings["horizon"], ours.settings["eta"]) == (7.0, 3, 0.5)
    assert (theirs.settings["ridge"], theirs.settings["horizon"]) == (7.0, 4)
    assert "eta" not in theirs.settings


def test_a_file_says_the_same_as_python(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        'steps = 2000\nruns = 3\n[[problems]]\nname = "ergodic"\nstates = [5, 10]\n'
        '[[algorithms]]\nname = "aapi-paper"\neta = { from = 0.01, to = 100, points = 13 }\ntune = ["eta"]\n'
    )
    read = read_study(path)
    assert read.name == "mine"
    written = study(
        name="mine",
        runs=3,
        problems=[{"name": "ergodic", "states": [5, 10]}],
        algorithms=[{"name": "aapi-paper", "eta": ETA, "tune": ["eta"]}],
    )
    keys = [[[c.key for c in cell.candidates] for cell in each.cells()] for each in (read, written)]
    assert keys[0] == keys[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stepps = 5\n", "stepps is not known: a study takes name, problems, algorithms, steps"),
        ("steps = ", "is not TOML"),
        ("steps = 0\n", "steps must be at least 1, not 0"),
        ("seed = 777\n", "tuning_seed must differ from seed, 777"),
        ("runs = 2.5\n", "runs must be a whole number, not 2.5"),
        (
            '[[problems]]\nname = "ergodic"\nstats = 5\n',
            "[[problems]] 2: stats is not known: ergodic takes name, label, steps",
        ),
        ('[[problems]]\nname = "deepsea"\n', "unknown problem 'deepsea' (did you mean deep-sea?)"),
        ('[[problems]]\nname = "Nothing-v0"\n', "there is no environment 'Nothing-v0'"),
        ("[[problems]]\nsize = 5\n", "[[problems]] 2: name must name a problem: ergodic, deep-sea"),
        ('[[problems]]\nname = "ergodic"\nstates = 0\n', "[[problems]] 2: ergodic: states must be at least 3, not 0"),
        (
            '[[problems]]\nname = "ergodic"\nreward_scale = "big"\n',
            "[[problems]] 2: reward_scale must be a finite number",
        ),
        ('[[problems]]\nname = "ergodic"\nreward_scale = -1\n', "reward_scale must be a finite number larger than 0"),
        ('[[problems]]\nname = "ergodic"\nfeatures = "tile"\n', "features must be"),
        ('[[problems]]\nname = "ergodic"\nsettings = 5\n', "[[problems]] 2: settings must be a table"),
        ('[[problems]]\nname = "ergodic"\nsettings_for = { x = {} }\n', "settings_for.x names no algorithm"),
        ('[[problems]]\nname = "missing.npz"\n', "missing.npz does not exist"),
        (
            '[[algorithms]]\nname = "ppo"\n',
            "[[algorithms]] 2: name must be one of aapi, aapi-paper, politex, ftrl, greedy, rlsvi",
        ),
        (
            '[[algorithms]]\nname = "aapi-paper"\nschedule = "sqrt"\n',
            "[[algorithms]] 2: schedule is not known: aapi-paper takes",
        ),
        ('[[algorithms]]\nname = "aapi-paper"\neta = -1\n', "[[algorithms]] 2, aapi-paper on ergodic: eta must be"),
        ('[[algorithms]]\nname = "aapi-paper"\neta = nan\n', "eta must be a finite number"),
        ('[[algorithms]]\nname = "aapi-paper"\neta = []\n', "eta is a grid without values"),
        (
            '[[algorithms]]\nname = "aapi-paper"\neta = { from = 1 }\n',
            "eta must be a value, a list, or {from, to, points}",
        ),
        (
            '[[algorithms]]\nname = "aapi-paper"\ntune = ["eta"]\n',
            "[[algorithms]] 2, aapi-paper on ergodic: tune must list settings that have a value",
        ),
        ('[[algorithms]]\nname = "mine"\nmake = "no_such:thing"\n', "[[algorithms]] 2: make must be module:function"),
        ('[[algorithms]]\nname = "mine"\nmake = "json:loads"\ns = "x"\n', "loads cannot be called with {'s': 'x'}"),
        ('[[algorithms]]\nname = "aapi-paper"\ntune = [["eta"]]\n', "tune must list names of settings"),
        ('[[algorithms]]\nname = "aapi-paper"\ntune = "eta"\n', "tune must be a list, not 'eta'"),
        ('[[algorithms]]\nname = "aapi-paper"\nlabel = ["x"]\n', "label must be a text, not ['x']"),
        ('[[algorithms]]\nname = "aapi-paper"\ntogether = "no"\n', "together must be true or false, not 'no'"),
        ('[[algorithms]]\nname = "aapi-paper"\neta = true\n', "eta must be a finite number larger than 0, not True"),
        ('[[algorithms]]\nname = "greedy"\n', "two entries are greedy on ergodic: give one a label"),
        ('[[algorithms]]\nname = "aapi-paper"\neta = { from = 1, to = inf, points = 3 }\n', "eta needs 0 < from < to"),
        ('[[algorithms]]\nname = "aapi-paper"\neta = { from = 1, to = 2, points = 2.5 }\n', "a whole number of points"),
        (
            '[[algorithms]]\nname = "aapi-paper"\neta = { from = 1, to = 2, points = 30000000 }\n',
            "points from 2 to 10000",
        ),
        ('[[algorithms]]\nname = "aapi-paper"\neta = { from = "a", to = 2, points = 3 }\n', "eta needs numbers"),
        ('[[problems]]\nname = "ergodic"\nfeatures = 3\n', "features must be a name such as one-hot"),
        ('[[problems]]\nname = "mine"\nmodel = "x.npz"\n', "model must be a FiniteMDP, ChangingRewards or a Cont"),
        ('[[problems]]\nname = "ergodic"\nsettings_for = { greedy = 3 }\n', "settings_for.greedy must be a table"),
        ('[[problems]]\nname = "ergodic"\nsettings = { foo = 1 }\n', "settings.foo is taken by no algorithm"),
        ('[[problems]]\nname = "ergodic"\nsteps = true\n', "steps must be a whole number, not True"),
        ("name = 5\n", "name must be a text, not 5"),
        ('name = "a\\u202eb"\n', "name must be a text that can be printed, not"),
        ('[[algorithms]]\nname = "aapi-paper"\nlabel = "a\\u0007b"\n', "label must be a text that can be printed, not"),
    ],
)
def test_a_mistake_in_a_file_names_the_key_and_what_is_allowed(tmp_path, text, message):
    good = '[[problems]]\nname = "ergodic"\n[[algorithms]]\nname = "greedy"\n'
    path = tmp_path / "study.toml"
    path.write_text(text + good if "[[" not in text else good + text)
    with pytest.raises(InvalidInput) as caught:
        read_study(path).cells()
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_text_or_not_there_is_said(tmp_path):
    path = tmp_path / "study.toml"
    with pytest.raises(InvalidInput, match="cannot be read: No such file"):
        read_study(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput, match="not a text in UTF-8"):
        read_study(path)
    path.write_text("steps = 5\n")
    with pytest.raises(InvalidInput, match="problems must be one or more tables"):
        read_study(path).cells()


def test_an_algorithm_of_ones_own_beside_the_file(tmp_path):
    (tmp_path / "my_part.py").write_text(
        "import aapi\n"
        "def slow(eta):\n"
        "    return aapi.Politex(phase_length=500, eta=eta, evaluate=aapi.evaluation.MonteCarlo(horizon=5))\n"
    )
    path = tmp_path / "study.toml"
    path.write_text(
        'steps = 2000\n[[problems]]\nname = "ergodic"\n[[algorithms]]\nname = "slow"\nmake = "my_part:slow"\n'
        'eta = [1.0, 2.0]\ntune = ["eta"]\n'
    )
    (cell,) = read_study(path).cells()
    assert cell.candidates[1].algorithm == aapi.Politex(
        phase_length=500, eta=2.0, evaluate=MonteCarlo(horizon=5)
    )  # fmt: skip


def test_keys_tell_apart_all_that_determines_a_run_and_nothing_else(tmp_path):
    base = configure(Problem("ergodic"), "aapi-paper", {"eta": 0.3}, 1000)
    assert base.key == configure(Problem("ergodic", {}), "aapi-paper", {"eta": 0.3, "horizon": 10}, 1000).key
    others = [
        configure(Problem("ergodic", {"states": 6}), "aapi-paper", {"eta": 0.3}, 1000),
        configure(Problem("ergodic", reward_scale=2.0), "aapi-paper", {"eta": 0.3}, 1000),
        configure(Problem("ergodic"), "aapi-paper", {"eta": 0.4}, 1000),
        configure(Problem("ergodic"), "ftrl", {"eta": 0.3}, 1000),
        configure(Problem("ergodic"), "aapi-paper", {"eta": 0.3}, 1001),
        configure(Problem("ergodic"), "aapi-paper", {"eta": 0.3}, 1000, "one-hot"),
    ]
    assert len({c.key for c in [base, *others]}) == 7
    model = ergodic(5)
    model.save(tmp_path / "a.npz")
    model.save(tmp_path / "b.npz")
    files = [configure(Problem(str(tmp_path / name)), "aapi-paper", {}, 1000) for name in ("a.npz", "b.npz")]
    given = configure(Problem("mine", model=model), "aapi-paper", {}, 1000)
    assert files[0].key == files[1].key == given.key
    assert given.key != configure(Problem("mine", model=model.scaled(2.0)), "aapi-paper", {}, 1000).key


def test_references_of_problems():
    random, best = Problem("ergodic", {"states": 10, "actions": 2}).references()
    assert random == pytest.approx(0.099062, abs=1e-6)
    assert best == pytest.approx(0.210478, abs=1e-6)
    random, best = Problem("cartpole", reward_scale=100.0).references()
    assert random == pytest.approx(-616.0, abs=15.0)
    assert best == pytest.approx(99.5)


def test_scaled_problems_pay_in_proportion():
    env = aapi.environments.cartpole()
    algorithm = aapi.learners.Uniform()
    plain, scaled = (aapi.run(algorithm, e, 3000, 2, 1) for e in (env, env.scaled(4.0)))
    assert np.array_equal(scaled.cumulated, 4.0 * plain.cumulated)
    model = aapi.environments.deep_sea(5)
    plain, scaled = (aapi.run(algorithm, e, 3000, 2, 1) for e in (model, model.scaled(4.0)))
    assert np.array_equal(scaled.cumulated, 4.0 * plain.cumulated)
    assert np.array_equal(model.scaled(4.0).coordinates, model.coordinates)


def test_modules_and_models_are_found_beside_the_file_from_anywhere(tmp_path, monkeypatch):
    folder = tmp_path / "sub"
    folder.mkdir()
    ergodic(5).save(folder / "queue.npz")
    (folder / "lakes.py").write_text(
        "import gymnasium\nfrom gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv\n"
        "gymnasium.register('OwnLake-v0', entry_point=FrozenLakeEnv)\n"
    )
    (folder / "study.toml").write_text(
        'steps = 500\n[[problems]]\nname = "queue.npz"\n[[problems]]\nname = "lakes:OwnLake-v0"\n'
        '[[algorithms]]\nname = "greedy"\n'
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    labels = [cell.problem.label for cell in read_study("sub/study.toml").cells()]
    assert labels == ["queue.npz", "lakes:OwnLake-v0"]


def test_functions_are_given_the_settings_that_they_take():
    def mine(eta, horizon=3):
        return aapi.Politex(phase_length=100, eta=eta, evaluate=MonteCarlo(horizon=horizon))

    entry = {"name": "ergodic", "settings": {"ridge": 2.0, "horizon": 7}}
    algorithms = [{"name": "mine", "make": mine, "eta": 1.0}, {"name": "greedy"}]
    own, other = study(problems=[entry], algorithms=algorithms).cells()
    assert own.candidates[0].settings == {"eta": 1.0, "horizon": 7}
    assert other.candidates[0].settings["ridge"] == 2.0


def test_entries_that_would_be_called_the_same_need_labels():
    entries = [{"name": "FrozenLake-v1", "ending": 0.0}, {"name": "FrozenLake-v1", "ending": -1.0}]
    with pytest.raises(InvalidInput, match="two entries are aapi-paper on FrozenLake-v1: give one a label"):
        study(problems=entries).cells()
    entries = [{"name": "ergodic", "settings": {"horizon": 5}}, {"name": "ergodic", "settings": {"horizon": 6}}]
    with pytest.raises(InvalidInput, match="two entries are aapi-paper on ergodic: give one a label"):
        study(problems=entries).cells()
    entries[1]["label"] = "longer"
    assert [cell.problem.label for cell in study(problems=entries).cells()] == ["ergodic", "ergodic, longer"]


def test_too_many_combinations_are_refused_at_once():
    wide = {"from": 0.01, "to": 100.0, "points": 200}
    algorithm = {
        "name": "aapi-paper",
        "eta": wide,
        "ridge": wide,
        "horizon": list(range(1, 11)),
        "tune": ["eta", "ridge"],
    }
    with pytest.raises(InvalidInput, match="eta, ridge have more than 20000 combinations"):
        study(algorithms=[algorithm]).cells()


def test_exact_evaluation_needs_a_model():
    with pytest.raises(InvalidInput, match="exact evaluation needs a finite model, and this problem has none"):
        study(problems=[{"name": "FrozenLake-v1"}], algorithms=[{"name": "aapi-paper", "evaluation": "exact"}]).cells()
