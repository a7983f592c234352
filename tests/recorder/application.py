"""What is recorded: the composite application, its resources in order, and the Kinds the recorder reads back.

The names and the context id are those of the vFW example that the status query's specification uses.
"""

from dataclasses import dataclass

PROJECT = "testvfw"
COMPOSITE_APP = "compositevfw"
COMPOSITE_APP_VERSION = "v1"
PROFILE = "vfw_composite-profile"
DEPLOYMENT_INTENT_GROUP = "vfw_deployment_intent_group"
CONTEXT_ID = "2755581958183303505"

CLUSTER_PROVIDER = "vfw-cluster-provider"
CLUSTERS = ("edge01", "edge02")

DEPLOYMENT_LABEL = "emco/deployment-id"
NAMESPACE = "default"

# Each app with its resources as (name, kind), in the order in which they are sent.
APPS = {
    "packetgen": (
        ("fw0-packetgen", "Deployment"),
        ("packetgen-service", "Service"),
        ("packetgen-warmup", "Job"),
    ),
    "firewall": (
        ("fw0-firewall", "Deployment"),
        ("firewall-logs", "PersistentVolumeClaim"),
        ("firewall-gateway", "Gateway"),
    ),
    "sink": (
        ("fw0-sink", "Deployment"),
        ("sink-configmap", "ConfigMap"),
        ("sink-service", "Service"),
        ("protected-private-net", "Network"),
        ("sink-credentials", "Secret"),
    ),
}


@dataclass(frozen=True)
class Kind:
    """Where the API server serves a Kind, and where a bundle keeps its objects."""

    group: str
    version: str
    plural: str
    # The bundle's array of whole objects; None for a Kind that goes into `resourceStatuses` as base64.
    bundle_field: str | None = None
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


KINDS = {
    "Pod": Kind("", "v1", "pods", "podStatuses"),
    "Service": Kind("", "v1", "services", "serviceStatuses"),
    "ConfigMap": Kind("", "v1", "configmaps", "configMapStatuses"),
    "Deployment": Kind("apps", "v1", "deployments", "deploymentStatuses"),
    "Job": Kind("batch", "v1", "jobs", "jobStatuses"),
    "PersistentVolumeClaim": Kind("", "v1", "persistentvolumeclaims"),
    "Secret": Kind("", "v1", "secrets"),
    "Gateway": Kind("gateway.networking.k8s.io", "v1", "gateways"),
    "Network": Kind("k8s.plugin.opnfv.org", "v1alpha1", "networks"),
}

# What a cluster has before an application comes: applied from setup/, never recorded.
SETUP_KINDS = {
    "CustomResourceDefinition": Kind("apiextensions.k8s.io", "v1", "customresourcedefinitions", namespaced=False),
    "StorageClass": Kind("storage.k8s.io", "v1", "storageclasses", namespaced=False),
    "PersistentVolume": Kind("", "v1", "persistentvolumes", namespaced=False),
    "Node": Kind("", "v1", "nodes", namespaced=False),
}


def deployment_id(app: str) -> str:
    """The label's value: what ties an object in a cluster to one app of one instantiation."""
    return f"{CONTEXT_ID}-{app}"


def cluster_name(cluster: str) -> str:
    """The cluster's full name, `provider+name`."""
    return f"{CLUSTER_PROVIDER}+{cluster}"
