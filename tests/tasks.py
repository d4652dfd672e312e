"""Tasks for processes of a pool, which import this module by its name: it should be light."""

import os
import signal
import time
from pathlib import Path


def nap(seconds):
    time.sleep(seconds)
    return os.getpid()


def die_once(marker):
    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def die():
    os._exit(3)


def fail(marker):
    raise LookupError(marker)
