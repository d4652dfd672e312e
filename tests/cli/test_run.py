import json
import os
import re
import time

import numpy as np
import processes
import pytest
from commands import run
from stores import wait_until

import aapi
from aapi.environments import deep_sea, ergodic
from aapi.evaluation import MonteCarlo
from aapi.mdp import policy_values


def test_json_is_what_the_library_gives(capsys):
    arguments = (
        "run deep-sea --size 6 --algorithm aapi-paper --eta 0.3 --phase-length 180 --horizon 12 --ridge 1 --steps 5000 "
        "--runs 5 --seed 3 --threads 2 --json"
    )
    status, out, err = run(capsys, *arguments.split())
    facts = json.loads(out)
    assert (status, err) == (0, "")
    algorithm = aapi.AAPI(phase_length=180, eta=0.3, evaluate=MonteCarlo(horizon=12, ridge=1.0))
    result = aapi.run(algorithm, deep_sea(6), 5000, 5, 3)
    average = result.average_reward[:, -1]
    assert facts["average_reward"]["mean"] == average.mean()
    assert facts["average_reward"]["std"] == average.std(ddof=1)
    assert facts["average_reward"]["worst"] == average.min()
    assert facts["optimal_gain"] == pytest.approx(1.5)
    assert facts["regret"]["mean"] == pytest.approx(5000 * (1.5 - average.mean()))
    assert facts["last_tenth"] == result.average_reward_since(0.9).mean()
    learnt = [policy_values(deep_sea(6), policy).gains[0] for policy in result.next_policy]
    assert facts["learnt_gain"] == {"mean": np.mean(learnt), "std": np.std(learnt, ddof=1), "worst": min(learnt)}
    assert (facts["runs"], facts["steps"]) == (5, 5000)
    assert facts["steps_per_second"] == pytest.approx(25_000 / facts["seconds"])


@pytest.mark.parametrize("evaluation", ["", "--evaluation lstd --exploration expeditions"])
def test_runs_with_different_numbers_of_phases_have_a_mean_surprise(capsys, evaluation):
    status, out, err = run(capsys, *f"run river-swim --steps 3000 --runs 4 --json {evaluation}".split())
    assert (status, err) == (0, "")
    assert json.loads(out)["surprise"] > 0.0


@pytest.mark.parametrize("algorithm", ["aapi", "aapi-paper", "politex", "ftrl", "greedy", "rlsvi", "psrl", "rmax"])
@pytest.mark.parametrize("problem", ["ergodic", "deep-sea --size 4", "river-swim", "access-control", "garnet"])
def test_every_algorithm_runs_on_every_problem_with_its_defaults(capsys, algorithm, problem):
    arguments = f"run {problem} --algorithm {algorithm} --steps 3000 --runs 2".split()
    status, out, err = run(capsys, *arguments)
    assert (status, err) == (0, "")
    assert "average reward" in out
    assert "optimum" in out
    assert max(map(len, out.splitlines())) <= 80


def test_every_option_is_passed_on(capsys):
    for arguments, settings in (
        ("--algorithm aapi-paper --norm span --sampled 5 --centre", {"norm": "span", "sampled": 5, "centre": True}),
        ("--algorithm politex --schedule sqrt --no-centre", {"schedule": "sqrt", "centre": False}),
        ("--algorithm rlsvi --form discounted --noise-variance 0.5", {"form": "discounted", "noise_variance": 0.5}),
        ("--evaluation exact --phase-length 7", {"evaluation": "exact", "phase_length": 7}),
        ("--features one-hot", {}),
    ):
        status, out, err = run(capsys, *f"run ergodic --steps 2000 --runs 1 --json {arguments}".split())
        assert (status, err) == (0, "")
        facts = json.loads(out)
        assert facts["settings"].items() >= settings.items()
        assert facts["average_reward"]["std"] == 0.0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("--algorithm aapi", {"phase_length": "growing", "eta": 0.3, "exploration": "expeditions+thompson"}),
        ("--evaluation lstd --trace 0.5 --norm span", {"evaluation": "lstd", "trace": 0.5}),
        ("--evaluation lspe --reuse phase", {"evaluation": "lspe", "reuse": "phase"}),
        ("--evaluation importance --window 500", {"evaluation": "importance", "window": 500, "horizon": 10}),
        ("--evaluation posterior --side-information predicted", {"side_information": "predicted"}),
        ("--algorithm greedy --evaluation self-consistent --bonus 0.1 --exploration uniform", {"bonus": 0.1}),
        ("--algorithm politex --evaluation self-consistent --phase-length growing", {"phase_length": "growing"}),
    ],
)
def test_parts_by_their_names(capsys, arguments, told):
    status, out, err = run(capsys, "run", "ergodic", "--steps", "3000", "--runs", "3", *arguments.split(), "--json")
    assert (status, err) == (0, "")
    facts = json.loads(out)
    assert facts["settings"].items() >= told.items()
    assert facts["surprise"] > 0.0
    assert (facts["conditioning"] is not None) == ("--evaluation ls" in arguments)
    assert (facts["explored"] > 0) == ("--evaluation" not in arguments or "--exploration" in arguments)


def test_a_model_file_runs(capsys, tmp_path):
    ergodic(5, 2).save(tmp_path / "model.npz")
    status, out, _ = run(capsys, "run", str(tmp_path / "model.npz"), "--steps", "2000", "--json")
    assert status == 0
    assert json.loads(out)["optimal_gain"] == pytest.approx(0.306735, abs=5e-7)


def test_huge_rewards_and_narrow_numbers_fit(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for scale in (1e200, 1e-5):
        rewards = np.array([[1.0, 0.0], [0.0, 2.0]]) * scale
        np.savez("big.npz", transitions=np.full((2, 2, 2), 0.5), rewards=-rewards)
        for arguments in (["--json"], []):
            status, out, err = run(capsys, "run", "big.npz", "--steps", "3000", *arguments)
            assert (status, err) == (0, "")
        assert max(map(len, out.splitlines())) <= 80
        assert "inf" not in out


def test_a_terminal_without_greek_still_gets_the_numbers():
    command = [*processes.AAPI, "run", "ergodic", "--algorithm", "aapi-paper", "--steps", "500", "--runs", "2"]
    done = processes.run(command, env={**os.environ, "PYTHONIOENCODING": "ascii"}, check=True)
    assert "average reward" in done.stdout
    assert "never improved" in done.stdout.replace("\n               ", "")
    assert done.stderr == ""


def test_ctrl_c_ends_at_once():
    with processes.start([*processes.AAPI, "run", "ergodic", "--steps", "2000000000", "--threads", "2"]) as process:
        wait_until(lambda: processes.worked(process.pid) > 3.0)  # seconds, in which it got to its long kernels
        start = time.monotonic()
        processes.interrupt(process)
        out, err = process.communicate()
        assert time.monotonic() - start < 3.0
    assert (process.returncode, out, err) == (130, "", "aapi run: interrupted\n")


def test_a_constant_curve_is_plotted(capsys, tmp_path):
    np.savez(tmp_path / "one.npz", transitions=np.ones((1, 1, 1)), rewards=[[0.0]])
    status, out, err = run(capsys, "run", str(tmp_path / "one.npz"), "--steps", "2000")
    assert (status, err) == (0, "")
    assert "optimum 0" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "--algorithm rlsvi --eta 1",
            "rlsvi takes --phase-length, --horizon, --form, --ridge, --noise-variance, --memory, not --eta",
        ),
        ("--algorithm greedy --norm sup", "greedy takes --phase-length, --evaluation, --horizon, --centre, --ridge"),
        ("--evaluation exact --ridge 1", "exact evaluation takes no --ridge"),
        ("--evaluation lstd --horizon 5", "lstd evaluation takes no --horizon"),
        ("--evaluation lstd --trace 1", "--trace must be below 1, not 1.0"),
        ("--evaluation self-consistent --prior 0", "--prior must be a finite number larger than 0, not 0.0"),
        (
            "--algorithm aapi-paper --side-information predicted",
            "--side-information predicted evaluates policies that have not acted yet, which --evaluation monte-carlo "
            "cannot: use self-consistent or lstd",
        ),
        ("--exploration discovery --exploration uniform", "argument --exploration: it is given twice; join parts by +"),
        ("--exploration discovry", "joined by +, not 'discovry' (did you mean discovery?)"),
        ("--algorithm polytex", "unknown algorithm 'polytex' (did you mean politex?): choose aapi"),
        ("--evaluation lsdt", "argument --evaluation: invalid choice: 'lsdt' (did you mean lstd?): choose monte-carlo"),
        ("--stpes 5", "aapi run: unrecognized arguments: --stpes 5 (did you mean --steps?)"),
        ("--features fourier:3", "--features must be one-hot, coordinates or aggregate:GROUPS, not 'fourier:3'"),
        ("--features agregate:3", "not 'agregate:3' (did you mean aggregate?)"),
        (
            "--exploration discovery+luck",
            "--exploration must be none, or of expeditions, thompson, discovery, posterior, fewest-visits, uniform",
        ),
        ("--phase-length long", "--phase-length: 'long' is neither a whole number nor growing"),
        (
            "--ridge 1",
            "--ridge belongs to --evaluation monte-carlo or importance or lstd or lspe: name it, or take aapi-paper",
        ),
        ("--algorithm sarsa", "unknown algorithm 'sarsa': choose aapi, aapi-paper, politex"),
        ("--algorithm untuned", "unknown algorithm 'untuned': it is now aapi (aapi.AAPI() without tuning;"),
        ("--algorithm aapi-paper --horizon 5000", "--horizon must be at most the phase length, 1000, not 5000"),
        ("--steps 0", "--steps must be at least 1, not 0"),
        ("--eta nan", "--eta must be a finite number larger than 0, not nan"),
        ("--features coordinates", "coordinates features need a model with coordinates"),
    ],
)
def test_bad_input_is_one_line_and_status_2(capsys, arguments, message):
    status, out, err = run(capsys, "run", "ergodic", *arguments.split())
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "cartpole --evaluation exact",
            "exact evaluation needs a finite model, and this problem has none: use --evaluation",
        ),
        ("cartpole --features aggregate:3", "--features must be one-hot, grid, fourier:ORDER, tiles:SIDExTILINGS or"),
        ("CartPole-v1", "CartPole-v1 is a Gymnasium environment: learn it with aapi train CartPole-v1"),
    ],
)
def test_what_does_not_fit_the_problem_is_told_in_the_words_of_the_command(capsys, arguments, message):
    status, out, err = run(capsys, "run", *arguments.split())
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_the_share_of_the_optimum_is_honest_where_rewards_are_negative(capsys):
    def earned(problem):
        status, out, _ = run(capsys, "run", *problem.split(), "--algorithm", "uniform", "--steps", "2000")
        assert status == 0
        return " ".join(out.split("last tenth")[0].split())

    assert re.search(r"average reward 0\.\d+ ± \S+, \d\d\.\d% of the optimum; worst", earned("ergodic"))
    share = re.search(r", (-?[\d.]+)% of the way from acting at random to the optimum", earned("deep-sea --size 6"))
    assert abs(float(share[1])) < 3.0
    assert "%" not in earned("cartpole")  # of its optimum only a bound is known
