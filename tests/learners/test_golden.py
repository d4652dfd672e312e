"""The same bits on every machine: rewards, policies and Q̂ of every combination of parts."""

import json
import os
import sys
from collections import defaultdict
from pathlib import Path

import golden
import pytest
from processes import run

VECTORS = ("fourier", "tiles", "radial")
MASKED = (
    "aapi-sup exact one-hot", "aapi-sup lstd one-hot", "aapi-sup monte-carlo coordinates",
    "aapi-sup monte-carlo fourier", "aapi-sup posterior one-hot", "politex monte-carlo radial", "rlsvi relative sea",
    "kl-ucrl ergodic", "scal river", "ucrl2 sea", "ucrl2b queue", "untuned sea 12", "agent untuned box-queue",
    "aapi-sup horizon river expeditions+thompson",
)  # fmt: skip


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


@pytest.mark.slow
def test_a_processor_without_vector_instructions_computes_the_same(tmp_path):
    masked = {
        "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "AAPI_CACHE_DIR": str(tmp_path),
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX,-FMA,-FMA4,-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ",
        "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR AVX2 FMA3 AVX512F AVX512CD AVX512_SKX",
        "OPENBLAS_CORETYPE": "Prescott", "PYTHONPATH": str(Path(golden.__file__).parent), "PYTHONWARNINGS": "ignore",
    }  # fmt: skip
    script = (
        "import golden, json, sys;"
        "print(json.dumps({name: golden.measure(task) for name, task in golden.cases() if name in sys.argv}))"
    )
    done = run([sys.executable, "-c", script, *MASKED], env=os.environ | masked, seconds=300, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    assert set(found) == set(MASKED)
    assert golden.differences(found, golden.known()) == {}
