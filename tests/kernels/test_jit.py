"""The cache of compiled kernels can be stale, read-only, damaged or absent; results never change."""

import os
import shutil
from pathlib import Path

import processes
import pytest

import aapi

pytestmark = pytest.mark.slow  # all of them compile
SCRIPT = """
import sys
import numpy as np, numba
compiled = []
numba.core.event.register("numba:compile", type("L", (numba.core.event.Listener,), {
    "on_start": lambda self, event: None,
    "on_end": lambda self, event: compiled.append(event.data["dispatcher"].py_func.__name__)})())
import aapi
from aapi.evaluation import MonteCarlo
from aapi.environments import ergodic
result = aapi.run(aapi.AAPI(phase_length=20, evaluate=MonteCarlo(horizon=5)), ergodic(5, 2), 200, 2)
print(len(compiled), result.next_policy.tobytes().hex())
"""
INTERRUPTED = """
import signal, sys
from aapi.kernels.jit import kernel

@kernel
def double(x):
    return 2 * x

def trace(frame, event, argument):
    if frame.f_code.co_name == "_raw_object_cache_getbuffer":
        print("compiling")
        signal.raise_signal(signal.SIGINT)

sys.settrace(trace)
try:
    double(1.0)
except KeyboardInterrupt:
    sys.settrace(None)
    print("interrupted,", double(1.0))
"""


def run(cache, package=None):
    environment = {**os.environ, "AAPI_CACHE_DIR": str(cache)}
    if package is not None:
        environment["PYTHONPATH"] = str(package)
    done = processes.python("-c", SCRIPT, env=environment, check=True)
    assert done.stderr == ""
    count, policy = done.stdout.split()
    return int(count), policy


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache")
    compiled, policy = run(cache)
    assert compiled > 0
    return cache, policy


def test_a_warm_cache_compiles_nothing(warm):
    cache, policy = warm
    assert run(cache) == (0, policy)


def test_damaged_entries_are_compiled_anew(warm, tmp_path):
    shutil.copytree(warm[0], tmp_path / "cache")
    entries = sorted((tmp_path / "cache").rglob("*.kernel"))
    assert len(entries) >= 4
    damages = [lambda b: b[:100], lambda b: b"", lambda b: b[:-50] + bytes(50), lambda b: b"\0" + b[1:]]
    for entry, damage in zip(entries, damages, strict=False):
        entry.write_bytes(damage(entry.read_bytes()))
    compiled, policy = run(tmp_path / "cache")
    assert compiled > 0
    assert policy == warm[1]
    assert run(tmp_path / "cache") == (0, policy)


def test_one_flipped_byte_is_noticed(warm, tmp_path):
    shutil.copytree(warm[0], tmp_path / "cache")
    entry = next((tmp_path / "cache").rglob("*boltzmann*.kernel"))
    contents = bytearray(entry.read_bytes())
    contents[len(contents) // 2] ^= 1
    entry.write_bytes(contents)
    compiled, policy = run(tmp_path / "cache")
    assert compiled > 0
    assert policy == warm[1]


def test_a_cache_that_disappears_while_running_is_done_without(tmp_path):
    script = SCRIPT.replace("result =", "import shutil; shutil.rmtree(aapi.kernels.jit.cache_folder())\nresult =")
    environment = {**os.environ, "AAPI_CACHE_DIR": str(tmp_path)}
    processes.python("-c", script, env=environment, check=True)


def test_kernels_of_others_are_not_cached(tmp_path):
    script = tmp_path / "mine.py"
    for factor in (2, 1000):
        script.write_text(
            "from aapi.kernels.jit import kernel\n@kernel\ndef mine(x):\n    return x * FACTOR\n"
            f"FACTOR = {factor}\nprint(mine(1.0))"
        )
        environment = {**os.environ, "AAPI_CACHE_DIR": str(tmp_path)}
        assert float(processes.python(script, env=environment, check=True).stdout) == factor


def test_a_change_in_a_callee_in_another_file_is_seen(warm, tmp_path):
    package = tmp_path / "src"
    shutil.copytree(Path(aapi.__file__).parent, package / "aapi", ignore=shutil.ignore_patterns("__pycache__"))
    cache = tmp_path / "cache"
    assert run(cache, package)[1] == warm[1]
    source = package / "aapi" / "kernels" / "random.py"
    source.write_text(source.read_text().replace("UNIT = 2.0**-53", "UNIT = 2.0**-54"))
    compiled, policy = run(cache, package)
    assert compiled > 0
    assert policy != warm[1]


def test_a_folder_that_cannot_be_written_is_done_without(warm, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    compiled, policy = run(blocked / "cache")
    assert compiled > 0
    assert policy == warm[1]


def test_ctrl_c_while_llvm_calls_back_waits_until_all_is_compiled():
    done = processes.python("-c", INTERRUPTED)
    assert (done.returncode, done.stderr) == (0, "")
    assert set(done.stdout.splitlines()) == {"compiling", "interrupted, 2.0"}
