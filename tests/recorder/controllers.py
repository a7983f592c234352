"""Plays the controllers of the two custom resources, which no stock Kubernetes has: their statuses on each cluster.

The Gateway's conditions and reasons are those of the Gateway API. The Network's status follows no convention, on purpose:
without an interpreter of its own nothing can be said about it but that it is there.
"""

from api_server import ApiServer
from recording import timestamp

NO_ADDRESS = "No addresses have been assigned to the Gateway: the address pool of edge02 is empty"


def write_statuses(cluster: str, server: ApiServer) -> None:
    """Writes both statuses, as the controllers would once they saw the objects."""
    gateway = server.get("Gateway", "firewall-gateway")
    generation = gateway["metadata"]["generation"]
    programmed = _gateway_programmed(generation) if cluster == "edge01" else _gateway_without_address(generation)
    server.write_status("Gateway", "firewall-gateway", programmed)
    server.write_status("Network", "protected-private-net", _network(ports=2 if cluster == "edge01" else 0))


def _gateway_programmed(generation: int) -> dict:
    conditions = [
        _condition(generation, "Accepted", "True", "Accepted", "Gateway was accepted"),
        _condition(generation, "Programmed", "True", "Programmed", "Address assigned, 1 of 1 listeners programmed"),
    ]
    listener = _condition(generation, "Programmed", "True", "Programmed", "Listener was programmed")
    return {
        "addresses": [{"type": "IPAddress", "value": "192.168.20.10"}],
        "conditions": conditions,
        "listeners": [_listener(generation, listener)],
    }


def _gateway_without_address(generation: int) -> dict:
    conditions = [
        _condition(generation, "Accepted", "True", "Accepted", "Gateway was accepted"),
        _condition(generation, "Programmed", "False", "AddressNotAssigned", NO_ADDRESS),
    ]
    listener = _condition(generation, "Programmed", "False", "Pending", "Waiting for an address of the Gateway")
    return {"conditions": conditions, "listeners": [_listener(generation, listener)]}


def _listener(generation: int, programmed: dict) -> dict:
    return {
        "name": "http",
        "attachedRoutes": 0,
        "supportedKinds": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute"}],
        "conditions": [
            _condition(generation, "Accepted", "True", "Accepted", "Listener was accepted"),
            _condition(generation, "ResolvedRefs", "True", "ResolvedRefs", "All references were resolved"),
            programmed,
        ],
    }


def _condition(generation: int, kind: str, status: str, reason: str, message: str) -> dict:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "observedGeneration": generation,
        "lastTransitionTime": timestamp("seconds"),
    }


def _network(ports: int) -> dict:
    return {"logicalSwitch": "protected-private-net", "attachedPorts": ports}
