//! Fixtures that the host checks before the component goes live.

use kindsight_sdk::prelude::*;

pub(crate) fn all() -> Vec<Fixture> {
    let by_class = r#"{"classesWithoutAddress": ["mesh"]}"#;
    let old_class = r#""metadata": {"annotations": {"kubernetes.io/ingress.class": "mesh"}}"#;
    let address = r#""status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}"#;
    let served = r#""status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1", "ports": [
        {"port": 443, "protocol": "TCP"}]}]}}"#;
    let refused = r#""status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1", "ports": [
        {"port": 80, "protocol": "TCP"},
        {"port": 443, "protocol": "TCP", "error": "NoCertificate"}]}]}}"#;
    let none = r#""spec": {"ingressClassName": "mesh"}, "status": {"loadBalancer": {}}"#;
    let other = r#""spec": {"ingressClassName": "web"}, "status": {"loadBalancer": {}}"#;
    let deleted = r#""metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"}"#;
    vec![
        ingress("an ingress with an address is ready", "Ready", address).reason("AddressAssigned"),
        ingress("an ingress without an address is pending", "Pending", none).reason("NoAddress"),
        ingress(
            "an ingress with a port that cannot be served has failed",
            "Failed",
            refused,
        )
        .reason("PortError"),
        ingress("an ingress that serves its ports is ready", "Ready", served),
        ingress(
            "an ingress without status is pending",
            "Pending",
            r#""spec": {}"#,
        ),
        ingress(
            "an ingress without anything is pending",
            "Pending",
            r#""data": {}"#,
        ),
        ingress(
            "an ingress with a deletion time is terminating",
            "Terminating",
            deleted,
        ),
        ingress("an address need not be asked for", "Present", none)
            .settings(r#"{"requireAddress": false}"#)
            .reason("NoAddressExpected"),
        ingress("a class that publishes none is not asked", "Present", none).settings(by_class),
        ingress("a class in the old annotation counts", "Present", old_class).settings(by_class),
        ingress("another class is asked all the same", "Pending", other).settings(by_class),
        object(
            "an ingress of the old group is one",
            "Ready",
            "extensions/v1beta1",
            "Ingress",
            address,
        ),
        object(
            "a policy is present",
            "Present",
            "networking.k8s.io/v1",
            "NetworkPolicy",
            other,
        ),
        object(
            "a class is present",
            "Present",
            "networking.k8s.io/v1",
            "IngressClass",
            other,
        ),
    ]
}

fn ingress(name: &str, state: &str, body: &str) -> Fixture {
    object(name, state, "networking.k8s.io/v1", "Ingress", body)
}

fn object(name: &str, state: &str, api_version: &str, kind: &str, body: &str) -> Fixture {
    Fixture::new(name, state).object(&format!(
        r#"{{"apiVersion": "{api_version}", "kind": "{kind}", {body}}}"#
    ))
}
