"""Regret where rewards change, on the page, in results.md and for print: what the store and the library say."""

import pytest
from browser import plot

from aapi import theory
from aapi.environments import against_the_leader
from aapi.experiments import Store, Study, run_studies, summarise
from aapi.presets import problem_settings
from aapi.registry.algorithms import make_algorithm
from aapi.report.build_page_data import build_page_data
from aapi.report.figures import write_figures
from aapi.report.folder import write_pages

STEPS, RUNS = 100 * 256, 10
STUDY = Study(
    name="changing", steps=STEPS, runs=RUNS,
    problems=[{"name": "against-the-leader"}, {"name": "ergodic", "states": 3, "steps": 2000}],
    algorithms=[{"name": "aapi-paper"}, {"name": "greedy"}, {"name": "politex"}],
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("changing")
    run_studies([STUDY], made, workers=2)
    write_pages(made)
    return made


@pytest.fixture(scope="module")
def growths():
    """By the library alone."""
    problem = against_the_leader()
    learners = {
        name: make_algorithm(name, {}, problem_settings("against-the-leader", problem, name))[0]
        for name in ("aapi-paper", "greedy", "politex")
    }
    return theory.hindsight_growth(learners, problem, STEPS, RUNS).growth


def test_it_is_stored_once_and_is_what_the_library_says(folder, growths):
    with Store(folder, write=False) as store:
        found = build_page_data(store, summarise(store, store.plans()))["growth"]
    assert [each["algorithm"] for each in found] == list(growths)
    for each in found:
        growth = growths[each["algorithm"]]
        assert each["problem"] == "against-the-leader"
        assert each["steps"] == growth.steps.tolist()
        assert each["regret"]["mean"] == pytest.approx(growth.regrets.mean(axis=1), rel=1e-5)
        assert each["exponent"]["estimate"] == pytest.approx(growth.exponent.estimate, rel=1e-5)
        assert each["fitted"] == pytest.approx(growth.at(growth.steps), rel=1e-5)


def test_the_page_draws_it_on_logarithmic_axes_with_exponents(folder, growths, visit):
    page = visit(folder / "report.html")
    assert page.locator("#growth").is_visible()
    assert page.locator("nav a[href='#growth']").is_visible()
    assert page.locator("#growth-panels h3").all_inner_texts() == ["against-the-leader"]
    drawn = plot(page, "#growth-panels .plot")
    assert (drawn.kind, drawn.axis) == ("log", "regret")
    for name, growth in growths.items():
        (points,) = [each for each in drawn.traces if each["name"] == name]
        assert points["y"] == pytest.approx(growth.regrets.mean(axis=1), rel=1e-5)
        p = growth.exponent
        text = f"{p.estimate:.2f} [{p.lower:.2f}, {p.upper:.2f}]"
        (line,) = [each for each in drawn.traces if each["name"] == f"{name}: T^{text}"]
        assert line["line"]["color"] == points["marker"]["color"]
        assert text in page.locator(f"#growth-exponents tr:has(td:text-is('{name}'))").inner_text()
    assert sum(each["fill"] == "tonexty" for each in drawn.traces) == 3


def test_the_page_has_no_such_section_where_rewards_stay(page):
    assert not page.locator("#growth").is_visible()


def test_results_md_has_the_exponents(folder, growths):
    text = (folder / "results.md").read_text()
    p = growths["greedy"].exponent
    assert f"| against-the-leader | greedy | {RUNS} | {p.estimate:.2f} [{p.lower:.2f}, {p.upper:.2f}] |" in text


def test_it_is_drawn_for_print(folder, growths, tmp_path):
    paths = write_figures(folder, tmp_path, formats=("svg",), widths=("one-column",))
    (drawn,) = [path for path in paths if path.name == "growth-one-column.svg"]
    assert f"greedy: T^{growths['greedy'].exponent.estimate:.2f}" in drawn.read_text()
