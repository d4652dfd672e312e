"""The N-model as a network: a server for one class, and one for both (Harrison 1998)."""

from __future__ import annotations

from aapi.environments.queueing.capped import CappedNetwork
from aapi.environments.queueing.network import Network


def n_model_network(cap: int = 12) -> CappedNetwork:
    """The network whose model with room for `cap` jobs of each class is `aapi.environments.n_model`.

    Both servers may work for one customer, and one who finds no room costs 10.
    """
    network = Network(
        classes=("1", "2"), arrivals=(0.16, 0.12), stations=(((0, 0.12),), ((0, 0.2), (1, 0.2))), routing=(None, None),
        costs=(3.0, 1.0), lost_costs=(10.0, 10.0), together=True,
    )  # fmt: skip
    return CappedNetwork(network, (cap, cap))
