//! Fixtures that the host checks before the component goes live.

mod conditions;
mod objects;
mod words;

use conditions::CONDITIONS;
use kindsight_sdk::prelude::*;
use objects::OBJECTS;
use words::{PARTS, WORDS};

pub(crate) fn all() -> Vec<Fixture> {
    let statuses = CONDITIONS.iter().chain(WORDS).chain(PARTS);
    let statuses = statuses.map(|(name, state, status)| {
        let object = format!(
            r#"{{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {{"generation": 2}},
                "spec": {{}}, "status": {status}}}"#
        );
        Fixture::new(name, state).object(&object)
    });
    let objects = OBJECTS.iter().map(|(name, state, reason, members)| {
        let object = format!(r#"{{"apiVersion": "example.com/v1", "kind": "Widget", {members}}}"#);
        Fixture::new(name, state).reason(reason).object(&object)
    });
    let grace = Fixture::new("the grace of a silent object can be set", "Present")
        .settings(r#"{"statusGraceSeconds": 0}"#)
        .object(NEW);
    statuses.chain(objects).chain([grace]).collect()
}

const NEW: &str = r#"{"apiVersion": "example.com/v1", "kind": "Widget",
    "metadata": {"creationTimestamp": "1970-01-01T00:00:00Z"}}"#;

/// Name, state, and the status of an object of generation 2.
type Example = (&'static str, &'static str, &'static str);
