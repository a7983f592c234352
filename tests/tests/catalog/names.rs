//! Names: a refused or unused component leaves no name, and every unused name can be removed.

use expect_test::expect;
use kindsight_model::Source;

use crate::{Host, candidate, component, file, name, outcome_text, upload};

#[test]
fn a_refused_component_leaves_a_line_and_no_name() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    let writes = host.store.writes();
    for number in 0..100 {
        host.load(&upload(&format!("junk-{number}"), b"junk".to_vec()));
        host.load(&file("an-odd-stem", b"junk".to_vec()));
    }
    assert_eq!(host.catalog.entries().len(), 1);
    assert_eq!(host.store.writes(), writes, "nothing was written");
    assert!(host.catalog.refused().len() <= 64);
    expect!["validated: not a WebAssembly component: it is text that begins with `junk`: give the .wasm file"]
        .assert_eq(&host.last_refusal());
    let disabled = host.catalog.set_disabled(&name("junk-1"), true);
    expect!["refused: there is no such interpreter"].assert_eq(&outcome_text(&disabled));
}

#[test]
fn a_refusal_writes_no_other_name() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    host.load(&upload("b", component("b", "1.0.0")));
    let before = host.store.kept();
    host.load(&upload("b", b"junk".to_vec()));
    let after = host.store.kept();
    let changed = |kept: &crate::failing_store::Kept| kept.names.clone();
    let (before, after) = (changed(&before), changed(&after));
    let changed: Vec<&String> = after
        .iter()
        .filter(|(key, value)| before.get(*key) != Some(*value))
        .map(|(key, _)| key)
        .collect();
    assert_eq!(changed, ["/kindsight/interpreters/names/b/"]);
}

#[test]
fn disable_needs_something_to_disable() {
    let host = Host::new();
    host.load(&candidate("a", component("a", "1.0.0")));
    let disabled = host.catalog.set_disabled(&name("a"), true);
    expect!["refused: no version of `a` is live: there is nothing to disable"]
        .assert_eq(&outcome_text(&disabled));
}

#[test]
fn an_unused_name_can_be_removed() {
    let host = Host::new();
    let remove = |of: &str| outcome_text(&host.catalog.remove(&name(of), Source::Upload));
    host.load(&upload("a", component("a", "1.0.0")));
    expect!["None: a is removed from upload"].assert_eq(&remove("a"));
    assert!(
        host.catalog.entry(&name("a")).is_some(),
        "it can be gone back to"
    );
    expect!["None: a is removed: none of its versions was in use"].assert_eq(&remove("a"));
    assert!(host.catalog.entry(&name("a")).is_none());
    expect!["refused: there is no such interpreter"].assert_eq(&remove("a"));
}

#[test]
fn unused_names_are_removed_together() {
    let host = Host::new();
    for letter in ["a", "b", "c", "d"] {
        host.load(&upload(letter, component(letter, "1.0.0")));
    }
    host.load(&file("e", component("e", "1.0.0")));
    for letter in ["a", "b"] {
        host.catalog
            .remove(&name(letter), Source::Upload)
            .expect("an upload");
    }
    host.catalog.set_disabled(&name("c"), true).expect("a name");
    let removed = host.catalog.remove_unused().expect("a change");
    assert_eq!(removed, [name("a"), name("b")]);
    assert_eq!(host.store.kept().names.len(), 3);
    assert_eq!(host.store.kept().components.len(), 3);
    let writes = host.store.writes();
    assert!(host.catalog.remove_unused().expect("nothing").is_empty());
    assert_eq!(host.store.writes(), writes);
}
