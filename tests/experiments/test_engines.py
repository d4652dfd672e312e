"""Threads, processes and a Dask cluster give the same stores, whoever dies on the way."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import processes
import pytest
from commands import run
from stores import contents, count, wait_until
from tasks import die, die_once, fail, nap

from aapi.errors import InvalidInput
from aapi.experiments import Store, run_studies
from aapi.experiments.agent_runs import run_seed
from aapi.experiments.engines import CrashedBatch, ResilientProcesses
from studies import long_study

TROUBLE = '''
import os
from pathlib import Path

import gymnasium
import numpy as np
from gymnasium import spaces


class Trouble(gymnasium.Env):
    """Random observations and rewards; with a seed that 3 divides, something happens at step 30."""

    observation_space = spaces.Box(0.0, 1.0, (2,), np.float64)
    action_space = spaces.Discrete(2)

    def __init__(self, kind, cure=""):
        self.kind, self.cure = kind, cure

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if seed is not None:
            self.ill, self.time = seed % 3 == 0, 0
        return self.np_random.random(2), {}

    def step(self, action):
        self.time += 1
        reward = float(self.np_random.random())
        if self.ill and self.time == 30 and not Path(self.cure).is_file():
            if self.kind == "exit":
                os._exit(7)
            if self.kind == "raise":
                raise RuntimeError("the arm\\\\nfell off")
            reward = float("nan")
        return self.np_random.random(2), reward, False, False, {}


gymnasium.register("Trouble-v0", entry_point=Trouble)
'''
GONE = """
import sys
from aapi.experiments import run_studies
from aapi.experiments.engines import EngineLost
from studies import long_study

if __name__ == "__main__":
    try:
        run_studies(long_study(), sys.argv[1], engine="dask", address=sys.argv[2])
    except EngineLost as error:
        print(error, file=sys.stderr)
        sys.exit(2)
"""
QUIET = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "silence_logs": "CRITICAL"}
RUNS = 4
ILL = [number for number in range(RUNS) if run_seed(0, number) % 3 == 0]


def errors(folder):
    """What is wrong with each run, by number."""
    with Store(folder, write=False) as store:
        return {row["run"]: row["error"] for row in store.rows()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What threads make of the study."""
    folder = tmp_path_factory.mktemp("threads")
    run_studies(long_study(), folder, engine="threads")
    return contents(folder)


@pytest.fixture(scope="module")
def cluster():
    """Two workers, each a process."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, **QUIET) as made:
        yield made


@pytest.mark.slow
def test_processes_make_the_same_store(tmp_path, whole):
    run_studies(long_study(), tmp_path, engine="processes", workers=2)
    assert contents(tmp_path) == whole


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_makes_the_same_store(tmp_path, whole, cluster):
    victim = cluster.workers[0].pid
    stored = []

    def kill():
        wait_until(lambda: count(tmp_path) > 0)
        os.kill(victim, signal.SIGKILL)
        stored.append(count(tmp_path))

    killer = threading.Thread(target=kill)
    killer.start()
    run_studies(long_study(), tmp_path, engine="dask", address=cluster.scheduler_address)
    killer.join()
    assert contents(tmp_path) == whole
    assert 0 < stored[0] < len(whole)
    wait_until(lambda: cluster.workers[0].pid not in (None, victim))


@pytest.mark.slow
def test_a_cluster_that_is_gone_is_one_line_and_the_rest_is_safe(tmp_path, whole):
    file, folder = tmp_path / "scheduler.json", tmp_path / "out"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    dask = [sys.executable, "-m", "dask"]
    options = ["--scheduler-file", file, "--no-dashboard"]
    with (
        processes.start([*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", *options], **quiet) as scheduler,
        processes.start([*dask, "worker", "--nthreads", "1", "--death-timeout", "30", *options], **quiet),
    ):
        wait_until(file.exists)
        wait_until(lambda: file.read_text().endswith("}"))
        command = [sys.executable, "-c", GONE, folder, json.loads(file.read_text())["address"]]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        with processes.start(command, env=environment) as process:
            wait_until(lambda: count(folder) > 0)
            scheduler.kill()
            _, err = process.communicate()
    assert (process.returncode, err.count("\n")) == (2, 1), err
    assert "the Dask cluster is gone" in err
    assert "all runs stored before are safe" in err
    assert 0 < len(contents(folder)) < len(whole)
    assert contents(folder).items() <= whole.items()


@pytest.mark.slow
def test_dask_without_an_address_starts_a_cluster(capsys, tmp_path):
    threads, dask = tmp_path / "threads", tmp_path / "dask"
    file = tmp_path / "study.toml"
    file.write_text('steps = 2000\nruns = 3\n[[problems]]\nname = "ergodic"\n[[algorithms]]\nname = "greedy"\n')
    for folder, more in ((threads, ["--engine", "threads"]), (dask, ["--engine", "dask", "--workers", "1"])):
        status, _, err = run(capsys, "sweep", str(file), "--out", str(folder), "--json", *more)
        assert (status, err) == (0, "")
    assert contents(dask) == contents(threads)


@pytest.mark.slow
def test_a_process_may_die_and_a_call_that_crashes_harms_no_other(tmp_path):
    pool = ResilientProcesses(2)
    naps = [pool.submit(nap, 0.1)]
    once, crashing = pool.submit(die_once, tmp_path / "died"), pool.submit(die)
    error = pool.submit(fail, "an error")
    naps += [pool.submit(nap, 0.1)]
    assert all(future.result(60) > 0 for future in naps)
    assert once.result(60) == "done"
    with pytest.raises(CrashedBatch, match="died 3 times"):
        crashing.result(60)
    with pytest.raises(LookupError, match="an error"):
        error.result(60)
    assert pool.submit(nap, 0.0).result(60) > 0, "the pool lives on"
    pool.shutdown()
    with pytest.raises(RuntimeError, match="after shutdown"):
        pool.submit(nap, 0.0)


@pytest.mark.slow
def test_shutting_down_waits_for_those_that_are_tried_again(tmp_path):
    with ResilientProcesses(1) as pool:
        once = pool.submit(die_once, tmp_path / "died")
    assert once.result(0) == "done"


@pytest.mark.slow
def test_what_is_cancelled_ends(tmp_path):
    pool = ResilientProcesses(1)
    futures = [pool.submit(die_once, tmp_path / "died"), *(pool.submit(nap, 0.2) for _ in range(6))]
    wait_until((tmp_path / "died").exists)
    pool.shutdown(wait=False, cancel_futures=True)
    wait_until(lambda: all(future.done() for future in futures), 30)


@pytest.mark.slow
def test_many_threads_may_submit_while_processes_die(tmp_path):
    found = []
    with ResilientProcesses(2) as pool:
        tasks = [
            threading.Thread(target=lambda i=i: found.append(pool.submit(die_once, tmp_path / f"{i // 2}").result(60)))
            for i in range(4)
        ]
        for task in tasks:
            task.start()
        for task in tasks:
            task.join()
    assert found == ["done"] * 4


@pytest.fixture
def trouble(tmp_path, monkeypatch):
    """A function that sweeps over an environment with a trouble of some kind."""
    (tmp_path / "trouble.py").write_text(TROUBLE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)

    def sweep(capsys, kind, *more):
        (tmp_path / "study.toml").write_text(
            f"""
            steps = 200
            runs = {RUNS}
            [[problems]]
            name = "trouble:Trouble-v0"
            arguments = {{ kind = "{kind}", cure = "cured" }}
            settings = {{ phase_length = 50 }}
            [[algorithms]]
            name = "greedy"
            """
        )
        status, out, err = run(capsys, "sweep", "study.toml", "--out", "out", "--workers", "2", *more)
        assert (status, err) == (0, "")
        return out

    yield sweep
    sys.modules.pop("trouble", None)


@pytest.mark.slow
def test_runs_that_kill_their_process_are_failed_and_not_tried_again_unless_asked(capsys, tmp_path, trouble):
    out = trouble(capsys, "exit")
    line = f"failed: {len(ILL)} of {RUNS} runs of greedy on trouble:Trouble-v0; run {ILL[0]}: its process died 3 times"
    assert line in out.splitlines()
    assert errors(tmp_path / "out") == {i: "its process died 3 times" if i in ILL else None for i in range(RUNS)}
    (tmp_path / "cured").touch()
    assert line in trouble(capsys, "exit").splitlines()
    assert json.loads(trouble(capsys, "exit", "--json"))["rows"][0]["failed"].keys() == {str(i) for i in ILL}
    assert "failed" not in trouble(capsys, "exit", "--retry-failed")
    assert errors(tmp_path / "out") == dict.fromkeys(range(RUNS))


@pytest.mark.parametrize(("kind", "says"), [("raise", "RuntimeError: the arm"), ("nan", "the reward is nan")])
def test_runs_with_errors_fail_alone(capsys, tmp_path, trouble, kind, says):
    out = trouble(capsys, kind, "--engine", "threads")
    (line,) = [line for line in out.splitlines() if line.startswith("failed: ")]
    assert line.startswith(
        f"failed: {len(ILL)} of {RUNS} runs of greedy on trouble:Trouble-v0; run {ILL[0]}: step 30: "
    )
    for number, error in errors(tmp_path / "out").items():
        assert (error is not None) == (number in ILL)
        assert error is None or (says in error and "\n" not in error)


@pytest.mark.slow
def test_a_script_without_a_guard_is_told_and_no_run_is_blamed(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from aapi.experiments import Study, run_studies\n"
        "study = Study(name='s', problems=[{'name': 'ergodic'}], algorithms=[{'name': 'greedy'}], steps=500, runs=2)\n"
        f"run_studies(study, {str(tmp_path / 'out')!r}, engine='processes', workers=1)\n"
    )
    done = processes.python(script)
    assert done.returncode == 1
    assert 'put what starts them below if __name__ == "__main__":' in done.stderr.splitlines()[-1]
    assert errors(tmp_path / "out") == {}


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_modules_beside_the_study_are_found_by_other_processes(capsys, tmp_path, monkeypatch, engine, cluster):
    monkeypatch.setattr(sys, "path", [*sys.path])
    name = f"own_{engine}"
    (tmp_path / f"{name}.py").write_text(
        "from dataclasses import dataclass\nimport aapi\nfrom aapi.evaluation import MonteCarlo\n"
        "@dataclass(frozen=True)\nclass Mine(MonteCarlo):\n    pass\n"
        "def make():\n    return aapi.AAPI(phase_length=100, eta=1.0, evaluate=Mine(horizon=10, ridge=1.0))\n"
    )
    (tmp_path / "study.toml").write_text(
        f'steps = 500\nruns = 2\n[[problems]]\nname = "ergodic"\n[[algorithms]]\nname = "m"\nmake = "{name}:make"\n'
    )
    more = ["--engine", engine, *(["--address", cluster.scheduler_address] if engine == "dask" else ["--workers", "1"])]
    status, _, err = run(capsys, "sweep", str(tmp_path / "study.toml"), "--out", str(tmp_path / "out"), "--json", *more)
    if engine == "dask":  # workers that were started elsewhere cannot have them, and say so
        assert (status, err.count("\n")) == (2, 1)
        assert f"No module named '{name}'" in err
    else:
        assert (status, err) == (0, "")
        assert errors(tmp_path / "out") == {0: None, 1: None}


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x", "tcp://"])
def test_a_wrong_address_is_told(tmp_path, monkeypatch, address):
    from aapi.experiments import cluster

    monkeypatch.setattr(cluster, "TIMEOUT", 1)
    start = time.monotonic()
    with pytest.raises(InvalidInput, match=f"no Dask scheduler answers at '{address}'") as caught:
        run_studies(long_study(1000, 2), tmp_path, engine="dask", address=address)
    assert "\n" not in str(caught.value)
    assert time.monotonic() - start < 15


@pytest.mark.slow
def test_a_cluster_without_workers_is_told(tmp_path, monkeypatch):
    from distributed import LocalCluster

    from aapi.experiments import cluster

    monkeypatch.setattr(cluster, "TIMEOUT", 1)
    with (
        LocalCluster(n_workers=0, **QUIET) as made,
        pytest.raises(InvalidInput, match="has no workers: start some"),
    ):
        run_studies(long_study(1000, 2), tmp_path, engine="dask", address=made.scheduler_address)


@pytest.mark.slow
def test_workers_with_other_sources_are_refused(tmp_path, monkeypatch, cluster):
    monkeypatch.setattr("aapi.experiments.cluster.source_version", lambda: "other")
    with pytest.raises(InvalidInput, match="and this machine sources other: install the same version on both"):
        run_studies(long_study(1000, 2), tmp_path, engine="dask", address=cluster.scheduler_address)
    assert count(tmp_path) == 0


def test_without_dask_it_is_said_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "aapi.experiments.cluster", raising=False)
    with pytest.raises(InvalidInput, match=r"needs Dask: pip install -e '\.\[dask\]'"):
        run_studies(long_study(1000, 2), tmp_path, engine="dask")
