"""Evaluation on all data against Monte Carlo on the phase's: the same loop, side by side. Run by `make bench`."""

from __future__ import annotations

from learning import in_turn, median_ratio

import aapi
from aapi.environments import ergodic
from aapi.evaluation import LSTD, MonteCarlo, PosteriorSampled, SelfConsistent

NUM_RUNS, NUM_STEPS, PHASE_LENGTH = 50, 200_000, 400


def main() -> None:
    """Learning ergodic (20, 5), on one thread."""
    mdp = ergodic(20, 5)
    learners = {"Monte Carlo on the phase": aapi.AAPI(phase_length=PHASE_LENGTH, evaluate=MonteCarlo(10, centre=True))}
    for evaluate in (SelfConsistent(), PosteriorSampled(), LSTD()):
        name = f"{type(evaluate).__name__} on all data"
        learners[name] = aapi.AAPI(phase_length=PHASE_LENGTH, evaluate=evaluate, norm="span")
    learners["AAPI(), with its exploration"] = aapi.AAPI()
    calls = [lambda each=each: aapi.run(each, mdp, NUM_STEPS, NUM_RUNS) for each in learners.values()]
    spent = in_turn(3, *calls)
    print(f"learning ergodic (20, 5), {NUM_RUNS} runs of {NUM_STEPS} steps, phases of {PHASE_LENGTH}, one thread")
    for name, seconds in zip(learners, spent, strict=True):
        ratio = median_ratio(seconds, spent[0])
        print(f"  {name:29} {min(seconds):5.2f} s, {ratio:5.2f} x the time of Monte Carlo")


if __name__ == "__main__":
    main()
