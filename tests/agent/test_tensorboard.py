import processes
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from aapi.agent import TensorBoard


def read(folder):
    events = EventAccumulator(str(folder))
    events.Reload()
    return {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def test_every_phase_is_logged(agent, tmp_path):
    board, phases = TensorBoard(tmp_path / "log"), []

    def log(progress):
        phases.append(progress)
        board(progress)

    agent().learn(170, callback=log)
    logged = read(tmp_path / "log")  # what is logged can be read while learning goes on
    board.close()
    assert set(logged) == {
        "reward/phase", "reward/overall", "speed/steps_per_second", "episodes/number", "episodes/length",
    }  # fmt: skip
    assert [step for step, _ in logged["reward/phase"]] == [50, 100, 150]
    assert [value for _, value in logged["reward/phase"]] == pytest.approx([phase.average_reward for phase in phases])
    assert [value for _, value in logged["reward/overall"]] == pytest.approx([phase.overall_reward for phase in phases])
    numbers = dict(logged["episodes/number"])
    lengths = dict(logged["episodes/length"])
    for phase in phases:
        assert numbers.get(phase.steps, 0.0) == len(phase.episodes)
        if phase.episodes:
            mean = sum(episode["length"] for episode in phase.episodes) / len(phase.episodes)
            assert lengths[phase.steps] == pytest.approx(mean)
    assert all(value > 0.0 for _, value in logged["speed/steps_per_second"])


def test_a_second_run_adds_to_a_log(agent, tmp_path):
    learner = agent()
    for _ in range(2):
        board = TensorBoard(tmp_path)
        learner.learn(50, callback=board)
        board.close()
    assert [step for step, _ in read(tmp_path)["reward/phase"]] == [50, 100]


def test_without_the_extra_there_is_a_hint(tmp_path):
    code = (
        "import sys; sys.modules['tensorboard'] = None\n"
        "from aapi.cli.main import main\n"
        "sys.exit(main(['train', 'CartPole-v1', '--steps', '10', '--tensorboard', 'log']))"
    )
    done = processes.python("-c", code, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == "aapi train: logging to TensorBoard needs the extra: pip install -e '.[tensorboard]' in the clone\n"
    )
    assert list(tmp_path.iterdir()) == []
