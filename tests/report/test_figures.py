"""Figures for print: what they show is what is stored, in all forms, and the same each time."""

import re
import sys
from dataclasses import replace

import numpy as np
import pytest
from commands import run
from matplotlib import pyplot

from aapi.errors import InvalidInput
from aapi.experiments import Store, Study, run_studies, summarise
from aapi.report.colours import DASHES, KNOWN, styles
from aapi.report.figures import _figures, _file_names, write_figures

TINY = Study(
    name="tiny", problems=[{"name": "ergodic", "states": 3}], algorithms=[{"name": "uniform"}], steps=200, runs=2
)


@pytest.mark.slow
def test_all_forms_and_sizes(tmp_path):
    run_studies(TINY, tmp_path / "results")
    paths = write_figures(tmp_path / "results", tmp_path / "figures")
    names = {path.name.removesuffix(path.suffix).rsplit("-", 2)[0] for path in paths}
    assert names == {"tiny-curves", "tiny-regret"}
    assert len(paths) == len(names) * 3 * 2 == len(list((tmp_path / "figures").iterdir()))
    starts = {".pdf": b"%PDF", ".svg": b"<?xml", ".png": b"\x89PNG"}
    for path in paths:
        assert path.read_bytes().startswith(starts[path.suffix])
    widths = {
        width: float(re.search(r'width="([\d.]+)pt"', (tmp_path / f"figures/tiny-curves-{width}.svg").read_text())[1])
        for width in ("one-column", "two-column")
    }
    assert widths == {"one-column": pytest.approx(3.35 * 72, abs=1), "two-column": pytest.approx(6.9 * 72, abs=1)}
    again = write_figures(tmp_path / "results", tmp_path / "again", formats=["svg", "pdf"], widths=["one-column"])
    for path in again:
        assert path.read_bytes() == (tmp_path / "figures" / path.name).read_bytes()


def test_lines_are_the_stored_means_in_the_colour_of_the_algorithm(results):
    with Store(results, write=False) as store:
        summary = summarise(store, store.plans())
        look = styles(row.plan.algorithm for row in summary.rows)
        figures = dict(_figures(store, summary, look, log_steps=True))
        rows = [r for r in summary.rows if (r.plan.study, r.plan.problem) == ("small", "deep-sea 4")]
        for name, sign in (("small-curves", 0), ("small-regret", 1)):
            figure, axes = pyplot.subplots()
            figures[name]["deep-sea 4"](axes, {})
            *lines, last = [line for line in axes.lines if line.get_linestyle() != ":"]
            for row, line in zip(rows, [*lines, last], strict=True):
                grid, _ = store.curve(row.runs[0].key)
                averages = np.array([store.curve(r.key)[1] / grid for r in row.runs]).mean(axis=0)
                x = line.get_xdata()
                found = averages[np.searchsorted(grid, x)]
                expected = x * (row.plan.optimal_gain - found) if sign else -found
                assert np.allclose(line.get_ydata(), expected)
                assert line.get_color() == look[row.plan.algorithm].colour == KNOWN[row.plan.algorithm][0]
            optimum = next(line for line in axes.lines if line.get_linestyle() == ":")
            assert set(optimum.get_ydata()) == {0.0 if sign else -rows[0].plan.optimal_gain}
            assert axes.get_xscale() == "log"
            pyplot.close(figure)


def test_names_that_look_like_formulas_and_files(tmp_path):
    algorithms = [{"name": "uniform", "label": label} for label in ("$\\frac{a$", "_hidden", "a" * 200)]
    run_studies(replace(TINY, name="../$x$/η", algorithms=algorithms), tmp_path / "results")
    paths = write_figures(tmp_path / "results", tmp_path / "figures", formats=["svg"], widths=["two-column"])
    assert {path.name for path in paths} == {"x-eta-curves-two-column.svg", "x-eta-regret-two-column.svg"}
    assert "$\\frac{a$" in paths[0].read_text()
    assert list(_file_names(["a b", "a-b", "A B", "…"]).values()) == ["a-b", "a-b-2", "a-b-3", "study"]


def test_candidates_that_are_no_numbers_stand_side_by_side(tmp_path):
    algorithms = [
        {"name": "aapi-paper", "norm": ["sup", "span"], "tune": ["norm"]},
        {"name": "politex", "eta": [10.0, 1.0], "tune": ["eta"]},
    ]
    run_studies(replace(TINY, algorithms=algorithms, tuning_runs=1), tmp_path)
    with Store(tmp_path, write=False) as store:
        summary = summarise(store, store.plans())
        figures = dict(_figures(store, summary, styles(["aapi-paper", "politex"]), log_steps=False))
    figure, axes = pyplot.subplots()
    figures["sensitivity"]["ergodic 3"](axes, {})
    assert axes.get_xscale() == "linear"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["sup", "span", "10", "1"]
    assert [list(line.get_xdata()) for line in axes.lines] == [[0, 1], [3, 2]]
    pyplot.close(figure)


def test_labels_have_styles_that_differ():
    labels = ["aapi", "politex", "rlsvi", *(f"mine {i}" for i in range(16))]
    found = styles(labels)
    assert len(set(found.values())) == len(labels)
    assert found["aapi"] == styles(["politex", "aapi"])["aapi"]
    assert {style.dash for style in found.values()} == set(DASHES)
    assert styles(["x"]) == styles(["x"])


@pytest.mark.slow
def test_sensitivity_and_scales(results, tmp_path):
    paths = write_figures(results, tmp_path, formats=["svg"], widths=["two-column"])
    assert {path.name for path in paths} == {
        f"{name}-two-column.svg" for name in ("small-curves", "small-regret", "sensitivity", "reward-scale")
    }
    text = (tmp_path / "sensitivity-two-column.svg").read_text()
    assert all(word in text for word in ("deep-sea 4", "cartpole", "politex", "score"))
    assert "rewards × 0.01" in (tmp_path / "reward-scale-two-column.svg").read_text()


@pytest.mark.slow
def test_the_command(capsys, results, tmp_path, monkeypatch):
    run_studies(TINY, tmp_path / "tiny")
    status, out, _ = run(capsys, "figures", str(tmp_path / "tiny"), "--format", "png", "--log-steps")
    assert (status, out) == (0, f"{tmp_path}/tiny/figures: 4 files\n")
    assert run(capsys, "figures", str(tmp_path / "none"))[0] == 2
    with pytest.raises(InvalidInput, match="a figure can be pdf, svg, png, not gif"):
        write_figures(results, tmp_path, formats=["gif"])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    status, _, error = run(capsys, "figures", str(results))
    assert (status, error) == (
        2,
        "aapi figures: figures need matplotlib: pip install -e '.[plots]' in the clone\n",
    )
