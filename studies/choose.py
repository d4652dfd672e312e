"""Read a settings study: for each problem, the settings that are best for all its algorithms together.

aapi sweep studies/settings-ergodic.toml --out settings --json | python studies/choose.py
"""

import json
import sys

scores: dict[str, dict[str, dict[str, float]]] = {}
for row in json.load(sys.stdin)["rows"]:
    settings = ", ".join(f"{name} {value}" for name, value in row["settings"].items() if name not in row["chosen"])
    algorithm = row["algorithm"].partition(",")[0]
    scores.setdefault(row["problem"], {}).setdefault(settings, {})[algorithm] = row["score"]
for problem, found in scores.items():
    print(f"{problem}: score of each (0 is acting at random, 1 the optimum)")
    for settings, each in sorted(found.items(), key=lambda item: -sum(item[1].values()))[:5]:
        told = ", ".join(f"{name} {score:.3f}" for name, score in each.items())
        print(f"  {told}: {settings}")
