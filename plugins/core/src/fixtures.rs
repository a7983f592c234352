//! Fixtures that the host checks before the component goes live.

mod pods;

use kindsight_sdk::prelude::*;

/// Name, state, reason, and the object without `apiVersion` and `kind`.
type Example = (&'static str, &'static str, &'static str, &'static str);

pub(crate) fn all() -> Vec<Fixture> {
    let tables: [(&str, &[Example]); 9] = [
        ("Pod", &pods::EXAMPLES),
        ("Service", &SERVICES),
        ("PersistentVolumeClaim", &CLAIMS),
        ("PersistentVolume", &VOLUMES),
        ("Namespace", &NAMESPACES),
        ("Node", &NODES),
        ("ReplicationController", &CONTROLLERS),
        ("ConfigMap", &CONFIG_MAPS),
        ("Secret", &SECRETS),
    ];
    let mut all: Vec<Fixture> = tables
        .iter()
        .flat_map(|(kind, table)| table.iter().map(|example| fixture(kind, *example)))
        .collect();
    all.extend(pods::with_time());
    all
}

fn fixture(kind: &str, (name, state, reason, body): Example) -> Fixture {
    let object = format!(r#"{{"apiVersion": "v1", "kind": "{kind}", {body}}}"#);
    Fixture::new(name, state).reason(reason).object(&object)
}

const SERVICES: [Example; 14] = [
    (
        "a service with a cluster ip is ready",
        "Ready",
        "ClusterIP",
        r#""spec": {"type": "ClusterIP", "clusterIP": "10.0.0.1"}, "status": {"loadBalancer": {}}"#,
    ),
    (
        "a headless service is ready",
        "Ready",
        "ClusterIP",
        r#""spec": {"clusterIP": "None"}, "status": {"loadBalancer": {}}"#,
    ),
    (
        "a service without a cluster ip is pending",
        "Pending",
        "NoClusterIP",
        r#""spec": {"type": "NodePort"}, "status": {"loadBalancer": {}}"#,
    ),
    (
        "an external name is ready",
        "Ready",
        "ExternalName",
        r#""spec": {"type": "ExternalName", "externalName": "a.example"}, "status": {"loadBalancer": {}}"#,
    ),
    (
        "a load balancer with an address is ready",
        "Ready",
        "AddressAssigned",
        r#""spec": {"type": "LoadBalancer"}, "status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}"#,
    ),
    (
        "a load balancer without an address is pending",
        "Pending",
        "NoAddress",
        r#""spec": {"type": "LoadBalancer", "clusterIP": "10.0.0.1"}, "status": {"loadBalancer": {}}"#,
    ),
    (
        "a load balancer at addresses of its own is ready",
        "Ready",
        "ExternalIPs",
        r#""spec": {"type": "LoadBalancer", "externalIPs": ["192.0.2.1"]}, "status": {"loadBalancer": {}}"#,
    ),
    (
        "a load balancer that does not serve its ports has failed",
        "Failed",
        "LoadBalancerMixedProtocolNotSupported",
        r#""spec": {"type": "LoadBalancer"}, "status": {
            "loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]},
            "conditions": [{"type": "LoadBalancerPortsError", "status": "True",
                "reason": "LoadBalancerMixedProtocolNotSupported"}]}"#,
    ),
    (
        "a load balancer that does not serve one port has failed",
        "Failed",
        "LoadBalancerPortsError",
        r#""spec": {"type": "LoadBalancer"}, "status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1",
            "ports": [{"port": 80, "protocol": "TCP"},
                {"port": 53, "protocol": "UDP", "error": "MixedProtocolNotSupported"}]}]}}"#,
    ),
    (
        "a load balancer that serves all its ports is ready",
        "Ready",
        "AddressAssigned",
        r#""spec": {"type": "LoadBalancer"}, "status": {
            "loadBalancer": {"ingress": [{"ip": "192.0.2.1",
                "ports": [{"port": 80, "protocol": "TCP"}, {"port": 81, "error": null}]}]},
            "conditions": [{"type": "LoadBalancerPortsError", "status": "False"}]}"#,
    ),
    (
        "a load balancer without status is pending",
        "Pending",
        "NoStatusYet",
        r#""spec": {"type": "LoadBalancer", "externalIPs": ["192.0.2.1"]}"#,
    ),
    (
        "a service of a type nobody knows is unknown",
        "Unknown",
        "UnknownType",
        r#""spec": {"type": 1, "clusterIP": "10.0.0.1"}, "status": {"loadBalancer": {}}"#,
    ),
    (
        "a service without status is present",
        "Present",
        "NoStatus",
        r#""spec": {"clusterIP": "10.0.0.1"}"#,
    ),
    (
        "a service without spec is present",
        "Present",
        "SpecNotReported",
        r#""status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}"#,
    ),
];

const CLAIMS: [Example; 10] = [
    (
        "a bound claim is ready",
        "Ready",
        "Bound",
        r#""status": {"phase": "Bound"}"#,
    ),
    (
        "a bound claim that could not be resized is degraded",
        "Degraded",
        "ControllerResizeInfeasible",
        r#""status": {"phase": "Bound", "capacity": {"storage": "1Gi"},
            "allocatedResourceStatuses": {"storage": "ControllerResizeInfeasible"}}"#,
    ),
    (
        "a bound claim whose resize says why it failed is degraded",
        "Degraded",
        "NodeResizeError",
        r#""status": {"phase": "Bound", "conditions": [
            {"type": "Resizing", "status": "True"},
            {"type": "NodeResizeError", "status": "True", "message": "no space left"}]}"#,
    ),
    (
        "a bound claim of an older cluster that could not be resized is degraded",
        "Degraded",
        "NodeExpansionFailed",
        r#""status": {"phase": "Bound", "resizeStatus": "NodeExpansionFailed"}"#,
    ),
    (
        "a bound claim whose attributes cannot be changed is degraded",
        "Degraded",
        "ModifyVolumeInfeasible",
        r#""status": {"phase": "Bound", "modifyVolumeStatus": {
            "targetVolumeAttributesClassName": "gold", "status": "Infeasible"}}"#,
    ),
    (
        "a bound claim that is being resized is ready",
        "Ready",
        "Bound",
        r#""status": {"phase": "Bound",
            "allocatedResourceStatuses": {"storage": "NodeResizePending"},
            "conditions": [{"type": "FileSystemResizePending", "status": "True"},
                {"type": "ControllerResizeError", "status": "False"}]}"#,
    ),
    (
        "a claim that lost its volume has failed whatever became of its resize",
        "Failed",
        "Lost",
        r#""status": {"phase": "Lost",
            "allocatedResourceStatuses": {"storage": "ControllerResizeInfeasible"}}"#,
    ),
    (
        "an unbound claim is pending",
        "Pending",
        "Unbound",
        r#""status": {"phase": "Pending"}"#,
    ),
    (
        "a lost claim has failed",
        "Failed",
        "Lost",
        r#""status": {"phase": "Lost"}"#,
    ),
    (
        "a claim without status is pending",
        "Pending",
        "NoPhaseYet",
        r#""spec": {"volumeName": "a"}"#,
    ),
];

const VOLUMES: [Example; 5] = [
    (
        "a bound volume is ready",
        "Ready",
        "Bound",
        r#""status": {"phase": "Bound"}"#,
    ),
    (
        "an available volume is ready",
        "Ready",
        "Available",
        r#""status": {"phase": "Available"}"#,
    ),
    (
        "a released volume is present",
        "Present",
        "Released",
        r#""status": {"phase": "Released"}"#,
    ),
    (
        "a volume that cannot be reclaimed has failed",
        "Failed",
        "ReclaimFailed",
        r#""status": {"phase": "Failed", "message": "no deleter"}"#,
    ),
    (
        "a volume without status is pending",
        "Pending",
        "NoPhaseYet",
        r#""spec": {}"#,
    ),
];

const NAMESPACES: [Example; 4] = [
    (
        "an active namespace is ready",
        "Ready",
        "Active",
        r#""status": {"phase": "Active"}"#,
    ),
    (
        "a namespace that goes away is terminating",
        "Terminating",
        "Deleting",
        r#""status": {"phase": "Terminating", "conditions": [
            {"type": "NamespaceContentRemaining", "status": "True", "message": "1 pod is left"}]}"#,
    ),
    (
        "a namespace without status is pending",
        "Pending",
        "NoPhaseYet",
        r#""spec": {}"#,
    ),
    (
        "a phase nobody knows is unknown",
        "Unknown",
        "UnknownPhase",
        r#""status": {"phase": "Hibernating"}"#,
    ),
];

const NODES: [Example; 5] = [
    (
        "a ready node is ready",
        "Ready",
        "Ready",
        r#""status": {"conditions": [{"type": "Ready", "status": "True"}]}"#,
    ),
    (
        "a cordoned node is ready",
        "Ready",
        "Cordoned",
        r#""spec": {"unschedulable": true},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]}"#,
    ),
    (
        "a node that is not ready is pending",
        "Pending",
        "KubeletNotReady",
        r#""status": {"conditions": [{"type": "Ready", "status": "False", "reason": "KubeletNotReady"}]}"#,
    ),
    (
        "a node nobody hears of is unknown",
        "Unknown",
        "NodeStatusUnknown",
        r#""status": {"conditions": [{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}]}"#,
    ),
    (
        "a node without status is pending",
        "Pending",
        "NoConditionYet",
        r#""spec": {}"#,
    ),
];

const CONTROLLERS: [Example; 6] = [
    (
        "a replication controller with every replica is ready",
        "Ready",
        "Available",
        r#""spec": {"replicas": 1}, "status": {"replicas": 1, "fullyLabeledReplicas": 1,
            "readyReplicas": 1, "availableReplicas": 1}"#,
    ),
    (
        "replicas that come as strings are counted",
        "Pending",
        "Unavailable",
        r#""spec": {"replicas": "2"}, "status": {"replicas": "2", "fullyLabeledReplicas": "2",
            "readyReplicas": "2", "availableReplicas": "1"}"#,
    ),
    (
        "pods that cannot be made fail their controller",
        "Failed",
        "FailedCreate",
        r#""spec": {"replicas": 1}, "status": {"conditions": [
            {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate"}]}"#,
    ),
    (
        "a controller without status is pending",
        "Pending",
        "NoStatusYet",
        r#""spec": {"replicas": 0}"#,
    ),
    (
        "a controller scaled to zero is ready",
        "Ready",
        "ScaledToZero",
        r#""spec": {"replicas": 0}, "status": {"replicas": 0}"#,
    ),
    (
        "counts of a controller without spec are no evidence",
        "Present",
        "SpecNotReported",
        r#""status": {"replicas": 1, "fullyLabeledReplicas": 1, "readyReplicas": 1, "availableReplicas": 1}"#,
    ),
];

const CONFIG_MAPS: [Example; 2] = [
    (
        "a config map is present",
        "Present",
        "Exists",
        r#""data": {}"#,
    ),
    (
        "a config map with a deletion time is terminating",
        "Terminating",
        "Deleting",
        r#""metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z", "finalizers": ["a/b"]}"#,
    ),
];

const SECRETS: [Example; 1] = [("a secret is present", "Present", "Exists", r#""data": {}"#)];
