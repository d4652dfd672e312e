"""What the documentation shows is run."""

import re
from pathlib import Path

import pytest

import aapi
from aapi.environments import ergodic
from aapi.experiments import Study, read_study, run_studies

DOCS = Path(__file__).parent.parent / "docs"
README = DOCS.parent / "README.md"
# What takes long in the README is run with less: nothing else of its code is changed.
LESS = {"agent.learn(100_000,": "agent.learn(5_000,", "num_steps=200_000, num_runs=50": "num_steps=2_000, num_runs=3"}


def blocks(language, page=DOCS / "experiments.md"):
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.S)


@pytest.mark.parametrize("code", blocks("python", README), ids=range(len(blocks("python", README))))
def test_the_python_of_the_readme_runs(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for much, little in LESS.items():
        code = code.replace(much, little)
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102


def test_there_is_python_in_the_readme_and_it_says_what_is_run_with_less():
    codes = blocks("python", README)
    assert len(codes) >= 3
    assert all(sum(much in code for code in codes) == 1 for much in LESS)


def test_learning_safely_runs_and_returns_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    codes = blocks("python", DOCS / "learning-safely.md")
    assert len(codes) == 5
    names = {}
    for code in codes:
        exec(compile(code, "learning-safely.md", "exec"), names)  # noqa: S102
        agent = names.get("agent")
        if "mask=[0, 1, 0]" in code:
            assert (agent.predict(5), agent.predict(1, mask=[0, 1, 0])) == (2, 1)
        elif "learn_from" in code:
            assert agent.policy[0].argmax(axis=1).tolist() == [0, 0, 0, 0, 2, 2]
        elif "explored_steps" in code:
            assert 0 < agent.explored_steps <= 250
    assert agent.num_steps == 15_000
    assert len((tmp_path / "changes.jsonl").read_text().splitlines()) > 50


def test_the_study_of_the_documentation_is_a_study(tmp_path, monkeypatch):
    (text,) = blocks("toml")
    ergodic(5).save(tmp_path / "queue.npz")
    (tmp_path / "my_module.py").write_text(
        "import aapi\n"
        "def my_algorithm(strength):\n"
        "    return aapi.GreedyAPI(phase_length=100 * strength, evaluate=aapi.evaluation.MonteCarlo(horizon=5))\n"
    )
    (tmp_path / "study.toml").write_text(text)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    cells = read_study(tmp_path / "study.toml").cells()
    assert len(cells) == (2 * 3 + 1 + 1) * (2 + 1)


def test_the_python_of_the_documentation_runs(tmp_path, monkeypatch):
    (code,) = blocks("python")
    monkeypatch.chdir(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "aapi.experiments.run_studies", lambda study, *_, **__: run_studies(shrunk(study), tmp_path / "out")
        )
        exec(compile(code, "experiments.md", "exec"), {})  # noqa: S102


def shrunk(study):
    import dataclasses

    return dataclasses.replace(study, steps=1000, runs=2, tuning_runs=1)


def test_the_skeletons_of_the_page_on_extending_run():
    code = "\n".join(re.findall(r"```python\n(.*?)```", (DOCS / "extending.md").read_text(), re.S))
    exec(compile(code, "extending.md", "exec"), {"__name__": "extending"})  # noqa: S102


def test_the_python_of_the_page_on_theory_runs():
    (code,) = re.findall(r"```python\n(.*?)```", (DOCS / "theory.md").read_text(), re.S)
    exec(compile(code, "theory.md", "exec"), {})  # noqa: S102


@pytest.mark.parametrize("name", ["theory", "results", "untuned", "models", "operations"])
def test_a_page_that_is_made_has_the_text_of_its_template(name):
    made = (DOCS / f"{name}.md").read_text()
    for text in re.split(r"<!-- .+? -->", (DOCS / f"{name}.template.md").read_text()):
        assert text in made, f"make {name}"


def test_the_python_of_the_page_without_tuning_runs():
    (code,) = re.findall(r"```python\n(.*?)```", (DOCS / "untuned.md").read_text(), re.S)
    exec(compile(code.replace("200_000", "2_000"), "untuned.md", "exec"), {})  # noqa: S102


def test_the_python_of_the_page_on_operations_prints_what_it_shows(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", (DOCS / "operations.md").read_text(), re.S)
    exec(compile(code, "operations.md", "exec"), {})  # noqa: S102
    assert f"```\n{capsys.readouterr().out}```" in (DOCS / "operations.md").read_text()


def test_the_python_of_the_page_on_reports_runs(results_folder, monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", (DOCS / "report.md").read_text(), re.S)
    monkeypatch.chdir(results_folder)
    exec(compile(code, "report.md", "exec"), {})  # noqa: S102
    assert list((results_folder / "figures").glob("*-one-column.pdf"))


def test_the_table_of_the_page_on_models_is_there():
    assert (DOCS / "models.md").read_text().count("| river-swim 6 |") >= 10


def test_the_python_of_the_page_on_models_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"```python\n(.*?)```", (DOCS / "models.md").read_text(), re.S))
    found = {}
    exec(compile(code, "models.md", "exec"), found)  # noqa: S102
    assert abs(found["solve"](found["model"]).gain - 11.0 / 3.0) < 1e-9
    assert found["best"].interval.lower < 11.0 / 3.0 < found["best"].interval.upper


def test_pictures_that_are_shown_are_there():
    root = DOCS.parent
    for page in (root / "README.md", *DOCS.glob("*.md")):
        for shown in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text()):
            assert (page.parent / shown).is_file(), f"{page.name} shows {shown}"


@pytest.fixture
def results_folder(tmp_path):
    algorithms = [{"name": "uniform"}]
    study = Study(name="s", problems=[{"name": "ergodic", "states": 3}], algorithms=algorithms, steps=200, runs=2)
    run_studies(study, tmp_path / "results")
    return tmp_path


def test_the_python_of_the_page_on_agents_runs(tmp_path, monkeypatch):
    environment, use = re.findall(r"```python\n(.*?)```", (DOCS / "agents.md").read_text(), re.S)
    monkeypatch.chdir(tmp_path)
    found = {"__name__": "shelf"}
    exec(compile(environment, "shelf.py", "exec"), found)  # noqa: S102
    found["gymnasium"].registry.pop("Shelf-v0")
    aapi.Agent(aapi.AAPI(), found["Shelf"]()).learn(3_000).save("shelf.aapi")
    exec(compile(use, "agents.md", "exec"), {})  # noqa: S102
    assert (tmp_path / "policy_reader.py").is_file()
