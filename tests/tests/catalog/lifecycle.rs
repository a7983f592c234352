//! Load, candidate, promote, roll back, remove.

use std::sync::Arc;

use expect_test::expect;
use kindsight_api::interpreters::{LiveCondition, Refusal, ShadowBase, ShadowRun};
use kindsight_catalog::{CatalogLimits, Promote};
use kindsight_model::Source;

use crate::settings::SCHEMA;
use crate::{Host, candidate, component, component_with, digest, file, name, outcome_text, upload};

#[test]
fn a_loaded_component_is_live_and_loading_it_again_changes_nothing() {
    let host = Host::new();
    let first = upload("a", component("a", "1.0.0"));
    expect!["Live: a 1.0.0 is live"].assert_eq(&host.load(&first));
    assert_eq!(host.judges("a"), "a 1.0.0");
    let (generation, swaps) = (
        host.catalog.interpreters().published().generation(),
        host.swaps.load(std::sync::atomic::Ordering::Relaxed),
    );
    let writes = host.store.writes();
    expect!["Unchanged: a 1.0.0 is live already: nothing changed"].assert_eq(&host.load(&first));
    assert_eq!(
        host.catalog.interpreters().published().generation(),
        generation
    );
    assert_eq!(host.swaps.load(std::sync::atomic::Ordering::Relaxed), swaps);
    assert_eq!(host.store.writes(), writes, "nothing was written");
    assert_eq!(
        host.catalog
            .entry(&name("a"))
            .expect("an entry")
            .history
            .len(),
        1
    );
    let second = upload("a", component("a", "2.0.0"));
    expect!["Live: a 2.0.0 is live, replacing 1.0.0 from upload"].assert_eq(&host.load(&second));
    assert_eq!(host.judges("a"), "a 2.0.0");
    assert_eq!(
        host.versions("a", Source::Upload),
        ["2.0.0 Live", "1.0.0 Previous"]
    );
    expect!["Load Some(Upload): a 2.0.0 is live, replacing 1.0.0 from upload"]
        .assert_eq(&host.last_event("a"));
}

#[test]
fn a_candidate_waits_until_it_is_promoted_by_its_digest() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    let next = component("a", "2.0.0");
    expect!["refused: `a` has no candidate"]
        .assert_eq(&outcome_text(&host.catalog.promote(&name("a"), None)));
    expect!["Candidate: a 2.0.0 is accepted and can be promoted"]
        .assert_eq(&host.load(&candidate("a", next.clone())));
    expect!["Unchanged: a 2.0.0 is candidate already: nothing changed"]
        .assert_eq(&host.load(&candidate("a", next.clone())));
    assert_eq!(host.judges("a"), "a 1.0.0");
    let other = digest(b"another");
    expect!["refused: the candidate of `a` is sha256:…, not sha256:…"].assert_eq(&outcome_text(
        &host.catalog.promote(&name("a"), Some(&other)),
    ));
    assert_eq!(host.judges("a"), "a 1.0.0");
    let shadow = host
        .catalog
        .shadow(&name("a"), &ShadowRun::default())
        .expect("a candidate");
    assert_eq!(shadow.live.map(|it| it.version).as_deref(), Some("1.0.0"));
    assert_eq!(shadow.candidate.version, "2.0.0");
    expect!["Live: a 2.0.0 is live, replacing 1.0.0 from upload"].assert_eq(&outcome_text(
        &host.catalog.promote(&name("a"), Some(&digest(&next))),
    ));
    assert_eq!(host.judges("a"), "a 2.0.0");
    expect!["refused: `a` has no candidate"]
        .assert_eq(&outcome_text(&host.catalog.promote(&name("a"), None)));
}

#[test]
fn a_later_candidate_takes_the_place_of_an_earlier_one() {
    let host = Host::new();
    host.load(&candidate("a", component("a", "1.0.0")));
    host.load(&candidate("a", component("a", "2.0.0")));
    assert_eq!(host.versions("a", Source::Upload), ["2.0.0 Candidate"]);
    assert_eq!(
        host.store.kept().components.len(),
        1,
        "the earlier one is dropped"
    );
    assert_eq!(host.judges("a"), "nobody");
    expect!["Live: a 2.0.0 is live"]
        .assert_eq(&outcome_text(&host.catalog.promote(&name("a"), None)));
    assert_eq!(host.judges("a"), "a 2.0.0");
}

#[test]
fn a_rolled_back_version_is_refused_until_it_is_uploaded() {
    let host = Host::new();
    let (first, second) = (component("a", "1.0.0"), component("a", "2.0.0"));
    host.load(&file("a", first));
    expect!["refused: `a` has no version to roll back to; use `disable` to exclude it"]
        .assert_eq(&outcome_text(&host.catalog.rollback(&name("a"))));
    host.load(&file("a", second.clone()));
    expect!["Live: a 1.0.0 is live again, rolled back from 2.0.0"]
        .assert_eq(&outcome_text(&host.catalog.rollback(&name("a"))));
    assert_eq!(host.judges("a"), "a 1.0.0");
    assert_eq!(
        host.versions("a", Source::Directory),
        ["1.0.0 Live", "2.0.0 RolledBack"]
    );
    expect!["refused: received: these bytes of `a` were rolled back (rolled back by an operator); upload them to try again"]
        .assert_eq(&host.load(&file("a", second.clone())));
    assert_eq!(host.judges("a"), "a 1.0.0");
    assert_eq!(
        host.versions("a", Source::Directory),
        ["1.0.0 Live", "2.0.0 RolledBack"]
    );
    expect!["Live: a 2.0.0 is live, replacing 1.0.0 from directory"]
        .assert_eq(&host.load(&upload("a", second)));
    assert_eq!(host.judges("a"), "a 2.0.0");
}

#[test]
fn an_upload_that_was_rolled_back_can_be_tried_again() {
    let host = Host::new();
    let (first, second) = (component("a", "1.0.0"), component("a", "2.0.0"));
    host.load(&upload("a", first));
    host.load(&upload("a", second.clone()));
    host.catalog.rollback(&name("a")).expect("there is one");
    expect!["Live: a 2.0.0 is live, replacing 1.0.0 from upload"]
        .assert_eq(&host.load(&upload("a", second)));
    assert_eq!(
        host.versions("a", Source::Upload),
        ["2.0.0 Live", "1.0.0 Previous"]
    );
}

#[test]
fn versions_and_history_are_bounded() {
    let limits = CatalogLimits {
        versions_kept_max: 2,
        ..CatalogLimits::default()
    };
    let host = Host::open(Arc::default(), &[], limits).expect("a catalog");
    for number in 1..=5 {
        let version = format!("{number}.0.0");
        host.admit(&upload("a", component("a", &version)))
            .expect("it loads");
    }
    assert_eq!(
        host.versions("a", Source::Upload),
        ["5.0.0 Live", "4.0.0 Previous", "3.0.0 Previous"]
    );
    assert_eq!(
        host.store.kept().components.len(),
        3,
        "the others are dropped"
    );
    for number in 0..40 {
        host.catalog
            .set_disabled(&name("a"), number % 2 == 0)
            .expect("a name");
        let garbage = format!("garbage {number}").into_bytes();
        host.admit(&upload("a", garbage)).expect_err("no component");
    }
    let entry = host.catalog.entry(&name("a")).expect("an entry");
    assert_eq!(entry.history.len(), 50);
    assert_eq!(entry.sources[&Source::Upload].versions.len(), 3 + 5);
    assert_eq!(host.store.kept().components.len(), 3);
    let entry = host.store.kept().names.into_values().next();
    let entry = entry.expect("an entry");
    assert!(entry.len() < 32 * 1024, "{} bytes", entry.len());
}

#[test]
fn a_disabled_interpreter_is_live_from_no_source_until_it_is_enabled() {
    let host = Host::new();
    host.load(&file("a", component("a", "1.0.0")));
    host.load(&upload("a", component("a", "2.0.0")));
    expect!["Disabled: a is disabled"]
        .assert_eq(&outcome_text(&host.catalog.set_disabled(&name("a"), true)));
    assert_eq!(host.judges("a"), "nobody");
    expect!["Unchanged: a is disabled"]
        .assert_eq(&outcome_text(&host.catalog.set_disabled(&name("a"), true)));
    let next = upload("a", component("a", "3.0.0"));
    expect!["Disabled: a 3.0.0 is accepted, but the name is disabled: `enable` makes it live"]
        .assert_eq(&host.load(&next));
    expect!["Unchanged: a 3.0.0 is live already: nothing changed, but the name is disabled: `enable` makes it live"]
        .assert_eq(&host.load(&next));
    assert_eq!(host.judges("a"), "nobody");
    expect!["Live: a is enabled"]
        .assert_eq(&outcome_text(&host.catalog.set_disabled(&name("a"), false)));
    assert_eq!(host.judges("a"), "a 3.0.0");

    host.load(&candidate("a", component("a", "4.0.0")));
    host.catalog.set_disabled(&name("a"), true).expect("a name");
    expect!["Disabled: a 4.0.0 is promoted, but the name is disabled: `enable` makes it live"]
        .assert_eq(&outcome_text(&host.catalog.promote(&name("a"), None)));
    assert_eq!(host.judges("a"), "nobody");
    expect!["Disabled: a 4.0.0 is rolled back to 3.0.0, but the name is disabled: `enable` makes it live"]
        .assert_eq(&outcome_text(&host.catalog.rollback(&name("a"))));
    let removed = host.catalog.remove(&name("a"), Source::Upload);
    expect!["Disabled: a is removed from upload; 1.0.0 from directory remains, but the name is disabled: `enable` makes it live"]
        .assert_eq(&outcome_text(&removed));
    assert_eq!(host.judges("a"), "nobody");
}

/// Every known version can be promoted by its digest: a formerly live, a rolled-back and a built-in version.
#[test]
fn a_known_version_is_promoted_by_its_digest() {
    let built_in = component("a", "1.0.0");
    let host = Host::over(Arc::default(), std::slice::from_ref(&built_in));
    let (second, third) = (component("a", "2.0.0"), component("a", "3.0.0"));
    let promote =
        |bytes: &[u8]| outcome_text(&host.catalog.promote(&name("a"), Some(&digest(bytes))));
    expect!["Unchanged: a was not disabled: nothing changed; 1.0.0 is live"]
        .assert_eq(&outcome_text(&host.catalog.set_disabled(&name("a"), false)));

    host.load(&upload("a", second.clone()));
    host.load(&upload("a", third.clone()));
    expect!["Live: a 2.0.0 is live, replacing 3.0.0 from upload"].assert_eq(&promote(&second));
    expect!["Unchanged: a 2.0.0 is live already: nothing changed"].assert_eq(&promote(&second));
    host.catalog.rollback(&name("a")).expect("there is one");
    expect!["Live: a 2.0.0 is live, replacing 3.0.0 from upload"].assert_eq(&promote(&second));
    host.catalog.set_disabled(&name("a"), true).expect("a name");
    expect!["Live: a 2.0.0 is enabled and live"].assert_eq(&promote(&second));
    expect!["Live: a 1.0.0 is live, replacing 2.0.0 from upload; 2.0.0 from upload, which overrode it, is previous now"]
        .assert_eq(&promote(&built_in));
    assert_eq!(host.judges("a"), "a 1.0.0");
    expect!["refused: `a` has no stored version with the digest sha256:…"]
        .assert_eq(&promote(b"another"));
}

/// The directory does not restore a version that an operator replaced.
#[test]
fn a_file_that_would_cover_a_promoted_version_is_refused() {
    let built_in = component("a", "1.0.0");
    let host = Host::over(Arc::default(), std::slice::from_ref(&built_in));
    host.load(&file("a", component("a", "2.0.0")));
    let promoted = host.catalog.promote(&name("a"), Some(&digest(&built_in)));
    expect!["Live: a 1.0.0 is live, replacing 2.0.0 from directory; 2.0.0 from directory, which overrode it, is rolled-back now"]
        .assert_eq(&outcome_text(&promoted));
    expect!["refused: received: these bytes of `a` were rolled back (another version was promoted by an operator); upload them to try again"]
        .assert_eq(&host.load(&file("a", component("a", "2.0.0"))));
    assert_eq!(host.judges("a"), "a 1.0.0");
}

/// The directory reports its files again at each start, and its file still contains the later version.
#[test]
fn a_file_does_not_undo_the_promotion_of_its_earlier_version() {
    let host = Host::new();
    let (first, second) = (component("a", "1.0.0"), component("a", "2.0.0"));
    host.load(&file("a", first.clone()));
    host.load(&file("a", second.clone()));
    let promoted = host.catalog.promote(&name("a"), Some(&digest(&first)));
    expect!["Live: a 1.0.0 is live, replacing 2.0.0 from directory"]
        .assert_eq(&outcome_text(&promoted));
    let host = host.again();
    expect!["refused: received: these bytes of `a` were rolled back (another version was promoted by an operator); upload them to try again"]
        .assert_eq(&host.load(&file("a", second.clone())));
    assert_eq!(host.judges("a"), "a 1.0.0");
    assert_eq!(
        host.versions("a", Source::Directory),
        ["1.0.0 Live", "2.0.0 RolledBack"]
    );
    let promoted = host.catalog.promote(&name("a"), Some(&digest(&second)));
    expect!["Live: a 2.0.0 is live, replacing 1.0.0 from directory"]
        .assert_eq(&outcome_text(&promoted));
    expect!["Unchanged: a 2.0.0 is live already: nothing changed"]
        .assert_eq(&host.load(&file("a", second)));
}

/// An operator and the circuit breaker see the same faults. Only one of them rolls back.
#[test]
fn of_two_rollbacks_from_one_version_the_second_is_refused() {
    let host = Host::new();
    for version in ["1.0.0", "2.0.0", "3.0.0"] {
        host.load(&upload("a", component("a", version)));
    }
    let seen = LiveCondition::OneOf(vec![digest(&component("a", "3.0.0"))]);
    let rollback = || outcome_text(&host.catalog.when(seen.clone()).rollback(&name("a")));
    expect!["Live: a 2.0.0 is live again, rolled back from 3.0.0"].assert_eq(&rollback());
    expect!["refused: the live version is 2.0.0 (sha256:…)"].assert_eq(&rollback());
    assert_eq!(host.judges("a"), "a 2.0.0");
    let when = host.catalog.when(seen);
    let next = upload("a", component("a", "4.0.0"));
    for refused in [
        when.admit(&next),
        when.promote(
            &name("a"),
            &Promote {
                digest: Some(digest(&component("a", "1.0.0"))),
                ..Promote::default()
            },
        ),
        when.set_disabled(&name("a"), true),
        when.set_settings(&name("a"), None, &[]),
        when.remove(&name("a"), Source::Upload),
    ] {
        assert!(matches!(refused, Err(Refusal::Changed(_))), "{refused:?}");
    }
    assert_eq!(host.judges("a"), "a 2.0.0");
}

#[test]
fn an_upload_is_rolled_back_to_the_version_of_the_directory() {
    let host = Host::over(Arc::default(), &[component("a", "0.9.0")]);
    host.load(&file("a", component("a", "1.0.0")));
    host.load(&upload("a", component("a", "2.0.0")));
    host.load(&upload("a", component("a", "3.0.0")));
    for (expected, judging) in [
        (
            expect!["Live: a 2.0.0 is live again, rolled back from 3.0.0"],
            "a 2.0.0",
        ),
        (
            expect!["Live: a 1.0.0 from directory is live again, rolled back from 2.0.0"],
            "a 1.0.0",
        ),
        (
            expect!["Live: a 0.9.0 from built-in is live again, rolled back from 1.0.0"],
            "a 0.9.0",
        ),
    ] {
        expected.assert_eq(&outcome_text(&host.catalog.rollback(&name("a"))));
        assert_eq!(host.judges("a"), judging);
    }
    expect!["refused: `a` has no version to roll back to; use `disable` to exclude it"]
        .assert_eq(&outcome_text(&host.catalog.rollback(&name("a"))));
    assert_eq!(host.judges("a"), "a 0.9.0", "a refusal changes nothing");
}

#[test]
fn a_candidate_whose_shadow_run_had_faults_needs_force() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    let next = component("a", "2.0.0");
    host.load(&candidate("a", next.clone()));
    let (a, next) = (name("a"), digest(&next));
    host.catalog.note_shadow(&a, &next, 3).expect("a candidate");
    let host = host.again();
    let refused = "refused: 3 calls of the last shadow run of `a` 2.0.0 ended in a fault: `promote --force` makes it live all the same";
    for digest in [None, Some(&next)] {
        assert_eq!(outcome_text(&host.catalog.promote(&a, digest)), refused);
        assert_eq!(host.judges("a"), "a 1.0.0");
    }
    let forced = Promote {
        is_forced: true,
        ..Promote::default()
    };
    let promoted = host.catalog.when(LiveCondition::Any).promote(&a, &forced);
    expect!["Live: a 2.0.0 is live, replacing 1.0.0 from upload"]
        .assert_eq(&outcome_text(&promoted));
}

#[test]
fn a_later_shadow_run_without_faults_needs_no_force() {
    let host = Host::new();
    let next = component("a", "2.0.0");
    host.load(&candidate("a", next.clone()));
    let (a, next) = (name("a"), digest(&next));
    for faults in [3, 0] {
        host.catalog
            .note_shadow(&a, &next, faults)
            .expect("a candidate");
    }
    expect!["Live: a 2.0.0 is live"].assert_eq(&outcome_text(&host.catalog.promote(&a, None)));
    let writes = host.store.writes();
    host.catalog.note_shadow(&a, &next, 5).expect("it is live");
    assert_eq!(
        host.store.writes(),
        writes,
        "a live version is no candidate"
    );
}

#[test]
fn a_candidate_is_compared_with_the_built_in_version() {
    let host = Host::over(Arc::default(), &[component("a", "0.9.0")]);
    let run = ShadowRun {
        base: ShadowBase::BuiltIn,
        settings: None,
    };
    host.load(&upload("a", component("a", "1.0.0")));
    let versions = |run: &ShadowRun| {
        let shadow = host.catalog.shadow(&name("a"), run).expect("two versions");
        let live = shadow.live.map(|version| version.version);
        (live, shadow.candidate.version)
    };
    let of = |live: &str, candidate: &str| (Some(live.to_owned()), candidate.to_owned());
    assert_eq!(versions(&run), of("0.9.0", "1.0.0"), "the live version");
    host.load(&candidate("a", component("a", "2.0.0")));
    assert_eq!(versions(&run), of("0.9.0", "2.0.0"));
    assert_eq!(versions(&ShadowRun::default()), of("1.0.0", "2.0.0"));
    host.load(&upload("b", component("b", "1.0.0")));
    let shadow = host.catalog.shadow(&name("b"), &run).expect("a version");
    assert!(shadow.live.is_none());
    assert!(shadow.before.stats("b").is_none() && shadow.after.stats("b").is_some());
}

#[test]
fn a_component_that_is_not_stored_is_compared_and_changes_nothing() {
    let host = Host::over(Arc::default(), &[component("a", "0.9.0")]);
    let versions = |bytes: &[u8], base| {
        let interpreter = host.catalog.load_bytes(bytes).expect("a component");
        let shadow = host.catalog.shadow_component(&interpreter, base);
        let shadow = shadow.expect("two sets");
        let live = shadow.live.map(|version| version.version);
        (live, shadow.candidate.version)
    };
    let of = |live: Option<&str>, new: &str| (live.map(str::to_owned), new.to_owned());
    host.load(&upload("a", component("a", "1.0.0")));
    host.load(&candidate("a", component("a", "2.0.0")));
    let (list, writes) = (host.versions("a", Source::Upload), host.store.writes());
    let next = component("a", "3.0.0");
    let (live, built_in) = (ShadowBase::Live, ShadowBase::BuiltIn);
    assert_eq!(versions(&next, live), of(Some("1.0.0"), "3.0.0"));
    assert_eq!(versions(&next, built_in), of(Some("0.9.0"), "3.0.0"));
    let new = component("b", "1.0.0");
    assert_eq!(versions(&new, live), of(None, "1.0.0"), "an unknown name");
    assert_eq!(host.versions("a", Source::Upload), list);
    assert_eq!(host.store.writes(), writes);
    assert!(host.catalog.entry(&name("b")).is_none());
    assert_eq!(host.judges("a"), "a 1.0.0");
    assert_eq!(host.judges("b"), "nobody");
}

#[test]
fn a_component_that_is_not_stored_must_fit_the_present_settings_and_kinds() {
    let host = Host::new();
    host.load(&upload("a", component_with("a", "1.0.0", SCHEMA)));
    let level = serde_json::json!({"level": 3});
    let set = host
        .catalog
        .set_settings(&name("a"), level.as_object().cloned());
    expect!["Live: the settings of a are set"].assert_eq(&outcome_text(&set));
    let why = |bytes: &[u8]| {
        let interpreter = host.catalog.load_bytes(bytes).expect("a component");
        let shadow = host
            .catalog
            .shadow_component(&interpreter, ShadowBase::Live);
        shadow.expect_err("a refusal").to_string()
    };
    let renamed = SCHEMA.replace("level", "height");
    let refused = why(&component_with("a", "2.0.0", &renamed));
    assert!(
        refused.contains("settings of `a`: ") && refused.contains("level"),
        "{refused}"
    );
    host.load(&upload("b", component("b", "1.0.0")));
    let other = kindsight_tests::hostile(
        r#"{"name": "c", "version": "1.0.0", "kinds": [["b", "*", "Thing"]]}"#,
    );
    let refused = why(&other);
    assert!(refused.contains("both claim `b/* Thing`"), "{refused}");
}

#[test]
fn a_reused_or_older_version_goes_live_with_a_warning_or_is_refused() {
    let other = |version: &str| component_with("a", version, r#", "fields": ["/metadata"]"#);
    let host = Host::new();
    host.load(&upload("a", component("a", "1.10.0")));
    expect!["Live: a 1.10.0 is live, replacing 1.10.0 from upload; warning: 1.10.0 is also the version of other bytes from upload: give each build a version of its own"].assert_eq(&host.load(&upload("a", other("1.10.0"))));
    expect!["Live: a 1.9.0 is live, replacing 1.10.0 from upload; warning: 1.9.0 is older than 1.10.0 from upload"].assert_eq(&host.load(&upload("a", component("a", "1.9.0"))));
    expect!["Live: a 1.11.0-rc.1 is live, replacing 1.9.0 from upload"]
        .assert_eq(&host.load(&upload("a", component("a", "1.11.0-rc.1"))));
    let limits = CatalogLimits {
        refuses_old_versions: true,
        ..CatalogLimits::default()
    };
    let host = Host::open(Arc::default(), &[], limits).expect("a catalog");
    host.load(&upload("a", component("a", "1.10.0")));
    expect!["refused: published: 1.10.0 is also the version of other bytes from upload: give each build a version of its own"].assert_eq(&host.load(&upload("a", other("1.10.0"))));
    expect!["refused: published: 1.9.0 is older than 1.10.0 from upload"]
        .assert_eq(&host.load(&candidate("a", component("a", "1.9.0"))));
    assert_eq!(host.judges("a"), "a 1.10.0");
    expect!["Live: a 1.10.1 is live, replacing 1.10.0 from upload"]
        .assert_eq(&host.load(&upload("a", component("a", "1.10.1"))));
}
