"""What the tests rely on when they start other processes."""

import signal
import sys
import time

import processes
import pytest
from stores import wait_until

FAMILY = """
import subprocess, sys, time
print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"]).pid, flush=True)
time.sleep(100)
"""


@pytest.mark.parametrize("number", processes.SIGNALS)
def test_a_child_hears_signals_that_the_tests_were_started_deaf_to(number):
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with processes.start([sys.executable, "-c", "print('up', flush=True); import time; time.sleep(100)"]) as child:
            assert child.stdout.readline() == "up\n"
            child.send_signal(number)
            assert child.wait() == -number
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)


def test_an_error_ends_the_whole_family():
    family = []
    with pytest.raises(LookupError):
        fail_beside(family)
    wait_until(lambda: not any(map(processes.alive, family)), 10)


def fail_beside(family):
    with processes.start([sys.executable, "-c", FAMILY]) as child:
        family += [child.pid, int(child.stdout.readline())]
        assert family == [child.pid, *processes.offspring(child.pid)]
        assert all(map(processes.alive, family))
        raise LookupError


def test_a_child_that_ended_leaves_no_family_either():
    with processes.start([sys.executable, "-c", FAMILY.rpartition("time.sleep")[0]]) as child:
        left = int(child.stdout.readline())
        assert child.wait() == 0
        assert processes.alive(left)
    wait_until(lambda: not processes.alive(left), 10)


def test_time_is_limited_while_somebody_reads():
    start = time.monotonic()
    with (
        pytest.raises(AssertionError, match=r"after 0\.5 seconds it had not ended"),
        processes.start([sys.executable, "-c", FAMILY], seconds=0.5) as child,
    ):
        child.communicate()
    assert time.monotonic() - start < 50
