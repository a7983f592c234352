//! The circuit breaker: an interpreter that fails too often is rolled back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use expect_test::expect;
use kindsight_catalog::CatalogLimits;
use kindsight_model::Source;

use crate::{Host, component, component_with, file, name, upload};

const LOOSE: &str = r#", "settings-schema": "{}""#;

impl Host {
    /// Makes so many calls that end as `what` says.
    fn call(&self, times: usize, what: &str) {
        for number in 0..times {
            let spec = format!(r#"{{"do": "{what}", "text": "as asked", "number": {number}}}"#);
            self.judge("a", &spec);
        }
    }
}

#[test]
fn what_fails_too_often_is_rolled_back() {
    let host = Host::new();
    let (first, second) = (component("a", "1.0.0"), component("a", "2.0.0"));
    host.load(&file("a", first));
    host.load(&file("a", second.clone()));
    let now = Instant::now();
    host.call(9, "panic");
    host.catalog.check_breaker(now);
    assert_eq!(host.judges("a"), "a 2.0.0", "nine calls say too little");
    host.call(1, "panic");
    host.catalog.check_breaker(now + Duration::from_secs(1));
    assert_eq!(host.judges("a"), "a 1.0.0");
    assert_eq!(
        host.versions("a", Source::Directory),
        ["1.0.0 Live", "2.0.0 RolledBack"]
    );
    expect!["Breaker None: 10 of its last 11 calls ended in a fault; rolled back to 1.0.0"]
        .assert_eq(&host.last_event("a"));
    expect!["refused: received: `a` was rolled back from these bytes (10 of its last 11 calls ended in a fault); upload them to try again"]
        .assert_eq(&host.load(&file("a", second)));
    host.catalog.check_breaker(now + Duration::from_secs(2));
    assert_eq!(host.judges("a"), "a 1.0.0", "the faults were not its own");
}

#[test]
fn without_a_version_before_its_kind_falls_to_whoever_else_judges_it() {
    let generic = kindsight_plugins::built_in("generic")
        .expect("built in")
        .wasm
        .to_vec();
    let host = Host::over(Arc::default(), &[generic]);
    host.load(&upload("a", component("a", "1.0.0")));
    assert_eq!(host.judges("a"), "a 1.0.0");
    host.call(20, "panic");
    host.catalog.check_breaker(Instant::now());
    assert!(
        host.judges("a").starts_with("generic "),
        "{}",
        host.judges("a")
    );
    expect!["Breaker None: 20 of its last 21 calls ended in a fault; its Kinds fall back to the next interpreter"]
        .assert_eq(&host.last_event("a"));
}

#[test]
fn it_rolls_back_to_the_lower_source() {
    let host = Host::over(Arc::default(), &[component("a", "1.0.0")]);
    host.load(&upload("a", component("a", "2.0.0")));
    host.call(20, "undeclared-state");
    host.catalog.check_breaker(Instant::now());
    assert_eq!(host.live(), ["a 1.0.0 BuiltIn"]);
    expect![
        "Breaker None: 20 of its last 20 calls ended in a fault; rolled back to 1.0.0 from built-in"
    ]
    .assert_eq(&host.last_event("a"));
}

#[test]
fn an_object_that_cannot_be_read_is_no_fault_of_its_own() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    host.load(&upload("a", component("a", "2.0.0")));
    host.call(30, "invalid-input");
    host.catalog.check_breaker(Instant::now());
    assert_eq!(host.judges("a"), "a 2.0.0");
}

#[test]
fn a_share_below_the_limit_is_borne() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    host.load(&upload("a", component("a", "2.0.0")));
    host.call(20, "panic");
    host.call(21, "waver");
    host.catalog.check_breaker(Instant::now());
    assert_eq!(host.judges("a"), "a 2.0.0");
}

#[test]
fn it_can_be_turned_off() {
    let limits = CatalogLimits {
        breaker_fault_percent: 0,
        ..CatalogLimits::default()
    };
    let host = Host::open(Arc::default(), &[], limits).expect("a catalog");
    host.load(&upload("a", component("a", "1.0.0")));
    host.call(20, "panic");
    host.catalog.check_breaker(Instant::now());
    assert_eq!(host.judges("a"), "a 1.0.0");
}

#[test]
fn what_failed_long_ago_is_forgotten() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    host.load(&upload("a", component("a", "2.0.0")));
    let start = Instant::now();
    let at = |second| start + Duration::from_secs(second);
    host.catalog.check_breaker(at(0));
    // Four in a hundred now, and nothing but faults, too few to count, a while later.
    host.call(96, "waver");
    host.call(4, "panic");
    for second in 1..=70 {
        host.catalog.check_breaker(at(second));
    }
    host.call(5, "panic");
    for second in 71..=140 {
        host.catalog.check_breaker(at(second));
    }
    assert_eq!(host.judges("a"), "a 2.0.0");
}

/// Settings that the earlier version refuses must not keep the breaker from rolling back.
#[test]
fn settings_do_not_keep_the_breaker_from_rolling_back() {
    let host = Host::new();
    host.load(&upload("a", component("a", "1.0.0")));
    host.load(&upload("a", component_with("a", "2.0.0", LOOSE)));
    let settings = serde_json::json!({"level": 1});
    host.catalog
        .set_settings(&name("a"), settings.as_object().cloned())
        .expect("they fit");
    host.call(20, "panic");
    host.catalog.check_breaker(Instant::now());
    assert_eq!(host.judges("a"), "nobody");
    expect!["Breaker None: 20 of its last 20 calls ended in a fault; disabled, since it cannot roll back: published: settings of `a`: a 1.0.0 (sha256:…) takes no settings"]
        .assert_eq(&host.last_event("a"));
    assert!(
        host.catalog
            .entry(&name("a"))
            .expect("an entry")
            .is_disabled
    );
}
