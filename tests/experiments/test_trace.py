"""Learner traces: the same bits as the run that is in the store, stored beside it."""

import threading

import numpy as np
import pytest

import aapi
from aapi.environments import deep_sea
from aapi.experiments import Interrupted, Store, StoreError, Study, run_studies, summarise
from aapi.experiments.diagnostics import run_diagnostics
from aapi.experiments.engines import start_engine
from aapi.experiments.store import Run
from aapi.experiments.trace import FRAMES, frames, median_run, read_trace, stored_trace
from aapi.report.build_page_data import build_page_data, session_status
from studies import STUDY, TOGETHER


def traces(folder):
    with Store(folder, write=False) as store:
        query = "SELECT run, contents FROM insides WHERE run NOT LIKE 'regret%' ORDER BY rowid"
        rows = store.connection.execute(query).fetchall()
    return {key: read_trace(contents) for key, contents in rows}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traces")
    run_studies([STUDY, TOGETHER], folder)
    return folder


def test_tables_are_the_records_of_the_library(folder):
    cell = STUDY.cells()[0]
    with Store(folder, write=False) as store:
        plan = store.plans()[0]
        key = next(key for key in traces(folder) if key.split("-")[0] in plan.candidates)
    configuration = cell.candidates[plan.candidates.index(key.split("-")[0])]
    number = int(key.split("-")[-1])
    record = aapi.run(configuration.algorithm, deep_sea(4), 4000, 1, first_run=number, record=True).record
    trace = traces(folder)[key]
    assert trace.about["kind"] == "grid"
    assert (trace.about["shape"], trace.about["actions"], trace.about["run"]) == ([4, 4], ["left", "right"], number)
    places = trace.phases - 1
    for name, table in (
        ("policy", record.policies), ("q_hat", record.q_hats), ("temperature", record.temperatures),
        ("surprise", record.surprises),
    ):  # fmt: skip
        assert np.array_equal(trace.tables[name], table[0, places].astype(np.float32))
    length = configuration.algorithm.phase_length
    assert (trace.tables["visits"].sum(axis=1) == length).all()
    assert np.array_equal(trace.steps, length * trace.phases)


def test_each_algorithm_on_each_problem_once(folder):
    with Store(folder, write=False) as store:
        rows = {(row.plan.problem, row.plan.algorithm): row for row in summarise(store, store.plans()[:9]).rows}
        found = {what: read_trace(store.trace(median_run(row.runs).key)) for what, row in rows.items()}
    assert len(traces(folder)) == len(found) == 9
    assert [trace.about["kind"] for trace in found.values()] == ["grid"] * 3 + ["states"] * 3 + ["slice"] * 3
    assert found["deep-sea 4", "rlsvi"].tables.keys() == {"visits", "policy", "q_hat"}
    of_cartpole = found["cartpole, fourier:1", "aapi-paper"]
    assert of_cartpole.tables.keys() == {"visits", "policy", "q_hat", "temperature"}
    assert of_cartpole.tables["policy"].shape == (4, 33 * 33, 2)
    assert np.allclose(of_cartpole.tables["policy"].sum(axis=2), 1.0)
    assert (of_cartpole.tables["visits"].sum(axis=1) <= 250).all()


def test_no_trace_is_made_twice(folder, monkeypatch):
    before = {key: trace.tables["policy"].tobytes() for key, trace in traces(folder).items()}
    monkeypatch.setattr("aapi.experiments.diagnostics.trace_run", pytest.fail)
    run_studies([STUDY, TOGETHER], folder)
    assert {key: trace.tables["policy"].tobytes() for key, trace in traces(folder).items()} == before


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_every_engine_sees_the_same(folder, tmp_path, engine):
    small = Study(**vars(STUDY) | {"problems": [*STUDY.problems[:1]]})
    run_studies(small, tmp_path, engine=engine, workers=2)
    expected, found = traces(folder), traces(tmp_path)
    assert found
    for key, trace in found.items():
        for name, table in trace.tables.items():
            assert np.array_equal(table, expected[key].tables[name])


def test_what_goes_wrong_is_kept_and_nothing_is_lost(tmp_path, monkeypatch):
    def fail(*_):
        raise ValueError("no picture today")

    monkeypatch.setattr("aapi.experiments.diagnostics.trace_run", fail)
    summary = run_studies(TOGETHER, tmp_path)
    assert {row.rewards.count for row in summary.rows} == {2}
    assert all("no picture today" in trace.about["error"] for trace in traces(tmp_path).values())
    with Store(tmp_path, write=False) as store:
        assert session_status(store)["state"] == "done"
    monkeypatch.undo()
    run_studies(TOGETHER, tmp_path)  # tries again
    assert all("error" not in trace.about for trace in traces(tmp_path).values())


def test_diagnostics_stop_on_request(folder, tmp_path):
    cells = STUDY.cells()
    with Store(tmp_path) as store, start_engine("threads", 1) as engine:
        from aapi.experiments.scheduler import run_cells

        stop = threading.Event()
        run_cells(cells[:3], store, engine, stop)
        stop.set()
        with pytest.raises(Interrupted, match=r"all runs are stored in .*, but 6 diagnostics of them are left"):
            run_diagnostics(cells[:3], store, engine, stop)
    assert traces(tmp_path) == {}


@pytest.mark.parametrize("damage", ["contents = x'00'", "contents = x'00', checksum = 3523407757"])
def test_a_damaged_trace_is_reported_and_made_again(tmp_path, damage):
    run_studies(TOGETHER, tmp_path)
    before = {key: trace.tables["policy"].tobytes() for key, trace in traces(tmp_path).items()}
    with Store(tmp_path) as store:
        (key,) = store.connection.execute("SELECT run FROM insides WHERE run NOT LIKE 'regret%' LIMIT 1").fetchone()
        store.connection.execute(f"UPDATE insides SET {damage} WHERE run = ?", (key,))  # noqa: S608
        if "checksum" not in damage:
            with pytest.raises(StoreError, match="is damaged"):
                store.trace(key)
        assert stored_trace(store, key).about == {"error": "what was stored of it is damaged"}
        (notice,) = build_page_data(store, summarise(store, store.plans()))["notices"]
        assert notice.endswith("on deep-sea 4 has no learner trace: what was stored of it is damaged")
    run_studies(TOGETHER, tmp_path)
    assert {key: trace.tables["policy"].tobytes() for key, trace in traces(tmp_path).items()} == before


def test_an_older_store_has_none_and_gets_them(tmp_path):
    run_studies(TOGETHER, tmp_path)
    with Store(tmp_path) as store:
        store.connection.execute("DROP TABLE insides")
    with Store(tmp_path, write=False) as store:
        assert store.trace("any") is None
        assert store.version()
    run_studies(TOGETHER, tmp_path)
    assert traces(tmp_path)


def test_the_median_is_neither_the_best_nor_the_worst():
    rewards = [3.0, None, 1.0, 2.0, 9.0]
    runs = [Run(str(i), i, reward, 0.0, None if reward else "failed") for i, reward in enumerate(rewards)]
    assert median_run(runs).average_reward == 2.0
    assert median_run(runs[1:2]) is None


@pytest.mark.parametrize("num_phases", [1, 2, 10, 333, 100_000])
def test_frames_are_phases_from_the_first_to_the_last(num_phases):
    found = frames(num_phases)
    assert (found[0], found[-1]) == (1, num_phases)
    assert found == sorted(set(found))
    assert len(found) <= FRAMES
