//! Service.
//!
//! A load balancer works when it has an address (Argo CD; kstatus is content with a cluster IP) or
//! when somebody brought their own in `externalIPs` (Helm). The other types work as soon as the API
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
