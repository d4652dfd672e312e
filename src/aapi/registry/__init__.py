"""Everything that has a name: learners, parts, features, problems; for the command, studies, saved agents, reports."""

from aapi.registry.parts import PARTS, part_from_json, part_to_json, register

__all__ = ["PARTS", "part_from_json", "part_to_json", "register"]
