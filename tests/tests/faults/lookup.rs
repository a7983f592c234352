//! Lookup of the interpreter for an object.

use std::sync::Arc;

use expect_test::expect;
use kindsight_interpreter::{Interpreter, Interpreters};
use kindsight_model::{Object, Source};

use crate::{hostile, object, one_worker, start, thing, without_digests};

fn claims(interpreters: &Interpreters, name: &str, pattern: [&str; 3]) -> Arc<Interpreter> {
    let [group, version, kind] = pattern;
    let kinds = format!(r#"[["{group}", "{version}", "{kind}"]]"#);
    hostile(
        interpreters,
        &format!(r#"{{"name": "{name}", "kinds": {kinds}}}"#),
    )
}

fn asked(interpreters: &Interpreters, object: Object) -> String {
    let batch: Arc<[Object]> = [object].into();
    let mut judged = interpreters.judge_each(&batch, 0);
    let by = judged.remove(0).by;
    by.map_or_else(|| "nobody".to_owned(), |by| by.name.to_string())
}

#[test]
fn the_most_specific_pattern_is_asked() {
    let interpreters = start(one_worker());
    let patterns = [
        ("any", ["*", "*", "*"]),
        ("suffix", ["*.com", "*", "*"]),
        ("longer-suffix", ["*.example.com", "*", "*"]),
        ("group", ["a.example.com", "*", "*"]),
        ("kind", ["a.example.com", "*", "Thing"]),
        ("version", ["a.example.com", "v1", "Thing"]),
    ];
    let mut set = Vec::new();
    for (name, pattern) in patterns {
        // Each pattern is more specific than all earlier ones. The order of the set does not matter.
        set.insert(0, (Source::Upload, claims(&interpreters, name, pattern)));
        interpreters.publish(set.clone()).expect("a set");
        assert_eq!(asked(&interpreters, object("a.example.com", "{}")), name);
    }
    assert_eq!(
        asked(&interpreters, object("b.example.com", "{}")),
        "longer-suffix"
    );
    assert_eq!(asked(&interpreters, object("b.com", "{}")), "suffix");
    assert_eq!(asked(&interpreters, object("b.org", "{}")), "any");
}

#[test]
fn a_declined_object_is_judged_by_the_next_interpreter() {
    let interpreters = start(one_worker());
    let generic = kindsight_plugins::built_in("generic").expect("built in");
    let generic = interpreters.load(generic.wasm).expect("it loads");
    let declining = hostile(&interpreters, r#"{"name": "hostile"}"#);
    let set = vec![(Source::BuiltIn, generic), (Source::Upload, declining)];
    interpreters.publish(set).expect("a set");
    assert_eq!(asked(&interpreters, thing("{}")), "hostile");
    assert_eq!(
        asked(&interpreters, thing(r#"{"do": "unsupported"}"#)),
        "generic"
    );
    assert_eq!(asked(&interpreters, thing(r#"{"do": "panic"}"#)), "hostile");
}

#[test]
fn an_object_that_all_interpreters_decline_has_no_verdict() {
    let interpreters = start(one_worker());
    let declining = hostile(&interpreters, r#"{"name": "hostile"}"#);
    interpreters
        .publish(vec![(Source::Upload, declining)])
        .expect("a set");
    assert_eq!(
        asked(&interpreters, thing(r#"{"do": "unsupported"}"#)),
        "nobody"
    );
    let batch: Arc<[Object]> = [thing(r#"{"do": "unsupported"}"#)].into();
    let judged = interpreters.judge_each(&batch, 0);
    assert_eq!(
        crate::verdict_text(&judged[0]),
        "Unknown NoInterpreter: no interpreter handles hostile.example.com/v1 Thing"
    );
}

#[test]
fn two_of_one_source_may_not_claim_the_same() {
    let interpreters = start(one_worker());
    let pattern = ["a.example.com", "*", "Thing"];
    let [first, second, twin] =
        ["first", "second", "first"].map(|name| claims(&interpreters, name, pattern));
    let before = interpreters
        .publish(vec![(Source::Upload, Arc::clone(&first))])
        .expect("a set");
    let refuse = |set: [&Arc<Interpreter>; 2]| {
        let set = set.map(|interpreter| (Source::Upload, Arc::clone(interpreter)));
        let error = interpreters
            .publish(set.into())
            .expect_err("it contradicts itself");
        let words = error.to_string();
        // Debug output of an interpreter ends with twelve digits of its digest.
        words
            .replace(first.digest().short(), "…")
            .replace(second.digest().short(), "…")
    };
    expect![
        "first 1.0.0 (…) and second 1.0.0 (…) both claim `a.example.com/* Thing`: remove one of them"
    ]
    .assert_eq(&without_digests(&refuse([&first, &second])));
    expect!["first 1.0.0 (…) and first 1.0.0 (…) have the same name: remove one of them"]
        .assert_eq(&without_digests(&refuse([&first, &twin])));
    assert_eq!(
        interpreters.published().generation(),
        before,
        "the set before stays"
    );
    assert_eq!(asked(&interpreters, object("a.example.com", "{}")), "first");
}

#[test]
fn a_file_overrides_what_is_built_in() {
    let interpreters = start(one_worker());
    let pattern = ["a.example.com", "*", "Thing"];
    let shipped = claims(&interpreters, "shipped", pattern);
    let own = claims(&interpreters, "own", pattern);
    for set in [
        vec![
            (Source::BuiltIn, Arc::clone(&shipped)),
            (Source::Upload, Arc::clone(&own)),
        ],
        vec![(Source::Upload, own), (Source::BuiltIn, shipped)],
    ] {
        interpreters.publish(set).expect("a set");
        assert_eq!(asked(&interpreters, object("a.example.com", "{}")), "own");
        assert_eq!(interpreters.published().interpreters().count(), 2);
    }
}

#[test]
fn a_file_replaces_the_built_in_of_its_name_altogether() {
    let interpreters = start(one_worker());
    let shipped = claims(&interpreters, "shipped", ["a.example.com", "*", "Thing"]);
    let own = claims(&interpreters, "shipped", ["b.example.com", "*", "Thing"]);
    let set = vec![(Source::BuiltIn, shipped), (Source::Upload, own)];
    interpreters.publish(set).expect("a set");
    assert_eq!(interpreters.published().interpreters().count(), 1);
    assert_eq!(
        asked(&interpreters, object("b.example.com", "{}")),
        "shipped"
    );
    assert_eq!(
        asked(&interpreters, object("a.example.com", "{}")),
        "nobody"
    );
}
