"""The required state of each cluster before it is recorded, so that every recording has the same content."""

from typing import Callable

from api_server import ApiServer
from application import deployment_id

# Each cluster: what is awaited, in words, and how to see it.
Expectations = dict[str, Callable[[ApiServer], bool]]

EDGE01: Expectations = {
    "packetgen is available": lambda api: _is_rolled_out(api, "fw0-packetgen"),
    "packetgen's warm-up is complete": lambda api: _condition(api, "Job", "packetgen-warmup", "Complete") == "True",
    "firewall is available": lambda api: _is_rolled_out(api, "fw0-firewall"),
    "the firewall's claim is bound": lambda api: _status(api, "PersistentVolumeClaim", "firewall-logs")["phase"]
    == "Bound",
    "the gateway is programmed": lambda api: _condition(api, "Gateway", "firewall-gateway", "Programmed") == "True",
    "sink is available": lambda api: _is_rolled_out(api, "fw0-sink"),
    "sink-service is there": lambda api: api.get("Service", "sink-service") is not None,
}

EDGE02: Expectations = {
    "packetgen is available": lambda api: _is_rolled_out(api, "fw0-packetgen"),
    "packetgen's warm-up is running": lambda api: _status(api, "Job", "packetgen-warmup").get("ready") == 1,
    "the firewall's image cannot be pulled": lambda api: _waiting(api, "firewall") == ["ImagePullBackOff"],
    "firewall is unavailable": lambda api: _condition(api, "Deployment", "fw0-firewall", "Available") == "False",
    "the firewall's claim is pending": lambda api: _status(api, "PersistentVolumeClaim", "firewall-logs")["phase"]
    == "Pending",
    "the gateway is not programmed": lambda api: _condition(api, "Gateway", "firewall-gateway", "Programmed")
    == "False",
    "the sink's rollout is past its deadline": lambda api: _reason(api, "Deployment", "fw0-sink", "Progressing")
    == "ProgressDeadlineExceeded",
    "both Pods of the sink run": lambda api: _phases(api, "sink") == ["Running", "Running"],
    "sink-service is gone": lambda api: api.get("Service", "sink-service") is None,
}

EXPECTATIONS = {"edge01": EDGE01, "edge02": EDGE02}


def unmet(cluster: str, server: ApiServer) -> list[str]:
    """Descriptions of the expectations that the cluster does not meet yet."""
    return [what for what, is_so in EXPECTATIONS[cluster].items() if not is_so(server)]


def _status(api: ApiServer, kind: str, name: str) -> dict:
    return (api.get(kind, name) or {}).get("status", {})


def _is_rolled_out(api: ApiServer, name: str) -> bool:
    deployment = api.get("Deployment", name)
    wanted, status = deployment["spec"]["replicas"], deployment.get("status", {})
    complete = _reason(api, "Deployment", name, "Progressing") == "NewReplicaSetAvailable"
    return complete and status.get("availableReplicas") == status.get("replicas") == wanted


def _find(api: ApiServer, kind: str, name: str, condition: str) -> dict:
    conditions = _status(api, kind, name).get("conditions", [])
    return next((each for each in conditions if each["type"] == condition), {})


def _condition(api: ApiServer, kind: str, name: str, condition: str) -> str | None:
    return _find(api, kind, name, condition).get("status")


def _reason(api: ApiServer, kind: str, name: str, condition: str) -> str | None:
    return _find(api, kind, name, condition).get("reason")


def _phases(api: ApiServer, app: str) -> list[str]:
    return [pod["status"].get("phase") for pod in api.list("Pod", deployment_id(app))]


def _waiting(api: ApiServer, app: str) -> list[str | None]:
    """Why the containers of an app's Pods wait, one reason for each container."""
    pods = api.list("Pod", deployment_id(app))
    containers = [container for pod in pods for container in pod["status"].get("containerStatuses", [])]
    return [container["state"].get("waiting", {}).get("reason") for container in containers]
