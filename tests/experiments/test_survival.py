"""Whatever stops a sweep, what it has stored stays, and the same command ends it with the same bits."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager

import numpy as np
import processes
import pytest
from commands import run
from processes import alive, interrupt, offspring
from stores import contents, count, wait_until

from aapi.experiments import read_study, run_studies
from aapi.experiments.description import digest, modules_in
from aapi.experiments.sources import source_version

STUDY = """
steps = {steps}
runs = {runs}
tuning_runs = 4

[[problems]]
name = "ergodic"
states = 10
actions = 2

[[problems]]
name = "deep-sea"
size = 6

[[algorithms]]
name = "aapi-paper"
eta = {{ from = 0.01, to = 10, points = {points} }}
tune = ["eta"]

[[algorithms]]
name = "politex"
eta = {{ from = 0.01, to = 10, points = {points} }}
tune = ["eta"]

[[algorithms]]
name = "greedy"
"""

# Many short lives: kernels are loaded once, by a little sweep, and each later one is a process forked from there.
WARM = """
import os, sys
from aapi.cli.main import main

main(sys.argv[1:])
for line in sys.stdin:
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.argv[1:] = line.split()
        os._exit(main(sys.argv[1:]))
    print(child, flush=True)
    sys.stdin.readline()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def write_study(folder, steps=200_000, runs=4, points=6):
    path = folder / f"study{steps}.toml"
    path.write_text(STUDY.format(steps=steps, runs=runs, points=points))
    return path


def finished(folder, **sizes):
    study = write_study(folder, **sizes)
    run_studies(read_study(study), folder / "whole")
    return study, contents(folder / "whole")


@pytest.fixture(scope="module")
def sweepable(tmp_path_factory):
    """A study with seconds of work in 30 tasks, and what comes of it undisturbed."""
    return finished(tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """As many runs, with little work."""
    return finished(tmp_path_factory.mktemp("wide"), steps=10_000)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The same with a blink of work."""
    return finished(tmp_path_factory.mktemp("small"), steps=5_000, runs=3, points=2)


def sweep(study, out, *more):
    return processes.start([*processes.AAPI, "sweep", study, "--out", out, *more])


def sound(folder):
    """Whether SQLite finds nothing wrong, and every run is there once."""
    with closing(sqlite3.connect(folder / "results.db")) as database:
        runs, names = database.execute("SELECT count(*), count(DISTINCT key) FROM runs").fetchone()
        return runs == names and database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def repeated(capsys, study, folder):
    """What is in the store after the command was given again, and let do."""
    status, _, err = run(capsys, "sweep", str(study), "--out", str(folder), "--json")
    assert (status, err) == (0, "")
    assert sound(folder)
    return contents(folder)


@contextmanager
def warm(small, out):
    """A function that starts a sweep and kills it when it is told to; it returns the exit status."""
    command = [sys.executable, "-c", WARM, "sweep", small, "--out", out, "--json"]
    with processes.start(command, stdin=subprocess.PIPE, stderr=None) as process:
        assert process.stdout.readline().startswith("{")

        def say(line):
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            return int(process.stdout.readline())

        def disturb(study, folder, moment):
            child = say(f"sweep {study} --out {folder} --json --workers 2")
            moment()
            os.kill(child, signal.SIGKILL)  # nobody has waited for it yet, so it is no other process
            return say("wait")

        yield disturb
        process.stdin.close()
        assert process.wait() == 0


@pytest.mark.slow
def test_twenty_kills_change_no_bit(capsys, tmp_path, sweepable, small):
    study, expected = sweepable
    folder, random, rows, statuses = tmp_path / "out", np.random.default_rng(1), [0], []

    def moment():
        """Some time after work began; or, every other time, after something was stored."""
        sessions, seconds = len(statuses) + 1, random.uniform(0.0, 0.3)
        wait_until(lambda: count(folder, "sessions") == sessions)
        if sessions % 2:
            wait_until(lambda: count(folder) > rows[-1] or rows[-1] == len(expected))
        time.sleep(seconds)

    with warm(small[0], tmp_path / "warm") as disturb:
        for _ in range(20):
            statuses.append(disturb(study, folder, moment))
            rows.append(count(folder))
            assert contents(folder).items() <= expected.items()
    assert set(statuses) <= {-signal.SIGKILL, 0}
    assert statuses.count(-signal.SIGKILL) >= 8
    assert rows == sorted(rows)
    assert sum(number < len(expected) for number in rows[1:]) >= 5
    assert len(set(rows)) >= 4
    assert repeated(capsys, study, folder) == expected


@pytest.mark.slow
def test_killed_processes_change_no_bit_and_leave_no_orphans(capsys, tmp_path, sweepable):
    study, expected = sweepable
    folder, rows = tmp_path / "out", []
    for seconds in (0.3, 0.0):
        before = count(folder)
        with sweep(study, folder, "--engine", "processes", "--workers", "2") as process:
            wait_until(lambda before=before: count(folder) > before)
            children = offspring(process.pid)
            time.sleep(seconds)
            process.kill()
            process.communicate()
            assert len(children) >= 2
            wait_until(lambda children=children: not any(map(alive, children)), 20)
        rows.append(count(folder))
        assert contents(folder).items() <= expected.items()
    assert 0 < rows[0] < len(expected)
    assert rows == sorted(rows)
    assert repeated(capsys, study, folder) == expected


@pytest.mark.slow
def test_only_one_process_writes_to_a_folder_and_others_read(capsys, tmp_path, sweepable):
    study, expected = sweepable
    folder = tmp_path / "out"
    with sweep(study, folder) as first:
        wait_until(lambda: count(folder) > 0)
        first.send_signal(signal.SIGSTOP)  # so that it is not through before the others have looked
        status, out, err = run(capsys, "sweep", str(study), "--out", str(folder))
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert f"another process is writing to {folder}" in err
        status, out, err = run(capsys, "export", str(folder), str(tmp_path / "runs.csv"), "--json")
        assert (status, err) == (0, "")
        exported = json.loads(out)["rows"]
        status, out, err = run(capsys, "export", str(folder), str(tmp_path / "curves.csv"), "--curves")
        assert (status, err) == (0, "")
        assert first.poll() is None, "all that was to be while it was running"
        first.send_signal(signal.SIGCONT)
        out, err = first.communicate()
    assert (first.returncode, err) == (0, "")
    assert 0 < exported < count(folder)
    assert contents(folder) == expected
    assert sound(folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "engine"), [(signal.SIGINT, "threads"), (signal.SIGINT, "processes"), (signal.SIGTERM, "threads")]
)
def test_a_request_to_stop_is_followed_and_says_how_to_go_on(capsys, tmp_path, sweepable, number, engine):
    study, expected = sweepable
    folder = tmp_path / "out"
    with sweep(study, folder, "--engine", engine, "--workers", "2") as process:
        wait_until(lambda: count(folder) > 0)
        children = offspring(process.pid)
        interrupt(process) if number == signal.SIGINT else process.send_signal(number)
        out, err = process.communicate()
        stored = count(folder)
        wait_until(lambda: not any(map(alive, children)), 20)
    command = f"aapi sweep {study} --out {folder} --engine {engine} --workers 2"
    assert (process.returncode, out) == (130, "")
    assert err.splitlines() == [
        "",
        "finishing the tasks in flight; Ctrl-C again stops at once",
        f"aapi sweep: interrupted; {stored} of about {len(expected)} runs are stored in {folder}; to go on: {command}",
    ]
    assert 0 < stored < len(expected)
    assert repeated(capsys, study, folder) == expected


@pytest.mark.slow
def test_the_second_ctrl_c_stops_at_once(capsys, tmp_path):
    study = write_study(tmp_path, steps=20_000_000, runs=4, points=2)  # half a minute for each task
    folder = tmp_path / "out"
    for engine in ("threads", "processes"):
        sessions = count(folder, "sessions")
        with sweep(study, folder, "--engine", engine, "--workers", "2") as process:
            wait_until(lambda sessions=sessions: count(folder, "sessions") > sessions)
            if engine == "processes":
                wait_until(lambda process=process: len(offspring(process.pid)) >= 3)  # a keeper and two workers
            time.sleep(1.0)
            children = offspring(process.pid)
            interrupt(process)
            assert process.stderr.readline() + process.stderr.readline() == (
                "\nfinishing the tasks in flight; Ctrl-C again stops at once\n"
            )
            start = time.monotonic()
            interrupt(process)
            out, err = process.communicate()
            assert time.monotonic() - start < 15.0  # a task in flight has longer to go
            assert (process.returncode, out, err) == (130, "", "aapi sweep: interrupted\n")
            wait_until(lambda children=children: not any(map(alive, children)), 20)
        assert contents(folder) == {}
        assert sound(folder)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_the_caller_ignores_stays_ignored(tmp_path, small, number):
    study, expected = small
    deaf = ["bash", "-c", 'trap "" INT TERM; exec "$@"', "bash"]  # as a job in the background is to Ctrl-C
    with processes.start([*deaf, *processes.AAPI, "sweep", study, "--out", tmp_path, "--json"]) as process:
        wait_until(lambda: count(tmp_path, "sessions") > 0)
        process.send_signal(number)
        assert process.communicate()[1] == ""
    assert process.returncode == 0
    assert contents(tmp_path) == expected


@pytest.mark.slow
def test_no_room_in_the_middle_is_one_line_and_the_rest_is_safe(capsys, tmp_path, wide):
    study, expected = wide
    folder = tmp_path / "out"
    little_room = ["bash", "-c", 'ulimit -f 146; exec "$@"', "bash"]  # no file of more than 146 KiB
    done = processes.run([*little_room, *processes.AAPI, "sweep", study, "--out", folder])
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    said = f"{folder / 'results.db'} could not be written to: disk I/O error; all runs stored before are safe"
    assert said in done.stderr
    assert "give the same command again" in done.stderr
    assert 0 < len(contents(folder)) < len(expected)
    assert contents(folder).items() <= expected.items()
    assert repeated(capsys, study, folder) == expected


def in_namespace(*lines):
    """Run a script where only it sees what it mounts."""
    command = [shutil.which("unshare") or "", "-rm", "sh", "-c"]
    if not command[0] or processes.run([*command, "true"]).returncode:
        pytest.skip("mounting needs unshare -rm, which is not allowed here")
    script = "\n".join(["set -e", *lines])
    return processes.run([*command, script])


@pytest.mark.slow
@pytest.mark.parametrize("size", ["20k", "200k"])
def test_a_full_disk_is_one_line_and_the_rest_is_safe(capsys, tmp_path, wide, size):
    study, expected = wide
    disk, saved = tmp_path / "disk", tmp_path / "saved"
    disk.mkdir()
    done = in_namespace(
        f"mount -t tmpfs -o size={size} none {disk}",
        f"{sys.executable} -m aapi sweep {study} --out {disk} || status=$?",
        f"cp -r {disk} {saved}",
        "exit $status",
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert f"{disk / 'results.db'} could not be " in done.stderr
    assert "all runs stored before are safe" in done.stderr
    if size == "200k":
        assert 0 < len(contents(saved)) < len(expected)
        assert contents(saved).items() <= expected.items()
    assert repeated(capsys, study, saved) == expected


@pytest.mark.slow
def test_a_read_only_folder_is_one_line_but_its_runs_are_read(tmp_path, small):
    study, expected = small
    disk = tmp_path / "disk"
    disk.mkdir()
    command = f"{sys.executable} -m aapi"
    done = in_namespace(
        f"mount -t tmpfs none {disk}",
        f"mount -o remount,ro {disk}",
        f"{command} sweep {study} --out {disk} || echo status $?",
        f"mount -o remount,rw {disk}",
        f"cp {study.parent / 'whole' / 'results.db'} {disk}",
        f"mount -o remount,ro {disk}",
        f"{command} sweep {study} --out {disk} || echo status $?",
        f"{command} export {disk} {tmp_path / 'runs.csv'} --json",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "status 2",
        "status 2",
        json.dumps({"file": str(tmp_path / "runs.csv"), "rows": len(expected)}),
    ]
    for line in done.stderr.splitlines():
        assert line.startswith(f"aapi sweep: {disk}")
        assert "nothing was changed" in line
    assert done.stderr.count("\n") == 2


def bad_input(capsys, *arguments):
    """The one line that the command says."""
    status, out, err = run(capsys, *map(str, arguments))
    assert (status, out, err.count("\n")) == (2, "", 1)
    return err


def test_what_is_in_the_way_of_a_folder_or_its_files_is_named(capsys, tmp_path, small):
    study, _ = small
    file = tmp_path / "file"
    file.write_text("mine")
    assert f"the folder {file}: File exists" in bad_input(capsys, "sweep", study, "--out", file)
    assert "no results" in bad_input(capsys, "export", file, tmp_path / "runs.csv")
    assert file.read_text() == "mine"
    assert "the folder /proc/none" in bad_input(capsys, "sweep", study, "--out", "/proc/none")
    assert "/proc could not be" in bad_input(capsys, "sweep", study, "--out", "/proc")
    for name in ("results.db", ".lock"):
        folder = tmp_path / f"with {name}"
        (folder / name).mkdir(parents=True)
        assert str(folder) in bad_input(capsys, "sweep", study, "--out", folder)
    assert "no results" in bad_input(capsys, "export", tmp_path / "with results.db", tmp_path / "runs.csv")


@pytest.fixture
def store(tmp_path, small):
    """A finished store to damage."""
    shutil.copytree(small[0].parent / "whole", tmp_path / "out")
    return tmp_path / "out"


def refused(capsys, study, folder, *says):
    """Neither writing nor reading does anything but say what is wrong, and what is safe."""
    path = folder / "results.db"
    before = path.read_bytes()
    for arguments in (["sweep", study, "--out", folder], ["export", folder, folder / "runs.csv"]):
        said = bad_input(capsys, *arguments)
        for part in (str(path), "nothing was changed", *says):
            assert part in said
        assert path.read_bytes() == before
    assert not (folder / "runs.csv").exists()


def test_a_store_of_another_format_is_left_alone(capsys, small, store):
    with closing(sqlite3.connect(store / "results.db")) as database:
        database.execute("UPDATE about SET value = '999' WHERE name = 'format'")
        database.commit()
    refused(capsys, small[0], store, "format 999")


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_database_of_something_else_is_left_alone(capsys, small, tmp_path, mode):
    with closing(sqlite3.connect(tmp_path / "results.db")) as database:
        database.execute(f"PRAGMA journal_mode = {mode}")
        database.execute("CREATE TABLE letters (words TEXT)")
        database.execute("INSERT INTO letters VALUES ('mine')")
        database.commit()
    refused(capsys, small[0], tmp_path, "something else")


def test_a_file_that_is_no_database_is_left_alone(capsys, small, tmp_path):
    (tmp_path / "results.db").write_text("Dear diary,\n" * 1000)
    refused(capsys, small[0], tmp_path, "not a database")


@pytest.mark.parametrize("part", [0.02, 0.3, 0.9])
def test_a_truncated_store_is_left_alone(capsys, small, store, part):
    whole = (store / "results.db").read_bytes()
    (store / "results.db").write_bytes(whole[: int(part * len(whole))])
    refused(capsys, small[0], store, "damaged")


def test_a_changed_curve_is_noticed_when_it_is_read(capsys, tmp_path, small, store):
    with closing(sqlite3.connect(store / "results.db")) as database:
        ((curve,),) = database.execute("SELECT cumulated FROM runs LIMIT 1")
    whole = bytearray((store / "results.db").read_bytes())
    place = whole.find(curve[40:120])
    assert place > 0
    whole[place + 16] ^= 1
    (store / "results.db").write_bytes(whole)
    said = bad_input(capsys, "export", store, tmp_path / "curves.csv", "--curves")
    assert f"{store / 'results.db'} is damaged (the curve of run " in said
    assert "nothing was changed" in said
    assert not (tmp_path / "curves.csv").exists()
    assert (store / "results.db").read_bytes() == whole
    status, _, err = run(capsys, "export", str(store), str(tmp_path / "runs.csv"))
    assert (status, err) == (0, "")


@pytest.mark.slow
def test_whatever_bytes_change_it_is_one_line_or_no_matter(capsys, tmp_path, store):
    path, chance = store / "results.db", np.random.default_rng(2)
    whole, said = path.read_bytes(), []
    for i in range(60):
        damaged = bytearray(whole)
        place = int(chance.integers(len(whole) if i % 3 else 6 * 4096))  # more in the schema and the settings
        damaged[place : place + 8] = chance.bytes(8)
        path.write_bytes(damaged[: len(whole)])
        status, _, err = run(capsys, "export", str(store), str(tmp_path / "curves.csv"), "--curves")
        assert (status, err.count("\n")) in ((0, 0), (2, 1)), err
        assert str(path) in err or not err
        assert path.read_bytes() == damaged[: len(whole)]
        said.append(status)
    assert 5 < said.count(2) < 55


def test_runs_of_other_sources_are_kept_and_done_anew(capsys, small, store):
    study, expected = small
    with closing(sqlite3.connect(store / "results.db")) as database:
        for key, text in database.execute("SELECT key, description FROM configurations").fetchall():
            description = json.loads(text)
            assert (digest(description), description["sources"]) == (key, source_version(modules_in(description)))
            description["sources"] = "0123456789abcdef"
            new = digest(description)
            row = (new, json.dumps(description), key)
            database.execute("UPDATE configurations SET key = ?, description = ? WHERE key = ?", row)
            database.execute(
                "UPDATE runs SET configuration = ?, key = ? || substr(key, 33) WHERE configuration = ?", (new, new, key)
            )
        database.commit()
    old = contents(store)
    assert not old.keys() & expected.keys()
    assert repeated(capsys, study, store) == old | expected
