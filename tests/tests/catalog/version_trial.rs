//! Trials of new versions on the known objects: a version that fails where the live one has a verdict does not go live.

use std::sync::Arc;

use expect_test::expect;
use kindsight_api::interpreters::LiveCondition;
use kindsight_catalog::{CatalogLimits, Promote};
use kindsight_interpreter::ReportedGroup;
use kindsight_model::{Coverage, Source};

use crate::{Host, candidate, component, component_with, file, name, outcome_text, thing, upload};

/// The Kind of `a`'s Things panics with it.
const PANIC: &str = r#"{"do": "panic", "text": "secret of the object"}"#;

impl Host {
    /// Makes Things of `a` with these specs known.
    fn report(&self, specs: &[&str]) {
        let group = ReportedGroup {
            label: Some("app in p+c".into()),
            application: None,
            objects: specs.iter().map(|spec| thing("a", spec)).collect(),
            related: [].into(),
            covered: Coverage::partial(),
        };
        *self.known.0.lock().expect("no test panics with it") = vec![group];
    }
}

/// A version that reads no `spec`, so it has a verdict on every object.
fn healthy(version: &str) -> Vec<u8> {
    component_with("a", version, r#", "fields": ["/metadata/name"]"#)
}

/// A version that panics on every object with [`PANIC`].
fn failing(version: &str) -> Vec<u8> {
    component("a", version)
}

fn limits(promote_faults_max: u64) -> CatalogLimits {
    CatalogLimits {
        promote_faults_max,
        ..CatalogLimits::default()
    }
}

#[test]
fn a_file_that_fails_on_a_known_object_does_not_replace_the_live_version() {
    let host = Host::new();
    host.report(&["{}", PANIC, PANIC]);
    assert_eq!(
        host.load(&file("a", healthy("1.0.0"))),
        "Live: a 1.0.0 is live"
    );
    let refused = host.load(&file("a", failing("2.0.0")));
    expect!["refused: tried: its calls for 2 of the 3 known objects that it was tried on end in a fault, and the live version has a verdict on them (2 a/v1/Thing: InterpreterTrapped); at most 0 are permitted; correct it, or raise `kindsight serve --promote-max-faults`"].assert_eq(&refused);
    assert_eq!(host.judges("a"), "a 1.0.0", "the live version continues");
    assert_eq!(format!("refused: {}", host.last_refusal()), refused);
    assert_eq!(
        host.versions("a", Source::Directory),
        [" Refused", "1.0.0 Live"],
    );
    assert!(
        !refused.contains("secret"),
        "every viewer may list refusals"
    );
}

#[test]
fn an_upload_that_fails_on_a_known_object_can_be_a_candidate_and_be_forced() {
    let host = Host::new();
    host.report(&["{}", PANIC]);
    host.load(&upload("a", healthy("1.0.0")));
    let refused = host.load(&upload("a", failing("2.0.0")));
    assert!(refused.ends_with("at most 0 are permitted; `load --candidate` and `shadow` show the objects, and `promote --force` makes it live all the same"), "{refused}");
    host.load(&candidate("a", failing("2.0.0")));
    let promoted = outcome_text(&host.catalog.promote(&name("a"), None));
    expect!["refused: its calls for 1 of the 2 known objects that it was tried on end in a fault, and the live version has a verdict on them (1 a/v1/Thing: InterpreterTrapped); at most 0 are permitted; `shadow` shows the objects, and `promote --force` makes it live all the same"].assert_eq(&promoted);
    assert!(
        host.last_refusal()
            .starts_with("tried: its calls for 1 of the 2")
    );
    assert_eq!(host.judges("a"), "a 1.0.0");
    let force = Promote {
        is_forced: true,
        ..Promote::default()
    };
    let forced = (host.catalog.when(LiveCondition::Any)).promote(&name("a"), &force);
    assert_eq!(
        outcome_text(&forced),
        "Live: a 2.0.0 is live, replacing 1.0.0 from upload"
    );
}

#[test]
fn permitted_faults_are_reported_and_no_refusal() {
    let host = Host::open(Arc::default(), &[], limits(1)).expect("a catalog");
    host.report(&["{}", PANIC]);
    host.load(&upload("a", healthy("1.0.0")));
    expect!["Live: a 2.0.0 is live, replacing 1.0.0 from upload; it fails on 1 known objects that had a verdict (1 a/v1/Thing: InterpreterTrapped)"]
        .assert_eq(&host.load(&upload("a", failing("2.0.0"))));
}

/// Faults that the live version has too, and objects that cannot be read, are not worse.
#[test]
fn only_objects_that_get_worse_count() {
    let host = Host::new();
    host.load(&upload("a", failing("1.0.0")));
    host.report(&["{}", PANIC]);
    assert_eq!(
        host.load(&upload("a", failing("2.0.0"))),
        "Live: a 2.0.0 is live, replacing 1.0.0 from upload"
    );
    host.load(&upload("a", healthy("3.0.0")));
    host.report(&[r#"{"do": "invalid-object", "text": "no"}"#, "{}"]);
    assert_eq!(
        host.load(&upload("a", failing("4.0.0"))),
        "Live: a 4.0.0 is live, replacing 3.0.0 from upload"
    );
}

/// The first version of a name replaces the interpreter that judges its Kinds until then.
#[test]
fn a_new_name_is_compared_with_the_interpreter_that_it_replaces() {
    let general = kindsight_tests::hostile(
        r#"{"name": "general", "version": "1.0.0", "kinds": [["*", "*", "*"]], "fields": ["/metadata/name"]}"#,
    );
    let host = Host::over(Arc::default(), &[general]);
    host.report(&[PANIC]);
    let refused = host.load(&file("a", failing("1.0.0")));
    assert!(
        refused.starts_with("refused: tried: its calls for 1 of the 1 known"),
        "{refused}"
    );
    assert_eq!(host.judges("a"), "general 1.0.0");
}

/// `enable` makes the version live without another trial.
#[test]
fn a_new_version_of_a_disabled_name_is_tried_too() {
    let general = kindsight_tests::hostile(
        r#"{"name": "general", "version": "1.0.0", "kinds": [["*", "*", "*"]], "fields": ["/metadata/name"]}"#,
    );
    let host = Host::over(Arc::default(), &[general]);
    let first = failing("1.0.0");
    host.load(&upload("a", first.clone()));
    host.report(&[PANIC]);
    host.catalog.set_disabled(&name("a"), true).expect("a name");
    let refused = host.load(&upload("a", failing("2.0.0")));
    assert!(
        refused.starts_with("refused: tried: its calls for 1 of the 1 known"),
        "{refused}"
    );
    host.load(&candidate("a", failing("3.0.0")));
    let refused = outcome_text(&host.catalog.promote(&name("a"), None));
    assert!(
        refused.starts_with("refused: its calls for 1 of the 1 known"),
        "{refused}"
    );
    // The version that was live before `disable` is not tried again.
    let same = host.load(&upload("a", first));
    assert!(same.starts_with("Unchanged: a 1.0.0"), "{same}");
    let enabled = host.catalog.set_disabled(&name("a"), false);
    assert_eq!(outcome_text(&enabled), "Live: a is enabled");
    assert_eq!(host.judges("a"), "a 1.0.0");
}

/// Another interpreter has the Kinds of the disabled name, so the name cannot be enabled.
#[test]
fn a_version_of_a_disabled_name_that_cannot_be_enabled_is_accepted_without_a_trial() {
    let host = Host::new();
    host.load(&upload("a", healthy("1.0.0")));
    host.catalog.set_disabled(&name("a"), true).expect("a name");
    let twin = kindsight_tests::hostile(r#"{"name": "b", "kinds": [["a", "*", "Thing"]]}"#);
    host.load(&upload("b", twin));
    let loaded = host.load(&upload("a", healthy("2.0.0")));
    expect!["Disabled: a 2.0.0 is accepted, but the name is disabled: `enable` makes it live; it was not tried on the known objects: published: a 2.0.0 (sha256:…) and b 1.0.0 (sha256:…) both claim `a/* Thing`: remove one of them"].assert_eq(&loaded);
}

#[test]
fn a_version_that_was_live_before_is_not_tried() {
    let host = Host::new();
    let first = failing("1.0.0");
    host.load(&upload("a", first.clone()));
    host.load(&upload("a", healthy("2.0.0")));
    host.report(&[PANIC]);
    let promoted = host
        .catalog
        .promote(&name("a"), Some(&crate::digest(&first)));
    assert_eq!(
        outcome_text(&promoted),
        "Live: a 1.0.0 is live, replacing 2.0.0 from upload"
    );
}
