"""Writes the recording: the bundles as the monitor in each cluster would send them, and what was deployed, and when.

Everything is sorted, so that two recordings differ only where the clusters did.
"""

import base64
import json
from datetime import datetime, timezone
from pathlib import Path

from api_server import ApiServer
from application import (
    APPS,
    CLUSTERS,
    COMPOSITE_APP,
    COMPOSITE_APP_VERSION,
    CONTEXT_ID,
    DEPLOYMENT_INTENT_GROUP,
    DEPLOYMENT_LABEL,
    KINDS,
    NAMESPACE,
    PROFILE,
    PROJECT,
    cluster_name,
    deployment_id,
)

FORMAT_VERSION = 2
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def timestamp(precision: str = "milliseconds") -> str:
    """The time now, in UTC, as RFC 3339."""
    return datetime.now(timezone.utc).isoformat(timespec=precision).replace("+00:00", "Z")


def manifest_path(app: str, name: str, kind: str) -> str:
    """Path of a manifest, relative to the recording. Both clusters get the same manifests."""
    return f"manifests/{app}/{name}+{kind}.yaml"


def bundle(server: ApiServer, app: str) -> dict:
    """Reads everything that carries the app's label into a ResourceBundleState document."""
    status: dict = {"ready": False, "resourceCount": 0, "resourceStatuses": []}
    for kind, served in KINDS.items():
        objects = [_as_monitored(item) for item in server.list(kind, deployment_id(app))]
        if served.bundle_field is None:
            status["resourceStatuses"] += [_encoded(item) for item in objects]
        elif objects:
            status[served.bundle_field] = objects
    if not status["resourceStatuses"]:
        del status["resourceStatuses"]
    label = {DEPLOYMENT_LABEL: deployment_id(app)}
    return {
        "apiVersion": "k8splugin.io/v1alpha1",
        "kind": "ResourceBundleState",
        "metadata": {"labels": label, "name": deployment_id(app), "namespace": NAMESPACE},
        "spec": {"selector": {"matchLabels": label}},
        "status": status,
    }


def _as_monitored(item: dict) -> dict:
    """Takes off what the monitor takes off, because it is long and says nothing about how the object fares.

    Server-side apply leaves no last-applied annotation; a controller or a client that is not ours may.
    """
    metadata = item["metadata"]
    metadata.pop("managedFields", None)
    if LAST_APPLIED in metadata.get("annotations", {}):
        metadata["annotations"][LAST_APPLIED] = ""
    return item


def _encoded(item: dict) -> dict:
    kind = KINDS[item["kind"]]
    text = json.dumps(item, sort_keys=True, separators=(",", ":"))
    return {
        "group": kind.group,
        "version": kind.version,
        "kind": item["kind"],
        "name": item["metadata"]["name"],
        "namespace": item["metadata"]["namespace"],
        "res": base64.b64encode(text.encode()).decode(),
    }


def write(folder: Path, bundles: dict[tuple[str, str], dict], actions: list[dict]) -> None:
    """Replaces the bundles, by (cluster, app), and application.json. The manifests are the recorder's input and stay."""
    for old in folder.glob("clusters/*/*.json"):
        old.unlink()
    for (cluster, app), document in bundles.items():
        path = folder / "clusters" / cluster_name(cluster) / f"{deployment_id(app)}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_json(path, document, sort_keys=True)
    # Not sorted: its order is for people, from the whole to its parts.
    _write_json(folder / "application.json", _application(actions), sort_keys=False)


def _application(actions: list[dict]) -> dict:
    return {
        "version": FORMAT_VERSION,
        "recorded-at": timestamp(),
        "project": PROJECT,
        "composite-app": COMPOSITE_APP,
        "composite-app-version": COMPOSITE_APP_VERSION,
        "profile": PROFILE,
        "dig": DEPLOYMENT_INTENT_GROUP,
        "context-id": CONTEXT_ID,
        "actions": actions,
        "apps": [_app(app) for app in APPS],
    }


def _app(app: str) -> dict:
    """An app, its clusters, and its manifests in the order in which they were sent."""
    manifests = [manifest_path(app, name, kind) for name, kind in APPS[app]]
    return {"name": app, "clusters": [cluster_name(cluster) for cluster in CLUSTERS], "manifests": manifests}


def _write_json(path: Path, document: dict, sort_keys: bool) -> None:
    path.write_text(json.dumps(document, indent=2, sort_keys=sort_keys) + "\n")
