"""Read a settings study: for each problem, the settings that are best for AAPI and POLITEX together.

    aapi sweep studies/settings-ergodic.toml --out settings --json | python studies/choose.py
"""

import json
import sys

SHARED = ("phase_length", "horizon", "centre", "ridge")

scores: dict[str, dict[tuple[object, ...], dict[str, float]]] = {}
for row in json.load(sys.stdin)["rows"]:
    settings = tuple(row["settings"][name] for name in SHARED)
    algorithm = row["algorithm"].partition(",")[0]
    scores.setdefault(row["problem"], {}).setdefault(settings, {})[algorithm] = row["score"]
for problem, found in scores.items():
    print(f"{problem}: score of each, and {', '.join(SHARED)}")
    for settings, each in sorted(found.items(), key=lambda item: -sum(item[1].values()))[:8]:
        told = ", ".join(f"{name} {score:.3f}" for name, score in each.items())
        print(f"  {told}; {', '.join(map(str, settings))}")
