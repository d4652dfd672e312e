import pytest
from hypothesis import settings

# The same examples every time, and no wall clock: what fails here fails everywhere.
settings.register_profile("aapi", derandomize=True, deadline=None, max_examples=150)
settings.load_profile("aapi")


@pytest.fixture(autouse=True)
def no_lines_of_progress(monkeypatch):
    """On a slow machine a line would stand among what a command prints, now and then."""
    monkeypatch.setattr("aapi.progress.LINES", float("inf"))
