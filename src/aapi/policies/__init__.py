"""Policies to look at: what they do by observation, as tables and pictures."""

from aapi.policies.models import policy_table
from aapi.policies.names import Names, names_of
from aapi.policies.table import PolicyTable

__all__ = ["Names", "PolicyTable", "names_of", "policy_table"]
