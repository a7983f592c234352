//! Interpreter for the group `gateway.networking.k8s.io`: Gateways, their classes, routes and
//! policies.
//!
//! All of them report the same conditions, in different parts of the status: see [`parts`].

mod parents;
mod parts;
mod rules;

use kindsight_sdk::prelude::*;

/// The interpreter.
pub struct Gateway;

const GROUP: &str = "gateway.networking.k8s.io";

const ROUTES: [&str; 5] = ["HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"];

const ROUTE_FIELDS: [&str; 3] = ["/metadata/namespace", "/spec/parentRefs", "/status/parents"];

impl Interpreter for Gateway {
    fn describe() -> Description {
        let kind = |kind, fields: &[&str]| {
            let kind = Kind::new(GROUP, "*", kind).standard_checks();
            kind.fields(fields)
        };
        Description::new(
            GROUP,
            env!("CARGO_PKG_VERSION"),
            "Gateways, their classes, routes and policies",
        )
        .kinds([
            kind("GatewayClass", &[]),
            kind("Gateway", &["/status/listeners"]),
            kind("ListenerSet", &["/status/listeners"]),
            kind("BackendTLSPolicy", &["/status/ancestors"]),
            Kind::new(GROUP, "*", "ReferenceGrant").deletion_check(),
        ])
        .kinds(ROUTES.map(|route| kind(route, &ROUTE_FIELDS)))
        .states(&[READY, PRESENT, DEGRADED, PENDING, FAILED, TERMINATING])
    }

    fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        let rule = match object.kind() {
            "GatewayClass" => rules::gateway_class,
            "Gateway" | "ListenerSet" => rules::gateway,
            "BackendTLSPolicy" => rules::backend_tls_policy,
            "ReferenceGrant" => standard::presence,
            kind if ROUTES.contains(&kind) => rules::route,
            _ => return Err(Failure::unsupported("another Kind of this group")),
        };
        Ok(rule(object, input))
    }

    fn fixtures() -> Fixtures {
        fixtures!("fixtures")
    }
}

#[cfg(feature = "component")]
kindsight_sdk::export!(Gateway);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_holds() {
        kindsight_sdk::harness::check_fixtures::<Gateway>();
    }

    #[test]
    fn no_damage_makes_an_object_ready() {
        kindsight_sdk::harness::check_mutations::<Gateway>();
    }

    #[test]
    fn a_message_names_the_affected_part() {
        let route = r#"{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
            "status": {"parents": [
                {"parentRef": {"name": "a"}, "conditions": [{"type": "Accepted", "status": "True"}]},
                {"parentRef": {"name": "b", "sectionName": "tls"}, "conditions": [
                    {"type": "Accepted", "status": "True"},
                    {"type": "ResolvedRefs", "status": "False", "message": "no such Service"}]}]}}"#;
        let verdict = kindsight_sdk::harness::judge::<Gateway>(route).unwrap();
        assert_eq!(verdict.message, "parent b, section tls: no such Service");
    }
}
