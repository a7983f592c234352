//! Service.
//!
//! A load balancer works if it has an address (as in Argo CD; for kstatus, a cluster IP is
//! sufficient) or if a user provided addresses in `externalIPs` (as in Helm). A port that the load
//! balancer cannot serve is a failure, because it requires a change of the Service or of the load
//! balancer's provider; no other tool checks this. The other types work as soon as the API server
//! has assigned a cluster IP.
//!
//! No other tool checks the endpoints. One ready endpoint is sufficient. A Service whose selector
//! finds no Pod is Present, because this is normal for a workload that is scaled to zero, for an
//! elected leader and for a managed control plane. If Pods exist and no endpoint is ready, the
//! Service is Pending, because no Pod answers its requests. The same applies if the endpoints are not
//! reported and none of its Pods is ready. A setting requires Pods: the Service is then also Pending
//! if its selector finds none.

use kindsight_sdk::prelude::*;

pub(crate) fn kind() -> Kind {
    Kind::new("", "*", "Service")
        .standard_checks()
        .fields(&[
            "/spec/type",
            "/spec/clusterIP",
            "/spec/externalIPs",
            "/spec/publishNotReadyAddresses",
            "/spec/selector",
        ])
        .fields(&["/status/loadBalancer"])
        .related(
            ("discovery.k8s.io", "EndpointSlice"),
            Relation::Labelled("kubernetes.io/service-name"),
            &["/addressType", "/endpoints/*/conditions/ready"],
            SLICES_MAX,
        )
        .related(
            ("", "Pod"),
            Relation::SelectedBy("/spec/selector"),
            &["/status/conditions/*/type", "/status/conditions/*/status"],
            PODS_MAX,
        )
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

/// Maximum number of Pods of one Service that are read. Of more Pods, one is likely to be ready.
const PODS_MAX: u32 = 64;

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    let verdict = by_address(object, input);
    let is_alias = object.at("/spec/type").text() == Some("ExternalName");
    if verdict.state != READY || is_alias || object.at("/spec/selector").is_empty() {
        return verdict;
    }
    let (slices, pods) = (input.related(0), input.related(1));
    let (ready, all) = endpoints(slices);
    let is_known = slices.total() > 0 || slices.coverage() == Coverage::Complete;
    match ready {
        0 if selects_no_pod(pods) && !requires_pods(input) => {
            let message = "its selector finds no Pod, so whether it works is not known";
            Verdict::present("NoPods", message)
        }
        0 if is_known && are_all_seen(slices) => {
            Verdict::pending("NoReadyEndpoints", unready(all, pods))
        }
        0 if !is_known && is_no_pod_ready(pods) && !publishes_unready(object) => {
            let message = format!(
                "none of the Pods that its selector finds ({}) is ready, and its endpoints are not reported",
                pods.total()
            );
            Verdict::pending("NoReadyPods", message)
        }
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

/// Returns whether Pods exist, all of them are reported, and none of them is ready.
fn is_no_pod_ready(pods: RelatedSet<'_>) -> bool {
    let is_known = pods.coverage() == Coverage::Complete && are_all_seen(pods);
    let is_ready = |pod: Object<'_>| pod.conditions().is_true("Ready");
    is_known && pods.total() > 0 && !pods.objects().any(is_ready)
}

fn are_all_seen(related: RelatedSet<'_>) -> bool {
    i64::try_from(related.objects().len()) == Ok(related.total())
}

/// Returns whether the endpoints of the Service count as ready although their Pods are not.
fn publishes_unready(object: &Object<'_>) -> bool {
    object.at("/spec/publishNotReadyAddresses").is_true()
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
    if addresses.any(Node::is_object) {
        return Verdict::ready("AddressAssigned", "the load balancer has an address");
    }
    let mut own = object.at("/spec/externalIPs").items();
    if own.any(|address| address.text().is_some()) {
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

#[cfg(test)]
mod tests {
    use kindsight_sdk::harness;

    use super::*;
    use crate::Core;

    /// A fixture has one coverage for all Kinds, so this function takes the coverage of the
    /// `EndpointSlices` and of the Pods.
    fn judged(spec: &str, pods: &[&str], coverage: [Coverage; 2]) -> (&'static str, String) {
        let service = format!(
            r#"{{"apiVersion": "v1", "kind": "Service", "metadata": {{"name": "web", "namespace": "shop"}},
                "spec": {{"clusterIP": "10.0.0.1", "selector": {{"app": "web"}}{spec}}},
                "status": {{"loadBalancer": {{}}}}}}"#
        );
        let pods: Vec<String> = pods
            .iter()
            .enumerate()
            .map(|(number, ready)| {
                format!(
                    r#"{{"apiVersion": "v1", "kind": "Pod",
                        "metadata": {{"name": "web-{number}", "namespace": "shop", "labels": {{"app": "web"}}}},
                        "status": {{"conditions": [{{"type": "Ready", "status": "{ready}"}}]}}}}"#
                )
            })
            .collect();
        let pods: Vec<&str> = pods.iter().map(String::as_str).collect();
        let verdict = harness::judge_related::<Core>(&service, &pods, &coverage).unwrap();
        (verdict.state.name(), verdict.reason.into_owned())
    }

    #[test]
    fn a_service_without_slices_is_pending_if_none_of_its_pods_is_ready() {
        let without_slices = [Coverage::Unknown, Coverage::Complete];
        let crashing = judged("", &["False", "Unknown"], without_slices);
        assert_eq!(crashing, ("Pending", "NoReadyPods".to_owned()));
        let one_ready = judged("", &["False", "True"], without_slices);
        assert_eq!(one_ready, ("Ready", "ClusterIP".to_owned()));
        let no_pods = judged("", &[], without_slices);
        assert_eq!(no_pods, ("Present", "NoPods".to_owned()));
    }

    #[test]
    fn pods_that_may_be_incomplete_or_need_not_be_ready_make_no_service_pending() {
        let ready = ("Ready", "ClusterIP".to_owned());
        for coverage in [Coverage::Partial, Coverage::Unknown] {
            let partial = judged("", &["False"], [Coverage::Unknown, coverage]);
            assert_eq!(partial, ready);
        }
        let without_slices = [Coverage::Unknown, Coverage::Complete];
        let published = r#", "publishNotReadyAddresses": true"#;
        assert_eq!(judged(published, &["False"], without_slices), ready);
        let too_many = ["False"; PODS_MAX as usize + 1];
        assert_eq!(judged("", &too_many, without_slices), ready);
    }

    #[test]
    fn slices_outweigh_the_conditions_of_pods() {
        let complete = [Coverage::Complete, Coverage::Complete];
        let unready = judged("", &["True"], complete);
        assert_eq!(unready, ("Pending", "NoReadyEndpoints".to_owned()));
    }
}
