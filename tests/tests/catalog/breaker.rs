//! What fails too often is gone back from.

use std::sync::Arc;
use std::time::{Duration, Instant};

use expect_test::expect;
use kindsight_catalog::CatalogLimits;
use kindsight_model::Source;

use crate::{Room, component, component_with, file, name, upload};

const LOOSE: &str = r#", "settings-schema": "{}""#;

impl Room {
    /// So many calls that end as `what` says.
    fn call(&self, times: usize, what: &str) {
        for number in 0..times {
            let spec = format!(r#"{{"do": "{what}", "text": "as asked", "number": {number}}}"#);
            self.judge("a", &spec);
        }
    }
}

#[test]
fn what_fails_too_often_is_gone_back_from() {
    let room = Room::new();
    let (first, second) = (component("a", "1.0.0"), component("a", "2.0.0"));
    room.take(&file("a", first));
    room.take(&file("a", second.clone()));
    let now = Instant::now();
    room.call(9, "panic");
    room.catalog.check_breaker(now);
    assert_eq!(room.judges("a"), "a 2.0.0", "nine calls say too little");
    room.call(1, "panic");
    room.catalog.check_breaker(now + Duration::from_secs(1));
    assert_eq!(room.judges("a"), "a 1.0.0");
    assert_eq!(
        room.versions("a", Source::Directory),
        ["1.0.0 Live", "2.0.0 RolledBack"]
    );
    expect!["Breaker None: 10 of its last 11 calls ended in a fault; rolled back to 1.0.0"]
        .assert_eq(&room.last_event("a"));
    expect!["refused: received: `a` was rolled back from these bytes (10 of its last 11 calls ended in a fault); upload them to try again"]
        .assert_eq(&room.take(&file("a", second)));
    room.catalog.check_breaker(now + Duration::from_secs(2));
    assert_eq!(room.judges("a"), "a 1.0.0", "the faults were not its own");
}

#[test]
fn without_a_version_before_its_kind_falls_to_whoever_else_judges_it() {
    let generic = kindsight_plugins::built_in("generic")
        .expect("built in")
        .wasm
        .to_vec();
    let room = Room::over(Arc::default(), &[generic]);
    room.take(&upload("a", component("a", "1.0.0")));
    assert_eq!(room.judges("a"), "a 1.0.0");
    room.call(20, "panic");
    room.catalog.check_breaker(Instant::now());
    assert!(
        room.judges("a").starts_with("generic "),
        "{}",
        room.judges("a")
    );
    expect!["Breaker None: 20 of its last 21 calls ended in a fault; its Kinds fall back to the next interpreter"]
        .assert_eq(&room.last_event("a"));
}

#[test]
fn it_goes_back_to_the_lower_source() {
    let room = Room::over(Arc::default(), &[component("a", "1.0.0")]);
    room.take(&upload("a", component("a", "2.0.0")));
    room.call(20, "undeclared-state");
    room.catalog.check_breaker(Instant::now());
    assert_eq!(room.live(), ["a 1.0.0 BuiltIn"]);
    expect![
        "Breaker None: 20 of its last 20 calls ended in a fault; rolled back to 1.0.0 from built-in"
    ]
    .assert_eq(&room.last_event("a"));
}

#[test]
fn an_object_that_cannot_be_read_is_no_fault_of_its_own() {
    let room = Room::new();
    room.take(&upload("a", component("a", "1.0.0")));
    room.take(&upload("a", component("a", "2.0.0")));
    room.call(30, "invalid-input");
    room.catalog.check_breaker(Instant::now());
    assert_eq!(room.judges("a"), "a 2.0.0");
}

#[test]
fn a_share_below_the_limit_is_borne() {
    let room = Room::new();
    room.take(&upload("a", component("a", "1.0.0")));
    room.take(&upload("a", component("a", "2.0.0")));
    room.call(20, "panic");
    room.call(21, "waver");
    room.catalog.check_breaker(Instant::now());
    assert_eq!(room.judges("a"), "a 2.0.0");
}

#[test]
fn it_can_be_turned_off() {
    let limits = CatalogLimits {
        breaker_fault_percent: 0,
        ..CatalogLimits::default()
    };
    let room = Room::open(Arc::default(), &[], limits).expect("a catalog");
    room.take(&upload("a", component("a", "1.0.0")));
    room.call(20, "panic");
    room.catalog.check_breaker(Instant::now());
    assert_eq!(room.judges("a"), "a 1.0.0");
}

#[test]
fn what_failed_long_ago_is_forgotten() {
    let room = Room::new();
    room.take(&upload("a", component("a", "1.0.0")));
    room.take(&upload("a", component("a", "2.0.0")));
    let start = Instant::now();
    let at = |second| start + Duration::from_secs(second);
    room.catalog.check_breaker(at(0));
    // Four in a hundred now, and nothing but faults, too few to count, a while later.
    room.call(96, "waver");
    room.call(4, "panic");
    for second in 1..=70 {
        room.catalog.check_breaker(at(second));
    }
    room.call(5, "panic");
    for second in 71..=140 {
        room.catalog.check_breaker(at(second));
    }
    assert_eq!(room.judges("a"), "a 2.0.0");
}

/// Settings that the earlier version refuses must not keep the breaker from going back.
#[test]
fn settings_do_not_keep_the_breaker_from_going_back() {
    let room = Room::new();
    room.take(&upload("a", component("a", "1.0.0")));
    room.take(&upload("a", component_with("a", "2.0.0", LOOSE)));
    let settings = serde_json::json!({"level": 1});
    room.catalog
        .set_settings(&name("a"), settings.as_object().cloned())
        .expect("they fit");
    room.call(20, "panic");
    room.catalog.check_breaker(Instant::now());
    assert_eq!(room.judges("a"), "nobody");
    expect!["Breaker None: 20 of its last 20 calls ended in a fault; disabled, since it cannot roll back: published: settings of `a`: a 1.0.0 (sha256:…) takes no settings"]
        .assert_eq(&room.last_event("a"));
    assert!(room.catalog.entry(&name("a")).expect("a page").is_disabled);
}
