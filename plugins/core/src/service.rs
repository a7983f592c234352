//! Service.
//!
//! A load balancer works if it has an address (for Argo CD, an empty entry is sufficient; for kstatus,
//! a cluster IP is) or if a user provided addresses in `externalIPs` (as in Helm). A port that the
//! load balancer cannot serve is a failure, because it requires a change of the Service or of the
//! load balancer's provider; no other tool checks this. The other types work as soon as the API
//! server has assigned a cluster IP.
//!
//! No other tool checks the endpoints. One ready endpoint is sufficient. A Service whose selector
//! finds no Pod is Present, because this is normal for a workload that is scaled to zero, for an
//! elected leader and for a managed control plane. If Pods exist and no endpoint is ready, the
//! Service is Pending, because no Pod answers its requests. A setting requires Pods: the Service is
//! then also Pending if its selector finds none.

use kindsight_sdk::prelude::*;

pub(crate) fn kind() -> Kind {
    Kind::new("", "*", "Service")
        .standard_checks()
        .fields(&[
            "/spec/type",
            "/spec/clusterIP",
            "/spec/externalIPs",
            "/spec/selector",
        ])
        .fields(&["/status/loadBalancer"])
        .related(
            ("discovery.k8s.io", "EndpointSlice"),
            Relation::Labelled("kubernetes.io/service-name"),
            &["/addressType", "/endpoints/*/conditions/ready"],
            SLICES_MAX,
        )
        .related(("", "Pod"), Relation::SelectedBy("/spec/selector"), &[], 1)
}

/// Properties of the settings schema.
pub(crate) const SETTINGS: &str = r#"
    "requirePods": {
      "type": "boolean",
      "default": false,
      "description": "If true, a Service whose selector finds no Pod is Pending; if false, it is Present."
    }"#;

/// Maximum number of `EndpointSlices` of one Service that are read. Each has a hundred endpoints.
const SLICES_MAX: u32 = 64;

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    let verdict = by_address(object, input);
    let is_alias = object.at("/spec/type").text() == Some("ExternalName");
    if verdict.state != READY || is_alias || object.at("/spec/selector").is_empty() {
        return verdict;
    }
    let (slices, pods) = (input.related(0), input.related(1));
    let (ready, all) = endpoints(slices);
    let is_known = slices.total() > 0 || slices.coverage() == Coverage::Complete;
    let are_all_seen = i64::try_from(slices.objects().len()) == Ok(slices.total());
    match ready {
        0 if selects_no_pod(pods) && !requires_pods(input) => {
            let message = "its selector finds no Pod, so whether it works is not known";
            Verdict::present("NoPods", message)
        }
        0 if is_known && are_all_seen => Verdict::pending("NoReadyEndpoints", unready(all, pods)),
        0 => verdict,
        ready => {
            let message = format!("{}; {ready} of {all} endpoints are ready", verdict.message);
            Verdict {
                message: message.into(),
                ..verdict
            }
        }
    }
}

/// Returns whether all Pods are reported and the selector finds none of them.
fn selects_no_pod(pods: RelatedSet<'_>) -> bool {
    pods.coverage() == Coverage::Complete && pods.total() == 0
}

fn requires_pods(input: &Input<'_>) -> bool {
    let setting = input.settings().get("requirePods");
    setting.flag().unwrap_or(false)
}

/// The message of a Service with this number of endpoints and no ready endpoint.
fn unready(endpoints: usize, pods: RelatedSet<'_>) -> String {
    match (endpoints, pods.total()) {
        (0, _) if selects_no_pod(pods) => {
            "it has no endpoints: its selector finds no Pod".to_owned()
        }
        (0, 0) => "it has no endpoints".to_owned(),
        (0, pods) => format!("it has no endpoints, although its selector finds Pods ({pods})"),
        (endpoints, _) => format!("none of its {endpoints} endpoints is ready"),
    }
}

/// The number of ready endpoints and of all endpoints, for the address family with most endpoints:
/// a Service with two families lists each Pod twice.
fn endpoints(slices: RelatedSet<'_>) -> (usize, usize) {
    // By the API's convention, an endpoint without this condition is ready.
    let is_ready = |endpoint: &Node<'_>| endpoint.at("/conditions/ready").flag() != Some(false);
    let of_family = |family: &str| {
        let is_of_it = |slice: &Object<'_>| slice.at("/addressType").text_or_empty() == family;
        let slices = slices.objects().filter(is_of_it);
        slices.fold((0, 0), |(ready, all), slice| {
            let endpoints = slice.at("/endpoints").items();
            let count = endpoints.len();
            (ready + endpoints.filter(is_ready).count(), all + count)
        })
    };
    let families = ["IPv4", "IPv6", "FQDN", ""].map(of_family);
    families.into_iter().max().unwrap_or_default()
}

fn by_address(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    if let Some(verdict) = standard::checks(object, input) {
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
        // A manifest has no address. The API server assigns one when it accepts the Service.
        "ClusterIP" | "NodePort"
            if spec.get("clusterIP").is_empty() && !object.has_manifest_spec() =>
        {
            Verdict::pending("NoClusterIP", "it has no cluster IP yet")
        }
        kind @ ("ClusterIP" | "NodePort") => {
            Verdict::ready(kind.to_owned(), "it has its cluster IP")
        }
        other => Verdict::unknown("UnknownType", format!("its type is {other}")),
    }
}

fn load_balancer(object: &Object<'_>) -> Verdict {
    if let Some(verdict) = refused_ports(object) {
        return verdict;
    }
    let mut addresses = object.at("/status/loadBalancer/ingress").items();
    if addresses.any(standard::is_address) {
        return Verdict::ready("AddressAssigned", "the load balancer has an address");
    }
    let mut own = object.at("/spec/externalIPs").items();
    if own.any(|address| !address.text_or_empty().is_empty()) {
        return Verdict::ready("ExternalIPs", "it is reachable at its externalIPs");
    }
    Verdict::pending("NoAddress", "the load balancer has no address yet")
}

/// The condition of a Service if its load balancer does not serve some of its ports.
const PORTS_ERROR: &str = "LoadBalancerPortsError";

/// Failed, if the load balancer does not serve a port, according to a condition or to the status of
/// the port.
fn refused_ports(object: &Object<'_>) -> Option<Verdict> {
    let refused = object.conditions().find(PORTS_ERROR);
    if let Some(refused) = refused.filter(Condition::is_true) {
        return Some(Verdict::failed(
            refused.reason_or(PORTS_ERROR),
            refused.message().to_owned(),
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
