"""Keys of runs change with the code that the run uses, and with no other edit."""

import ast
import json
import shutil
from pathlib import Path

import pytest

import aapi
from aapi.experiments import Problem, Store, Study, configure, run_studies
from aapi.experiments.description import modules_in
from aapi.experiments.sources import SourceTree, _clean, _dump, library_sources, source_version

MONTE_CARLO = configure(Problem("ergodic"), "aapi-paper", {"eta": 0.3}, 1000)
EVALUATOR = "evaluation/monte_carlo.py"


@pytest.fixture
def copy(tmp_path):
    """A copy of the package, and a function that edits a file of it and returns the new version of a configuration."""
    folder = tmp_path / "aapi"
    shutil.copytree(Path(aapi.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))

    def edited(name, edit, configuration=MONTE_CARLO):
        path = folder / name
        path.write_text(edit(path.read_text()))
        return SourceTree(folder).version(modules_in(configuration.description))

    return edited


def version(configuration=MONTE_CARLO):
    return configuration.description["sources"]


def appended(text):
    return lambda source: source + text


def first_docstring_changed(source):
    start = source.index('"""')
    return source[:start] + '"""Other words.\n\nAnd more of them."""' + source[source.index('"""', start + 3) + 3 :]


def constant_changed(source):
    tree = ast.parse(source)
    number = next(
        node for node in ast.walk(tree) if isinstance(node, ast.Constant) and type(node.value) in (int, float)
    )
    number.value += 1
    return ast.unparse(tree)


def operator_changed(source):
    tree = ast.parse(source)
    operation = next(node for node in ast.walk(tree) if isinstance(node, ast.BinOp))
    operation.op = ast.FloorDiv()
    return ast.unparse(tree)


def test_the_version_of_a_configuration_is_that_of_its_modules(copy):
    assert copy(EVALUATOR, appended("")) == version() == source_version(modules_in(MONTE_CARLO.description))


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        (EVALUATOR, appended("\n\n# a comment\n")),
        (EVALUATOR, lambda source: source.replace("\n\n", "\n\n\n")),
        (EVALUATOR, lambda source: ast.unparse(ast.parse(source))),  # another layout, and no comments
        (EVALUATOR, first_docstring_changed),
        (EVALUATOR, lambda source: source.replace("class MonteCarlo:", "class MonteCarlo:  # a comment")),
        (EVALUATOR, lambda source: source.replace(" -> None:", " -> object:").replace(": int", ": float")),
        (EVALUATOR, lambda source: source.replace("if TYPE_CHECKING:", "if TYPE_CHECKING:\n    import os")),
        ("evaluation/lstd.py", operator_changed),  # another evaluator
        ("evaluation/__init__.py", appended('\n__all__ += ["more"]\n')),
        ("exploration/discovery.py", appended("\nMORE = 1\n")),
        ("environments/deep_sea.py", appended("\nMORE = 1\n")),
        ("learners/rlsvi.py", appended("\nMORE = 1\n")),
        ("agent/agent.py", appended("\nMORE = 1\n")),
        ("progress.py", appended("\nMORE = 1\n")),
        ("cli/text.py", appended("\nMORE = 1\n")),
        ("experiments/store.py", appended("\nMORE = 1\n")),
        ("__init__.py", lambda source: source.replace('__version__ = "', '__version__ = "9.')),
    ],
)
def test_what_cannot_change_a_run_leaves_its_version(copy, name, edit):
    assert copy(name, edit) == version()


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        (EVALUATOR, appended("\nMORE = 1\n")),
        (EVALUATOR, constant_changed),
        (EVALUATOR, operator_changed),
        (EVALUATOR, lambda source: source.replace("horizon: int", "horizon: ClassVar[int]", 1)),
        ("kernels/linalg.py", operator_changed),  # which the evaluator imports
        ("improvement/learning_rate.py", constant_changed),
        ("approximation/boltzmann.py", constant_changed),  # imported by what a part imports
        ("environments/ergodic.py", appended("\nMORE = 1\n")),
        ("kernels/random.py", appended("\nMORE = 1\n")),
        ("experiments/compiled_runs.py", appended("\nMORE = 1\n")),
    ],
)
def test_an_edit_of_what_a_run_uses_changes_its_version(copy, name, edit):
    assert copy(name, edit) != version()


def test_each_kind_of_problem_and_part_has_its_own_modules():
    agent = configure(Problem("FrozenLake-v1"), "greedy", {}, 500)
    lstd = configure(Problem("ergodic"), "aapi-paper", {"evaluation": "lstd"}, 1000)
    untuned = configure(Problem("ergodic"), "aapi", {}, 1000)
    modules = {
        name: library_sources().modules(modules_in(each.description))
        for name, each in {"compiled": MONTE_CARLO, "agent": agent, "lstd": lstd, "untuned": untuned}.items()
    }
    assert "aapi.evaluation.lstd" in modules["lstd"]
    assert "aapi.evaluation.lstd" not in [*modules["compiled"], *modules["agent"], *modules["untuned"]]
    assert {"aapi.evaluation.self_consistent", "aapi.exploration.expeditions"} <= set(modules["untuned"])
    assert {"aapi.experiments.agent_runs", "aapi.environments.continuing"} <= set(modules["agent"])
    assert not [name for name in modules["compiled"] if name.startswith(("aapi.agent", "aapi.registry", "aapi.cli"))]


def test_parts_of_the_user_may_use_all_of_the_library(copy, tmp_path, monkeypatch):
    (tmp_path / "my_rate.py").write_text(
        "from dataclasses import dataclass\nfrom aapi.improvement import Adaptive\n"
        "@dataclass(frozen=True)\nclass Mine(Adaptive):\n    pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from my_rate import Mine

    def make():
        evaluate = aapi.evaluation.MonteCarlo(horizon=10)
        return aapi.PolicyIteration(phase_length=100, evaluate=evaluate, learning_rate=Mine(1.0))

    own = configure(Problem("ergodic"), "own", {}, 1000, make=make)
    assert set(modules_in(own.description)) >= {"aapi", "aapi.learners.policy_iteration"}
    assert copy("cli/text.py", appended("\nMORE = 1\n"), own) == version(own)
    assert copy("evaluation/lstd.py", appended("\nMORE = 1\n"), own) != version(own)


def test_imports_are_followed_wherever_they_stand(tmp_path):
    folder = tmp_path / "aapi"
    files = {
        "__init__.py": "", "parts/__init__.py": "from aapi.parts.one import One\nfrom aapi.parts.two import Two\n",
        "parts/one.py": "class One: pass\n", "parts/two.py": "from . import one\nclass Two: one.One\n",
        "whole.py": "import aapi.parts as p\nuse(p)\n", "some.py": "def f():\n  from aapi import parts\n  parts.One\n",
        "relative.py": "from .parts import Two\n", "plain.py": "import aapi\naapi.parts.one.One\n",
    }  # fmt: skip
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    tree = SourceTree(folder)
    assert tree.modules(["aapi.some"]) == ["aapi.parts.one", "aapi.some"]
    assert tree.modules(["aapi.relative"]) == ["aapi.parts.one", "aapi.parts.two", "aapi.relative"]
    for name in ("whole", "plain"):
        assert tree.modules([f"aapi.{name}"]) == ["aapi.parts.one", "aapi.parts.two", f"aapi.{name}"]


def test_the_form_of_code_does_not_depend_on_the_version_of_python():
    """No field that only some versions have, nor one that is left out where it is empty, is in it."""
    code = 'def f(x: int = 1, *, y="ä") -> int:\n    """Text."""\n    return x + -1.0 if x else None\n'
    assert _dump(_clean(ast.parse(code))) == (
        "Module(body=[FunctionDef(name='f',args=arguments(args=[arg(arg='x')],kwonlyargs=[arg(arg='y')],"
        "kw_defaults=[Constant(value='\\xe4')],defaults=[Constant(value=1)]),"
        "body=[Return(value=IfExp(test=Name(id='x'),body=BinOp(left=Name(id='x'),op=Add(),"
        "right=UnaryOp(op=USub(),operand=Constant(value=1.0))),orelse=Constant()))])])"
    )


def test_only_runs_whose_code_has_changed_are_of_another_version(tmp_path):
    def summary(eta):
        study = Study(
            name="one", problems=[{"name": "ergodic"}], algorithms=[{"name": "aapi", "eta": eta}], steps=1000, runs=2
        )
        return run_studies(study, tmp_path)

    summary(0.1)
    assert summary(1.0).others == 0  # the others are not used, but they are what this version computes
    with Store(tmp_path) as store:
        changed = "UPDATE configurations SET description = json_set(description, '$.sources', '0123456789abcdef')"
        store.connection.execute(f"{changed} WHERE json_extract(settings, '$.eta') = 0.1")
    assert summary(1.0).others == 2
    with Store(tmp_path, write=False) as store:
        (plan,) = store.connection.execute("SELECT plan FROM sessions").fetchone()
    assert "together" in json.loads(plan)["lines"][0]  # as stores of all versions have it
