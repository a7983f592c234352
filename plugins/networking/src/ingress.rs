//! Ingress.
//!
//! The same as in Argo CD: an address shows that a controller serves the Ingress. If the address
//! reports a port that cannot be served, this is a failure, as for a Service. Many controllers
//! never publish an address (argo-cd#14607, #28345, #5620), so a setting can name their classes. An
//! Ingress of such a class is Present, because nothing shows that it works. If an Ingress names a
//! Service that does not exist and all Services are reported, the Ingress is Degraded, because its
//! other paths still work. A backend with the port `use-annotation` names an action of the AWS load
//! balancer, such as a redirect, and needs no Service. TLS Secrets are not checked, because no
//! report contains them. No other tool checks either.

use kindsight_sdk::prelude::*;

pub(crate) const SETTINGS_SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "requireAddress": {
      "type": "boolean",
      "default": true,
      "description": "If true, an Ingress without an address is Pending; if false, it is Present."
    },
    "classesWithoutAddress": {
      "type": "array",
      "items": {"type": "string"},
      "default": [],
      "description": "Ingress classes whose controllers never publish an address."
    }
  },
  "additionalProperties": false
}"#;

/// The annotation that contained the class before `spec.ingressClassName`.
const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";

/// The group of Ingresses before Kubernetes 1.22, with different names for their Services.
const OLD_GROUP: &str = "extensions";

/// Maximum number of Services in one list of references that are checked.
const BACKENDS_MAX: u32 = 256;

/// The port of a backend that is an action of the AWS load balancer. The name of the backend is then
/// the name of an annotation with the action.
const ACTION_PORT: &str = "use-annotation";

/// Pointers to the backends of an Ingress, and the names of their members.
struct Backends {
    /// The names of the Services of its paths, and of the default.
    names: [&'static str; 2],
    /// The ports of its paths, and of the default.
    ports: [&'static str; 2],
    /// The default backend.
    default: &'static str,
    /// Below a backend: the name of its Service.
    name: &'static str,
    /// Below a backend: the port of its Service, if the port has a name.
    port: &'static str,
}

const BACKENDS: Backends = Backends {
    names: [
        "/spec/rules/*/http/paths/*/backend/service/name",
        "/spec/defaultBackend/service/name",
    ],
    ports: [
        "/spec/rules/*/http/paths/*/backend/service/port/name",
        "/spec/defaultBackend/service/port/name",
    ],
    default: "/spec/defaultBackend",
    name: "/service/name",
    port: "/service/port/name",
};

/// The same as [`BACKENDS`] in the old group.
const OLD_BACKENDS: Backends = Backends {
    names: [
        "/spec/rules/*/http/paths/*/backend/serviceName",
        "/spec/backend/serviceName",
    ],
    ports: [
        "/spec/rules/*/http/paths/*/backend/servicePort",
        "/spec/backend/servicePort",
    ],
    default: "/spec/backend",
    name: "/serviceName",
    port: "/servicePort",
};

pub(crate) fn kinds() -> [Kind; 2] {
    [
        kind(crate::GROUP, &BACKENDS),
        kind(OLD_GROUP, &OLD_BACKENDS),
    ]
}

fn kind(group: &str, backends: &Backends) -> Kind {
    let [of_paths, default] = backends.names.map(Relation::Named);
    let service = ("", "Service");
    Kind::new(group, "*", "Ingress")
        .deletion_check()
        .fields(&[
            "/metadata/annotations/kubernetes.io~1ingress.class",
            "/spec/ingressClassName",
            "/status/loadBalancer/ingress",
        ])
        .fields(&backends.names)
        .fields(&backends.ports)
        .related(service, of_paths, &[], BACKENDS_MAX)
        .related(service, default, &[], BACKENDS_MAX)
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    let verdict = by_address(object, input);
    if verdict.state != READY && verdict.state != PRESENT {
        return verdict;
    }
    let coverage = [0, 1].map(|rule| input.related(rule).coverage());
    if coverage.contains(&Coverage::Complete) && !object.spec().is_object() {
        // The Services are reported, but the Ingress does not name them.
        return standard::spec_not_reported();
    }
    match missing_backend(object, input) {
        Some(name) => {
            let message = format!("there is no Service {name}, to which it sends requests");
            Verdict::degraded("BackendNotFound", message)
        }
        None => verdict,
    }
}

/// The first named Service that does not exist, or `None` if more Services may exist than are
/// reported.
fn missing_backend<'a>(object: &Object<'a>, input: &Input<'_>) -> Option<&'a str> {
    let backends = if object.group() == OLD_GROUP {
        &OLD_BACKENDS
    } else {
        &BACKENDS
    };
    let service = |backend: Node<'a>| {
        let is_action = backend.at(backends.port).text() == Some(ACTION_PORT);
        let name = backend.at(backends.name).text_or_empty();
        (!is_action && !name.is_empty()).then_some(name)
    };
    let paths = object.at("/spec/rules").items();
    let paths = paths.flat_map(|rule| rule.at("/http/paths").items());
    let of_paths = paths.filter_map(|path| service(path.get("backend")));
    let default = service(object.at(backends.default));
    missing(of_paths, input.related(0)).or_else(|| missing(default, input.related(1)))
}

/// The first of these names that no Service has.
fn missing<'a>(
    names: impl IntoIterator<Item = &'a str>,
    services: RelatedSet<'_>,
) -> Option<&'a str> {
    let are_all_seen = i64::try_from(services.objects().len()) == Ok(services.total());
    if services.coverage() != Coverage::Complete || !are_all_seen {
        return None;
    }
    names.into_iter().find(|&name| {
        let mut services = services.objects();
        !services.any(|service| service.metadata().get("name").text() == Some(name))
    })
}

fn by_address(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    if let Some(verdict) = standard::deletion(object, input) {
        return verdict;
    }
    let mut addresses = object.at("/status/loadBalancer/ingress").items();
    if let Some(verdict) = addresses.clone().find_map(refused_port) {
        return verdict;
    }
    if addresses.any(Node::is_object) {
        return Verdict::ready("AddressAssigned", "it has an address");
    }
    if requires_address(class(object), input) {
        let message = "no controller has given it an address yet";
        return Verdict::pending("NoAddress", message);
    }
    let message = "its controller publishes no address, so whether it works is not known";
    Verdict::present("NoAddressExpected", message)
}

/// Failed, if a port of the address cannot be served.
fn refused_port(address: Node<'_>) -> Option<Verdict> {
    address.get("ports").items().find_map(|port| {
        let error = port.get("error").text().filter(|error| !error.is_empty())?;
        let number = port.get("port").integer().unwrap_or_default();
        let message = format!("port {number} cannot be served: {error}");
        Some(Verdict::failed("PortError", message))
    })
}

fn class<'a>(object: &Object<'a>) -> Option<&'a str> {
    let class = object.at("/spec/ingressClassName").text();
    class.or_else(|| object.annotation(CLASS_ANNOTATION))
}

fn requires_address(class: Option<&str>, input: &Input<'_>) -> bool {
    let settings = input.settings();
    let required = settings.get("requireAddress").flag().unwrap_or(true);
    let mut without = settings.get("classesWithoutAddress").items();
    let excepted = without.any(|name| name.text().is_some() && name.text() == class);
    required && !excepted
}
