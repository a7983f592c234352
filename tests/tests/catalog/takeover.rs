//! Kinds that an interpreter takes over from others, and names of built-in ones.

use std::sync::Arc;

use expect_test::expect;
use kindsight_catalog::{IncomingComponent, takeover_lines};
use kindsight_model::Source;

use crate::{Host, candidate, component, file, name, outcome_text, upload};

/// A component that judges these Kinds, each as `group/version/Kind`.
fn judging(name: &str, kinds: &[&str]) -> Vec<u8> {
    let kinds: Vec<Vec<&str>> = kinds.iter().map(|kind| kind.split('/').collect()).collect();
    let description = serde_json::json!({"name": name, "kinds": kinds});
    kindsight_tests::hostile(&description.to_string())
}

/// A host with `a` and `rest` built in, the second for everything.
fn host() -> Host {
    let built_in = [
        judging("a", &["a/*/Thing", "a/*/Other", "group/*/*"]),
        judging("rest", &["*/*/*"]),
    ];
    Host::over(Arc::default(), &built_in)
}

impl Host {
    /// Takeovers of an admission, a line for each interpreter that they are from.
    fn takes(&self, incoming: &IncomingComponent) -> Vec<String> {
        takeover_lines(&self.admit(incoming).expect("admitted").takes)
    }
}

#[test]
fn takeovers_name_the_source_of_the_other_interpreter() {
    let host = host();
    let kinds = [
        "a/*/Thing",
        "a/v1/Other",
        "group/*/Member",
        "new/*/Kind",
        "*.new/*/*",
    ];
    let taking = upload("b", judging("b", &kinds));
    let expected = ["a/*/Thing, a/v1/Other, group/*/Member from a 1.0.0 built-in"];
    assert_eq!(host.takes(&candidate("b", taking.bytes.clone())), expected);
    expect!["Upload: b 1.0.0 is accepted and can be promoted; would take a/*/Thing, a/v1/Other, group/*/Member from a 1.0.0 built-in"]
        .assert_eq(&host.last_event("b").replace("Load Some(Upload)", "Upload"));
    let promoted = host.catalog.promote(&name("b"), None).expect("promoted");
    assert_eq!(takeover_lines(&promoted.takes), expected);
    host.catalog
        .set_disabled(&name("b"), true)
        .expect("disabled");
    let enabled = host
        .catalog
        .set_disabled(&name("b"), false)
        .expect("enabled");
    assert_eq!(takeover_lines(&enabled.takes), expected);
    assert!(host.takes(&taking).is_empty(), "nothing changed");
    let update = upload("b", crate::component_with("b", "2.0.0", ""));
    assert!(host.takes(&update).is_empty(), "its own Kinds alone");
}

#[test]
fn a_component_that_wins_no_kind_takes_nothing_over() {
    let host = host();
    host.load(&upload("b", judging("b", &["a/*/Thing"])));
    assert!(
        host.takes(&file("b", judging("b", &["a/*/Thing", "a/*/Other"])))
            .is_empty()
    );
    assert!(
        host.takes(&file("c", judging("c", &["a/*/Thing"])))
            .is_empty()
    );
    let wider = upload("d", judging("d", &["a/*/*", "*/*/Thing"]));
    assert!(
        host.takes(&wider).is_empty(),
        "less specific than the other interpreter"
    );
}

#[test]
fn the_name_of_a_built_in_one_is_not_taken_without_its_kinds() {
    let host = host();
    let other = judging("a", &["a/*/Thing", "b/*/Thing"]);
    expect!["refused: published: `a` is the name of a built-in interpreter, but this component does not judge its a/*/Other, group/*/*, so a more general interpreter would judge them: give it another name, or send it with `--replace-built-in` (`?replace=true`) to replace the built-in interpreter"]
        .assert_eq(&host.load(&upload("a", other.clone())));
    expect!["refused: published: `a` is the name of a built-in interpreter, but this component does not judge its a/*/Other, group/*/*, so a more general interpreter would judge them: give it another name, or start the server with `--replace-built-in` to replace the built-in interpreter"]
        .assert_eq(&host.load(&file("other-stem", other.clone())));
    assert!(host.admit(&candidate("a", other.clone())).is_err());
    assert_eq!(host.live(), ["a 1.0.0 BuiltIn", "rest 1.0.0 BuiltIn"]);
    let allowed = IncomingComponent {
        replaces_built_in: true,
        ..upload("a", other)
    };
    let replaced = host.admit(&allowed);
    expect!["Live: a 1.0.0 is live, replacing 1.0.0 from built-in; warning: 1.0.0 is also the version of other bytes from built-in: give each build a version of its own"]
        .assert_eq(&outcome_text(&replaced));
    let takes = takeover_lines(&replaced.expect("admitted").takes);
    assert_eq!(takes, ["a/*/Thing from a 1.0.0 built-in"]);
}

#[test]
fn more_kinds_under_the_name_of_a_built_in_one_are_an_update() {
    let host = host();
    let more = judging("a", &["a/*/*", "group/*/*", "b/*/Thing"]);
    expect!["Live: a 1.0.0 is live, replacing 1.0.0 from built-in; warning: 1.0.0 is also the version of other bytes from built-in: give each build a version of its own"]
        .assert_eq(&host.load(&upload("a", more)));
}

#[test]
fn a_component_has_its_declared_name_under_any_file_name() {
    let host = Host::new();
    let unnamed = IncomingComponent {
        name: None,
        ..upload("any", component("b", "1.0.0"))
    };
    expect!["Live: b 1.0.0 is live"].assert_eq(&host.load(&unnamed));
    host.load(&file("a-stem", component("a", "1.0.0")));
    // An interpreter is not affected by junk in a file with its name.
    host.load(&file("b", b"junk".to_vec()));
    host.load(&file("a-stem", b"junk".to_vec()));
    let history = |of: &str| {
        host.catalog
            .entry(&name(of))
            .expect("an entry")
            .history
            .len()
    };
    assert_eq!((history("b"), history("a")), (1, 2));
    expect!["Refuse Some(Directory): validated: not a WebAssembly component: it is text that begins with `junk`: give the .wasm file"]
        .assert_eq(&host.last_event("a"));
    let refused = host.catalog.refused();
    assert!(refused.iter().all(|component| component.name.is_none()));
    assert_eq!(refused.len(), 2, "the same bytes in two files");
}

/// Its author overrides one case of a built-in rule and declines the others.
#[test]
fn a_built_in_rule_judges_what_its_replacement_declines() {
    let blind = |kinds: &str| {
        kindsight_tests::hostile(&format!(
            r#"{{"name": "a", "version": "0.9.0", "kinds": [{kinds}], "fields": ["/metadata"]}}"#
        ))
    };
    let both = blind(r#"["a", "*", "Thing"], ["b", "*", "Thing"]"#);
    let host = Host::over(Arc::default(), &[both]);
    let replacing = IncomingComponent {
        replaces_built_in: true,
        ..upload("a", component("a", "1.0.0"))
    };
    host.admit(&replacing).expect("it replaces");
    assert_eq!(host.live(), ["a 1.0.0 Upload"]);
    assert_eq!(host.judges("a"), "a 1.0.0");
    let judged_by = |group: &str, what: &str| {
        let verdict = host.judge(group, &format!(r#"{{"do": "{what}"}}"#));
        let by = verdict.by.map(|by| by.version.to_string());
        (by, verdict.state.to_string())
    };
    let by = |version: &str, state: &str| (Some(version.to_owned()), state.to_owned());
    assert_eq!(judged_by("a", "unsupported"), by("0.9.0", "Ready"));
    assert_eq!(
        judged_by("a", "panic"),
        by("1.0.0", "Unknown"),
        "a fault does not fall through"
    );
    assert_eq!(
        host.judges("b"),
        "nobody",
        "a Kind that the replacement does not judge is lost"
    );
    host.catalog
        .remove(&name("a"), Source::Upload)
        .expect("an upload");
    assert_eq!(judged_by("a", "unsupported"), by("0.9.0", "Ready"));
}
