import dataclasses

import numpy as np
import pytest

import aapi
from aapi.errors import InvalidInput
from aapi.experiments import Store, Study, run_studies, summarise
from aapi.experiments.plan import choose, tuning_scores
from aapi.experiments.scheduler import BATCH_SECONDS
from aapi.experiments.worker import RunBatch, run_batch
from aapi.report.tables import closing_tables
from aapi.statistics import spread

SMALL = Study(
    name="small",
    problems=[{"name": "ergodic", "states": 5}, {"name": "deep-sea", "size": 4}],
    algorithms=[
        {"name": "aapi-paper", "eta": [0.1, 100.0], "tune": ["eta"]},
        {"name": "politex", "eta": 1.0},
        {"name": "rlsvi", "ridge": [0.1, 1.0], "tune": ["ridge"]},
    ],
    steps=5000,
    runs=4,
    tuning_runs=2,
)


def contents(folder):
    with Store(folder, write=False) as store:
        return {row["key"]: row["error"] or store.curve(row["key"])[1].tobytes() for row in list(store.rows())}


def test_a_study_gives_what_the_library_gives(tmp_path):
    summary = run_studies(SMALL, tmp_path, workers=2)
    for row, cell in zip(summary.rows, SMALL.cells(), strict=True):
        configuration = cell.candidates[row.chosen]
        result = aapi.run(configuration.algorithm, configuration.problem.make_model(), 5000, 4, 0)
        assert np.array_equal(row.averages, result.average_reward[:, -1])
        assert row.rewards == spread(result.average_reward[:, -1])
        assert row.plan.optimal_gain == result.optimal_gain
        assert row.regret == pytest.approx(result.regret[:, -1].mean())
        with Store(tmp_path, write=False) as store:
            grid, cumulated = store.curve(row.runs[2].key)
        assert np.array_equal(grid, result.grid)
        assert np.array_equal(cumulated, result.cumulated[2])


def test_the_choice_is_made_on_tuning_runs_alone(tmp_path):
    summary = run_studies(SMALL, tmp_path)
    cell = SMALL.cells()[0]
    expected = [
        aapi.run(c.algorithm, c.problem.make_model(), 5000, 2, 777).average_reward[:, -1].mean()
        for c in cell.candidates
    ]
    with Store(tmp_path, write=False) as store:
        assert list(tuning_scores(store, cell.plan)) == expected
    assert summary.rows[0].choice == {"eta": [0.1, 100.0][int(np.argmax(expected))]}
    (entry, _) = (e for e in summary.sensitivity if e["algorithm"] == "aapi-paper" and e["problem"] == "ergodic 5")
    assert (entry["candidate"], entry["mean"]) == ({"eta": 0.1}, expected[0])


def test_what_is_stored_is_not_done_again(tmp_path, monkeypatch):
    run_studies(SMALL, tmp_path)
    before = contents(tmp_path)
    assert len(before) == 2 * (2 * 2 + 4 + 4 + 2 * 2 + 4)
    monkeypatch.setattr("aapi.experiments.scheduler.run_batch", None)  # nothing may be called
    again = run_studies(SMALL, tmp_path)
    assert contents(tmp_path) == before
    assert [row.missing for row in again.rows] == [0] * 6
    monkeypatch.undo()
    more = run_studies(dataclasses.replace(SMALL, runs=6), tmp_path)
    assert {row.rewards.count for row in more.rows} == {6}
    assert contents(tmp_path).items() >= before.items()


def test_problems_tuned_together_share_the_best_choice_on_a_common_scale(tmp_path):
    shared = dataclasses.replace(
        SMALL,
        problems=[{"name": "ergodic", "states": 5, "reward_scale": [1.0, 100.0]}, {"name": "deep-sea", "size": 4}],
        algorithms=[{"name": "politex", "eta": [0.01, 1.0, 100.0], "tune": ["eta"], "together": True}],
    )
    summary = run_studies(shared, tmp_path)
    choices = {row.choice["eta"] for row in summary.rows}
    assert len(choices) == 1
    with Store(tmp_path, write=False) as store:
        scores, plans = [], store.plans()
        assert plans == [cell.plan for cell in shared.cells()]
        for plan in plans:
            random, best = plan.references
            scores.append((tuning_scores(store, plan) - random) / (best - random))
        assert choices == {[0.01, 1.0, 100.0][int(np.argmax(np.sum(scores, axis=0)))]}
        assert choose(store, plans) == int(np.argmax(np.sum(scores, axis=0)))


def test_problems_with_other_grids_are_not_tuned_together(tmp_path):
    entries = [{"name": "ergodic", "states": 5}, {"name": "ergodic", "states": 6}]
    entries[1]["settings_for"] = {"aapi-paper": {"eta": [50.0, 100.0]}}
    algorithms = [{"name": "aapi-paper", "eta": [0.1, 1.0], "tune": ["eta"], "together": True}]
    study = dataclasses.replace(SMALL, problems=entries, algorithms=algorithms)
    with pytest.raises(InvalidInput, match="problems with other grids cannot be tuned together"):
        run_studies(study, tmp_path)


def test_settings_that_are_words_can_be_tuned(tmp_path):
    algorithms = [{"name": "aapi-paper", "norm": ["sup", "span"], "evaluation": ["monte-carlo", "exact"]}]
    algorithms[0]["tune"] = ["norm", "evaluation"]
    study = dataclasses.replace(SMALL, algorithms=algorithms, problems=[{"name": "ergodic", "states": 5}], steps=2000)
    summary = run_studies(study, tmp_path)
    assert summary.rows[0].choice.keys() == {"norm", "evaluation"}
    assert any("norm s" in line for line in closing_tables(summary))


def test_where_all_policies_earn_the_same_there_is_no_score(tmp_path):
    study = dataclasses.replace(
        SMALL, problems=[{"name": "ergodic", "states": 5, "actions": 1}], algorithms=[{"name": "greedy"}]
    )
    assert run_studies(study, tmp_path).rows[0].score is None


def test_the_same_run_in_two_studies_is_tuning_for_both(tmp_path):
    one = dataclasses.replace(SMALL, algorithms=[{"name": "aapi-paper", "eta": [0.1, 1.0], "tune": ["eta"]}])
    two = dataclasses.replace(
        one,
        name="two",
        algorithms=[{"name": "aapi-paper", "label": "other", "eta": 0.1, "ridge": [0.1, 1.0], "tune": ["ridge"]}],
    )
    sensitivity = run_studies([one, two], tmp_path).sensitivity
    found = [
        (entry["algorithm"], *entry["candidate"].items()) for entry in sensitivity if entry["problem"] == "ergodic 5"
    ]
    assert found == [
        ("aapi-paper", ("eta", 0.1)), ("aapi-paper", ("eta", 1.0)), ("other", ("ridge", 0.1)),
        ("other", ("ridge", 1.0)),
    ]  # fmt: skip
    with pytest.raises(InvalidInput, match="studies must have different names"):
        run_studies([one, one], tmp_path)


def test_tuning_together_needs_a_known_optimum(tmp_path):
    study = dataclasses.replace(
        SMALL,
        problems=[{"name": "CartPole-v1"}, {"name": "ergodic"}],
        algorithms=[{"name": "politex", "eta": [1.0, 2.0], "tune": ["eta"], "together": True}],
    )
    with pytest.raises(InvalidInput, match="CartPole-v1 is none"):
        run_studies(study, tmp_path, engine="threads")


def test_a_partial_store_is_summarised_with_what_is_missing(tmp_path):
    cells = SMALL.cells()
    with Store(tmp_path) as store:
        plans, configuration = [cell.plan for cell in cells], cells[1].candidates[0]
        row = summarise(store, plans).rows[1]
        assert (row.rewards, row.missing) == (None, 4)
        batch = RunBatch(configuration, 0, (0, 2), label="politex")
        store.add(batch, run_batch(batch))
        row = summarise(store, plans).rows[1]
        assert (row.rewards.count, row.missing, [run.number for run in row.runs]) == (2, 2, [0, 2])


def test_runs_with_gaps_between_them_are_the_same_runs():
    configuration = SMALL.cells()[1].candidates[0]
    whole = run_batch(RunBatch(configuration, 3, (0, 1, 2, 3, 4)))
    gaps = run_batch(RunBatch(configuration, 3, (1, 2, 4)))
    for outcome in gaps:
        assert np.array_equal(outcome.cumulated, whole[outcome.number].cumulated)


@dataclasses.dataclass(frozen=True)
class Explosive(aapi.learners.Uniform):
    """Raises in some runs."""

    phase_length: int = 100

    def update(self, state, data):
        if any(stream.sum() % 3 == 0 for stream in data.streams):
            raise ZeroDivisionError("what a part may raise")
        return super().update(state, data)


def test_a_run_that_fails_is_counted_and_the_others_are_kept(tmp_path):
    study = dataclasses.replace(SMALL, algorithms=[{"name": "own", "make": Explosive}], runs=12, steps=200)
    summary = run_studies(study, tmp_path)
    row = summary.rows[0]
    assert 0 < len(row.failed) < 12
    assert row.rewards.count + len(row.failed) == 12
    assert "ZeroDivisionError: what a part may raise (test_scheduler.py, line" in next(iter(row.failed.values()))
    facts = summary.to_dict()["rows"][0]
    assert len(facts["failed"]) == len(row.failed)
    again = run_studies(study, tmp_path)
    assert again.rows[0].failed == row.failed


def test_expected_times_cut_work_into_tasks_that_keep_all_processors_busy():
    for name, sizes, algorithm in (
        ("ergodic", {}, "aapi-paper"),
        ("deep-sea", {"size": 20}, "rlsvi"),
        ("cartpole", {}, "aapi-paper"),
    ):
        configuration = aapi.experiments.configure(aapi.experiments.Problem(name, sizes), algorithm, {}, 20_000)
        (seconds,) = {outcome.seconds for outcome in run_batch(RunBatch(configuration, 0, (0,)))}
        assert 0.0 < configuration.expected_seconds < 10 * BATCH_SECONDS
        assert seconds > 0.0
