//! Ingress.
//!
//! As Argo CD: an address shows that a controller serves it, unless it says that a port cannot be served,
//! which is a failure as it is for a Service. Many controllers never publish one
//! (argo-cd#14607, #28345, #5620), so settings may name the classes without; such an Ingress is
//! Present, because nothing shows that it works.

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

/// Annotation that named the class before `spec.ingressClassName`.
const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";

pub(crate) fn kind(group: &str) -> Kind {
    Kind::new(group, "*", "Ingress")
        .fields(&standard::DELETION_FIELDS)
        .fields(&[
            "/metadata/annotations/kubernetes.io~1ingress.class",
            "/spec/ingressClassName",
            "/status/loadBalancer/ingress",
        ])
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    if let Some(verdict) = standard::deletion(object) {
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

/// Failed, when a port of the address cannot be served.
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
