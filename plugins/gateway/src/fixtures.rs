//! Fixtures that the host checks before the component goes live.

use kindsight_sdk::prelude::*;

/// Name, Kind, state, and the object without `apiVersion` and `kind`.
type Example = (&'static str, &'static str, &'static str, &'static str);

pub(crate) fn all() -> Vec<Fixture> {
    let tables = [GATEWAYS.as_slice(), &ROUTES, &OTHERS];
    tables.concat().into_iter().map(fixture).collect()
}

fn fixture((name, kind, state, body): Example) -> Fixture {
    Fixture::new(name, state).object(&format!(
        r#"{{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "{kind}", {body}}}"#
    ))
}

const GATEWAYS: [Example; 9] = [
    (
        "a programmed gateway is ready",
        "Gateway",
        "Ready",
        r#""metadata": {"generation": 2}, "status": {
            "conditions": [{"type": "Accepted", "status": "True", "observedGeneration": 2},
                {"type": "Programmed", "status": "True", "observedGeneration": 2}],
            "listeners": [{"name": "http", "conditions": [{"type": "Accepted", "status": "True"}]}]}"#,
    ),
    (
        "a gateway that was programmed for an older spec is pending",
        "Gateway",
        "Pending",
        r#""metadata": {"generation": "3"}, "status": {
            "conditions": [{"type": "Programmed", "status": "True", "observedGeneration": "2"}]}"#,
    ),
    (
        "a gateway that does not say it is programmed is pending",
        "Gateway",
        "Pending",
        r#""status": {"conditions": [{"type": "Accepted", "status": "True"}]}"#,
    ),
    (
        "a gateway that is refused has failed",
        "Gateway",
        "Failed",
        r#""status": {"conditions": [{"type": "Accepted", "status": "False", "reason": "Invalid"},
            {"type": "Programmed", "status": "False", "reason": "Invalid"}]}"#,
    ),
    (
        "a listener that is refused fails its gateway",
        "Gateway",
        "Failed",
        r#""status": {"conditions": [{"type": "Programmed", "status": "True"}],
            "listeners": [{"name": "tls", "conditions": [{"type": "ResolvedRefs", "status": "False"}]}]}"#,
    ),
    (
        "a listener that is not programmed keeps its gateway pending",
        "Gateway",
        "Pending",
        r#""status": {"conditions": [{"type": "Programmed", "status": "True"}],
            "listeners": [{"name": "tls", "conditions": [{"type": "Programmed", "status": "False"}]}]}"#,
    ),
    (
        "a gateway that waits for its controller is pending",
        "Gateway",
        "Pending",
        r#""status": {"conditions": [{"type": "Accepted", "status": "False", "reason": "Pending"}]}"#,
    ),
    (
        "a gateway without status is pending",
        "Gateway",
        "Pending",
        r#""spec": {}"#,
    ),
    (
        "a programmed listener set is ready",
        "ListenerSet",
        "Ready",
        r#""status": {"conditions": [{"type": "Programmed", "status": "True"}]}"#,
    ),
];

const ROUTES: [Example; 14] = [
    (
        "an accepted route is ready",
        "HTTPRoute",
        "Ready",
        r#""spec": {"parentRefs": [{"name": "a"}]},
            "status": {"parents": [{"parentRef": {"name": "a"}, "conditions": [
            {"type": "Accepted", "status": "True"}, {"type": "ResolvedRefs", "status": "True"}]}]}"#,
    ),
    (
        "a route with a parent nobody answers for is pending",
        "HTTPRoute",
        "Pending",
        r#""spec": {"parentRefs": [{"name": "a"}, {"name": "b"}]},
            "status": {"parents": [{"parentRef": {"name": "a"}, "conditions": [
            {"type": "Accepted", "status": "True"}]}]}"#,
    ),
    (
        "a section nobody answers for keeps its route pending",
        "GRPCRoute",
        "Pending",
        r#""spec": {"parentRefs": [{"name": "a", "sectionName": "http"}, {"name": "a", "sectionName": "tls"}]},
            "status": {"parents": [{"parentRef": {"name": "a", "sectionName": "http"}, "conditions": [
            {"type": "Accepted", "status": "True"}]}]}"#,
    ),
    (
        "a parent of the same name elsewhere is another",
        "TLSRoute",
        "Pending",
        r#""metadata": {"namespace": "shop"},
            "spec": {"parentRefs": [{"name": "a", "namespace": "edge"}]},
            "status": {"parents": [{"parentRef": {"name": "a"}, "conditions": [
            {"type": "Accepted", "status": "True"}]}]}"#,
    ),
    (
        "an answer may spell out what the route leaves to the defaults",
        "UDPRoute",
        "Ready",
        r#""metadata": {"namespace": "shop"},
            "spec": {"parentRefs": [{"name": "a", "sectionName": "dns"}]},
            "status": {"parents": [{"parentRef": {"group": "gateway.networking.k8s.io",
                "kind": "Gateway", "namespace": "shop", "name": "a"}, "conditions": [
            {"type": "Accepted", "status": "True"}]}]}"#,
    ),
    (
        "a refused route has failed whoever else has yet to answer",
        "HTTPRoute",
        "Failed",
        r#""spec": {"parentRefs": [{"name": "a"}, {"name": "b"}]},
            "status": {"parents": [{"parentRef": {"name": "a"}, "conditions": [
            {"type": "Accepted", "status": "False", "reason": "NotAllowedByListeners"}]}]}"#,
    ),
    (
        "answers to a route without spec cannot be compared with it",
        "HTTPRoute",
        "Present",
        r#""status": {"parents": [{"parentRef": {"name": "a"}, "conditions": [
            {"type": "Accepted", "status": "True"}]}]}"#,
    ),
    (
        "a route whose backend is missing has failed",
        "GRPCRoute",
        "Failed",
        r#""status": {"parents": [{"parentRef": {"name": "a"}, "conditions": [
            {"type": "Accepted", "status": "True"},
            {"type": "ResolvedRefs", "status": "False", "reason": "BackendNotFound"}]}]}"#,
    ),
    (
        "a route that one of two parents refuses has failed",
        "TLSRoute",
        "Failed",
        r#""status": {"parents": [
            {"parentRef": {"name": "a"}, "conditions": [{"type": "Accepted", "status": "True"}]},
            {"parentRef": {"name": "b"}, "conditions": [{"type": "Accepted", "status": "False"}]}]}"#,
    ),
    (
        "a parent that has not seen the newest route does not count",
        "TCPRoute",
        "Ready",
        r#""metadata": {"generation": 2}, "spec": {"parentRefs": [{"name": "a"}, {"name": "b"}]},
            "status": {"parents": [
            {"parentRef": {"name": "a"}, "conditions": [
                {"type": "Accepted", "status": "True", "observedGeneration": 2}]},
            {"parentRef": {"name": "b"}, "conditions": [
                {"type": "Accepted", "status": "False", "observedGeneration": 1}]}]}"#,
    ),
    (
        "a route that no parent has seen since is pending",
        "UDPRoute",
        "Pending",
        r#""metadata": {"generation": 2}, "status": {"parents": [{"parentRef": {"name": "a"},
            "conditions": [{"type": "Accepted", "status": "True", "observedGeneration": 1}]}]}"#,
    ),
    (
        "a parent that says nothing keeps its route pending",
        "HTTPRoute",
        "Pending",
        r#""status": {"parents": [{"parentRef": {"name": "a"}, "conditions": []}]}"#,
    ),
    (
        "a route that is being programmed is pending",
        "HTTPRoute",
        "Pending",
        r#""status": {"parents": [{"parentRef": {"name": "a"}, "conditions": [
            {"type": "Accepted", "status": "True"}, {"type": "Programmed", "status": "False"}]}]}"#,
    ),
    (
        "a route without status is pending",
        "HTTPRoute",
        "Pending",
        r#""spec": {}"#,
    ),
];

const OTHERS: [Example; 10] = [
    (
        "an accepted class is ready",
        "GatewayClass",
        "Ready",
        r#""status": {"conditions": [{"type": "Accepted", "status": "True"}]}"#,
    ),
    (
        "a class that is refused has failed",
        "GatewayClass",
        "Failed",
        r#""status": {"conditions": [{"type": "Accepted", "status": "False", "reason": "Unsupported"}]}"#,
    ),
    (
        "a class nobody has taken is pending",
        "GatewayClass",
        "Pending",
        r#""status": {"conditions": [{"type": "Accepted", "status": "Unknown", "reason": "Pending"}]}"#,
    ),
    (
        "a class without status is pending",
        "GatewayClass",
        "Pending",
        r#""spec": {}"#,
    ),
    (
        "an accepted policy is ready",
        "BackendTLSPolicy",
        "Ready",
        r#""status": {"ancestors": [{"ancestorRef": {"name": "a"}, "conditions": [
            {"type": "Accepted", "status": "True"}]}]}"#,
    ),
    (
        "a policy that one ancestor has not seen since is pending",
        "BackendTLSPolicy",
        "Pending",
        r#""metadata": {"generation": 2}, "status": {"ancestors": [
            {"ancestorRef": {"name": "a"}, "conditions": [
                {"type": "Accepted", "status": "True", "observedGeneration": 2}]},
            {"ancestorRef": {"name": "b"}, "conditions": [
                {"type": "Accepted", "status": "True", "observedGeneration": 1}]}]}"#,
    ),
    (
        "a generation that is no number leaves open what the conditions speak of",
        "GatewayClass",
        "Present",
        r#""metadata": {"generation": "many"},
            "status": {"conditions": [{"type": "Accepted", "status": "True"}]}"#,
    ),
    (
        "a policy without status is pending",
        "BackendTLSPolicy",
        "Pending",
        r#""spec": {}"#,
    ),
    (
        "a grant is present",
        "ReferenceGrant",
        "Present",
        r#""spec": {}"#,
    ),
    (
        "a gateway with a deletion time is terminating",
        "Gateway",
        "Terminating",
        r#""metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"},
            "status": {"conditions": [{"type": "Programmed", "status": "True"}]}"#,
    ),
];
