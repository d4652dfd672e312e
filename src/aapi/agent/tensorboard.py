"""Learning curves for TensorBoard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aapi.errors import InvalidInput, install_extra

if TYPE_CHECKING:
    import os

    from aapi.agent.agent import Progress


class TensorBoard:
    """A callback that writes rewards, episodes and speed to a folder that TensorBoard reads."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        try:
            from tensorboard.summary.writer.event_file_writer import EventFileWriter
        except ImportError:
            raise InvalidInput(f"logging to TensorBoard needs the extra: {install_extra('tensorboard')}") from None
        self._writer: Any = EventFileWriter(str(folder))

    def __call__(self, progress: Progress) -> None:
        """Log a phase."""
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        values = {
            "reward/phase": progress.average_reward,
            "reward/overall": progress.overall_reward,
            "speed/steps_per_second": progress.steps_per_second,
        }
        if progress.episodes:
            lengths = [episode["length"] for episode in progress.episodes]
            values["episodes/number"] = float(len(lengths))
            values["episodes/length"] = sum(lengths) / len(lengths)
        scalars = [Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]
        self._writer.add_event(Event(step=progress.steps, summary=Summary(value=scalars)))
        self._writer.flush()

    def close(self) -> None:
        """End the log."""
        self._writer.close()
