//! Service.
//!
//! A load balancer works when it has an address (Argo CD; kstatus is content with a cluster IP) or
//! when somebody brought their own in `externalIPs` (Helm). A port that it cannot serve is a failure, as
//! only a change of the Service or of the load balancer's provider mends that; no other tool looks. The
//! other types work as soon as the API
//! server has given them a cluster IP. Whether Pods answer behind it is up to their owners.

use kindsight_sdk::prelude::*;

pub(crate) fn kind() -> Kind {
    Kind::new("", "*", "Service")
        .fields(&standard::FIELDS)
        .fields(&["/spec/type", "/spec/clusterIP", "/spec/externalIPs"])
        .fields(&["/status/loadBalancer"])
}

pub(crate) fn rule(object: &Object<'_>) -> Verdict {
    if let Some(verdict) = standard::checks(object) {
        return verdict;
    }
    let spec = object.spec();
    if !spec.is_object() {
        return standard::spec_not_reported();
    }
    let has_status = object.status().is_object();
    let kind = spec.get("type");
    let default = if kind.is_present() { "" } else { "ClusterIP" };
    match kind.text().unwrap_or(default) {
        "LoadBalancer" if has_status => load_balancer(object),
        "LoadBalancer" => Verdict::pending("NoStatusYet", "the load balancer has not reported yet"),
        _ if !has_status => Verdict::present("NoStatus", "its status is not reported"),
        "ExternalName" => Verdict::ready("ExternalName", "it is a DNS alias"),
        "ClusterIP" | "NodePort" if spec.get("clusterIP").is_empty() => {
            Verdict::pending("NoClusterIP", "it has no cluster IP yet")
        }
        kind @ ("ClusterIP" | "NodePort") => Verdict::ready(kind, "it has its cluster IP"),
        other => Verdict::unknown("UnknownType", format!("its type is {other}")),
    }
}

fn load_balancer(object: &Object<'_>) -> Verdict {
    if let Some(verdict) = refused_ports(object) {
        return verdict;
    }
    let mut addresses = object.at("/status/loadBalancer/ingress").items();
    if addresses.any(Node::is_object) {
        return Verdict::ready("AddressAssigned", "the load balancer has an address");
    }
    let mut own = object.at("/spec/externalIPs").items();
    if own.any(|address| address.text().is_some()) {
        return Verdict::ready("ExternalIPs", "it is reachable at its externalIPs");
    }
    Verdict::pending("NoAddress", "the load balancer has no address yet")
}

/// Condition of a Service some of whose ports its load balancer does not serve.
const PORTS_ERROR: &str = "LoadBalancerPortsError";

/// Failed, when the load balancer does not serve a port: it says so in a condition, or beside the port.
fn refused_ports(object: &Object<'_>) -> Option<Verdict> {
    let refused = object.conditions().find(PORTS_ERROR);
    if let Some(refused) = refused.filter(Condition::is_true) {
        return Some(Verdict::failed(
            refused.reason_or(PORTS_ERROR),
            refused.message(),
        ));
    }
    let addresses = object.at("/status/loadBalancer/ingress").items();
    let mut ports = addresses.flat_map(|address| address.get("ports").items());
    ports.find_map(|port| {
        let error = port.get("error").text().filter(|error| !error.is_empty())?;
        let number = port.get("port").integer().unwrap_or_default();
        let protocol = port.get("protocol").text().unwrap_or("TCP");
        let message = format!("the load balancer does not serve port {number}/{protocol}: {error}");
        Some(Verdict::failed(PORTS_ERROR, message))
    })
}
