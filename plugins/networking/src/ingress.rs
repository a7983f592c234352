//! Ingress.
//!
//! As Argo CD: an address shows that a controller serves it. Many controllers never publish one
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

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
    if let Some(verdict) = standard::deletion(object) {
        return Ok(verdict);
    }
    let mut addresses = object.at("/status/loadBalancer/ingress").items();
    if addresses.any(Node::is_object) {
        return Ok(Verdict::ready("AddressAssigned", "it has an address"));
    }
    if requires_address(class(object), input) {
        let message = "no controller has given it an address yet";
        return Ok(Verdict::pending("NoAddress", message));
    }
    let message = "its controller publishes no address, so whether it works is not known";
    Ok(Verdict::present("NoAddressExpected", message))
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
