//! Two hosts over one store: each follows the other, and neither overwrites changes that it has not seen.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use expect_test::expect;
use kindsight_catalog::{IncomingComponent, follow_hosts};
use kindsight_model::Source;
use tokio_util::sync::CancellationToken;

use crate::failing_store::Failing;
use crate::{Host, component, component_with, digest, file, name, outcome_text, upload};

const LOOSE: &str = r#", "settings-schema": "{}""#;

fn swaps(host: &Host) -> usize {
    host.swaps.load(Ordering::Relaxed)
}

fn hosts() -> (Host, Host) {
    let first = Host::new();
    let second = Host::over(Arc::clone(&first.store), &[]);
    (first, second)
}

#[test]
fn an_upload_to_one_host_is_live_on_the_other() {
    let (first, second) = hosts();
    first.load(&upload("a", component("a", "1.0.0")));
    assert!(second.live().is_empty(), "it has not looked");
    assert!(second.catalog.follow().expect("a state"));
    assert_eq!(second.judges("a"), "a 1.0.0");
    assert!(!second.catalog.follow().expect("a state"), "nothing is new");
    assert_eq!(second.catalog.entries(), first.catalog.entries());

    second.load(&upload("a", component("a", "2.0.0")));
    let settings = serde_json::json!({"level": 7});
    second.load(&upload("b", component_with("b", "1.0.0", LOOSE)));
    let set = second
        .catalog
        .set_settings(&name("b"), settings.as_object().cloned());
    set.expect("they fit");
    first.catalog.follow().expect("a state");
    assert_eq!(first.live(), ["a 2.0.0 Upload", "b 1.0.0 Upload"]);
    let judged = first.judge("b", r#"{"do": "say-settings"}"#);
    assert_eq!(&*judged.message, "level 7");

    first
        .catalog
        .rollback(&name("a"))
        .expect("it knows of the first");
    second.catalog.follow().expect("a state");
    assert_eq!(second.judges("a"), "a 1.0.0");
}

/// The test does not call `follow`; the second host watches the store.
#[test]
fn a_host_follows_the_changes_of_another() {
    let (first, second) = hosts();
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    let shutdown = CancellationToken::new();
    let following = follow_hosts(Arc::clone(&second.catalog), shutdown.clone());
    let following = runtime.spawn(following);
    for version in ["1.0.0", "2.0.0"] {
        first.load(&upload("a", component("a", version)));
        let begin = Instant::now();
        while second.judges("a") != format!("a {version}") {
            assert!(begin.elapsed().as_secs() < 60, "still {:?}", second.live());
            std::thread::yield_now();
        }
    }
    shutdown.cancel();
    let ended = runtime.block_on(following).expect("no panic");
    ended.expect("it was followed to the end");
}

#[test]
fn following_counts_a_swap_only_after_a_change() {
    let (first, second) = hosts();
    let before = swaps(&second);
    first.load(&upload("a", component("a", "1.0.0")));
    second.catalog.follow().expect("a state");
    assert_eq!(swaps(&second), before + 1);
    second.catalog.follow().expect("a state");
    assert_eq!(swaps(&second), before + 1);
}

/// A host that changes something has followed all earlier changes.
#[test]
fn no_change_of_another_host_is_overwritten() {
    let (first, second) = hosts();
    first.load(&upload("a", component("a", "1.0.0")));
    second.load(&upload("b", component("b", "1.0.0")));
    first.load(&file("c", component("c", "1.0.0")));
    second
        .catalog
        .set_disabled(&name("a"), true)
        .expect("a name");
    first.catalog.follow().expect("a state");
    assert_eq!(first.live(), ["b 1.0.0 Upload", "c 1.0.0 Directory"]);
    assert_eq!(first.live(), second.live());
    expect!["Unchanged: c 1.0.0 is live already: nothing changed"]
        .assert_eq(&second.load(&file("c", component("c", "1.0.0"))));
    expect!["refused: there is no such interpreter"].assert_eq(&outcome_text(
        &second.catalog.remove(&name("d"), Source::Upload),
    ));
}

/// Another host may write between a read and a write of this host. No change is lost, and one of the changes is refused.
#[test]
fn one_of_two_simultaneous_changes_must_be_retried() {
    let (first, second) = hosts();
    let (catalog, other) = (Arc::clone(&second.catalog), component("b", "1.0.0"));
    first.store.before_state(Box::new(move || {
        catalog.admit(&upload("b", other)).expect("it is first");
    }));
    let incoming = upload("a", component("a", "1.0.0"));
    expect!["refused: another host changed the interpreters at the same time: try again"]
        .assert_eq(&first.load(&incoming));
    assert_eq!(second.live(), ["b 1.0.0 Upload"]);
    first.load(&incoming);
    assert_eq!(first.live(), ["a 1.0.0 Upload", "b 1.0.0 Upload"]);
    second.catalog.follow().expect("a state");
    assert_eq!(second.live(), first.live());
}

/// Another host removes unused components. It also removes a component that this host has just stored.
#[test]
fn an_upload_whose_component_another_host_removes_must_be_retried() {
    let (first, second) = hosts();
    let (catalog, other) = (Arc::clone(&second.catalog), component("b", "1.0.0"));
    first.store.after_component(Box::new(move || {
        catalog.admit(&upload("b", other)).expect("it is first");
    }));
    let incoming = upload("a", component("a", "1.0.0"));
    expect!["refused: another host changed the interpreters at the same time: try again"]
        .assert_eq(&first.load(&incoming));
    assert_eq!(first.live(), ["b 1.0.0 Upload"]);
    expect!["Live: a 1.0.0 is live"].assert_eq(&first.load(&incoming));
    second.catalog.follow().expect("all components are stored");
    assert_eq!(second.live(), ["a 1.0.0 Upload", "b 1.0.0 Upload"]);
}

#[test]
fn a_host_that_cannot_follow_keeps_its_live_set() {
    let (first, second) = hosts();
    first.load(&upload("a", component("a", "1.0.0")));
    second.catalog.follow().expect("a state");
    first.load(&upload("a", component("a", "2.0.0")));
    second.store.fail(Failing::ReadComponents);
    second.catalog.follow().expect_err("no component");
    assert_eq!(second.judges("a"), "a 1.0.0");
    second.store.mend();
    assert!(second.catalog.follow().expect("a state"), "it tries again");
    assert_eq!(second.judges("a"), "a 2.0.0");
}

/// If a host cannot follow, a component that is uploaded during this time is not blamed.
#[test]
fn a_fault_of_the_store_is_not_held_against_a_component() {
    let first = Host::new();
    let second = Host::over(Arc::clone(&first.store), &[]);
    first.load(&upload("a", component("a", "1.0.0")));
    second.store.fail(Failing::ReadComponents);
    expect!["refused: the change was not stored: the store failed: the disk does not answer"]
        .assert_eq(&second.load(&upload("b", component("b", "1.0.0"))));
    second.store.mend();
    second.catalog.follow().expect("a state");
    assert!(
        second.catalog.entry(&name("b")).is_none(),
        "nothing is held against it"
    );
    expect!["Live: b 1.0.0 is live"].assert_eq(&second.load(&upload("b", component("b", "1.0.0"))));
}

/// The same file on two hosts is admitted once.
#[test]
fn the_same_bytes_on_another_host_change_nothing() {
    let (first, second) = hosts();
    let incoming = file("a", component("a", "1.0.0"));
    first.load(&incoming);
    expect!["Unchanged: a 1.0.0 is live already: nothing changed"]
        .assert_eq(&second.load(&incoming));
    second.load(&file("a", b"garbage".to_vec()));
    first.catalog.follow().expect("a state");
    let entry = first.catalog.entry(&name("a")).expect("an entry");
    assert_eq!(entry.history.len(), 2, "refusals are shared too");
}

/// During the rollout of a release, hosts have different built-in interpreters. Each host judges with its own.
#[test]
fn hosts_of_two_releases_do_not_answer_each_other_for_ever() {
    let (older, newer) = (component("base", "1.0.0"), component("base", "2.0.0"));
    let first = Host::over(Arc::default(), &[older]);
    let second = Host::over(Arc::clone(&first.store), &[newer]);
    let writes = first.store.writes();
    for _ in 0..3 {
        first.catalog.follow().expect("a state");
        second.catalog.follow().expect("a state");
    }
    assert_eq!(first.store.writes(), writes, "following writes nothing");
    assert_eq!(first.judges("base"), "base 1.0.0");
    assert_eq!(second.judges("base"), "base 2.0.0");
    first.load(&upload("a", component("a", "0.9.0")));
    first.load(&upload("a", component("a", "1.0.0")));
    second.catalog.follow().expect("a state");
    assert_eq!(second.live(), ["a 1.0.0 Upload", "base 2.0.0 BuiltIn"]);
    let bad = digest(&component("a", "1.0.0"));
    second
        .catalog
        .trip_breaker(&name("a"), &bad, "faults")
        .expect("live");
    first.catalog.follow().expect("a state");
    assert_eq!(first.live(), ["a 0.9.0 Upload", "base 1.0.0 BuiltIn"]);
}

/// During the rollout of a release, each host has its own built-in version, and writes the entry without the version of
/// the other release.
#[test]
fn a_rollback_of_a_built_in_version_outlasts_the_writes_of_another_release() {
    let (older, newer) = (component("base", "1.0.0"), component("base", "2.0.0"));
    let first = Host::over(Arc::default(), &[older]);
    first.load(&IncomingComponent {
        source: Source::Catalogue,
        ..file("base", component("base", "0.9.0"))
    });
    let rollback = |host: &Host| {
        let rolled_back = host.catalog.rollback(&name("base"));
        rolled_back.expect("the catalogue of rules has a version");
        assert_eq!(host.live(), ["base 0.9.0 Catalogue"]);
    };
    rollback(&first);
    let second = Host::over(Arc::clone(&first.store), &[newer]);
    assert_eq!(second.live(), ["base 2.0.0 BuiltIn"]);
    first.catalog.follow().expect("a state");
    assert_eq!(first.live(), ["base 0.9.0 Catalogue"]);

    rollback(&second);
    for is_disabled in [true, false] {
        let written = first.catalog.set_disabled(&name("base"), is_disabled);
        written.expect("a name");
    }
    second.catalog.follow().expect("a state");
    for host in [&first, &second] {
        assert_eq!(host.live(), ["base 0.9.0 Catalogue"]);
        assert_eq!(
            host.versions("base", Source::BuiltIn),
            ["2.0.0 RolledBack", "1.0.0 RolledBack"]
        );
    }
}
