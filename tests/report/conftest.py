"""A real browser, cut off from the network, and stores that real runs filled."""

import shutil
from types import SimpleNamespace

import pytest

from aapi.experiments import run_studies
from aapi.report.folder import write_pages
from studies import STUDY, TOGETHER


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    """A folder of results with its pages."""
    folder = tmp_path_factory.mktemp("results")
    run_studies([STUDY, TOGETHER], folder, workers=2)
    write_pages(folder)
    return folder


@pytest.fixture(scope="module")  # not longer: it has an event loop running, which others would take for theirs
def chromium():
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium is installed (Debian: apt install chromium), so the page is not tested in a browser")
    playwright = pytest.importorskip("playwright.sync_api")
    quiet = [
        "--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--no-first-run", "--disable-quic",
    ]  # fmt: skip
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=quiet)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def visits(chromium):
    """Open a page, from a file or from loopback, with nothing else to be reached; it must not complain.

    What it copies is in `page.copied()`.
    """
    opened = []

    def open_page(address, *, wait="#sentences p", **options):
        context = chromium.new_context(viewport={"width": 1280, "height": 900}, **options)
        page = context.new_page()
        seen = SimpleNamespace(context=context, complaints=[], requests=[])
        opened.append(seen)
        page.on("console", lambda message: seen.complaints.append(message.text) if message.type != "log" else None)
        page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        local = address if "://" in str(address) else address.resolve().as_uri()

        def gate(route):
            seen.requests.append(route.request.url)
            route.continue_() if route.request.url.startswith(local) else route.abort()

        context.route("**/*", gate)
        page.add_init_script("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
        page.seen = seen
        page.copied = lambda: page.evaluate("window.copied")
        page.goto(local)
        page.wait_for_selector(wait)
        return page

    yield open_page, opened
    for seen in opened:
        seen.context.close()


@pytest.fixture
def visit(visits):
    """Each test has pages of its own, and looks whether they complained."""
    open_page, opened = visits
    before = len(opened)
    yield open_page
    while len(opened) > before:
        seen = opened.pop()
        seen.context.close()
        assert seen.complaints == []


@pytest.fixture(scope="module")
def shared_page(visits, results):
    return visits[0](results / "report.html")


@pytest.fixture
def page(shared_page):
    """The page of all results, as the test before it left it: each says what it wants to see."""
    yield shared_page
    assert shared_page.seen.complaints == []
