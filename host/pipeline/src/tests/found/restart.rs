//! The last-known state of a found application, after a restart.

use std::sync::Arc;
use std::time::Duration;

use kindsight_clusters::ClusterEvent;
use kindsight_model::{ClusterFacts, Coverage, KindCoverage, KindState, Scope, SubjectSet};

use super::reports::{
    GONE_FOR_MS, Has, deployment, has, object, removed, shop, stage, stale, synced,
};
use crate::Event;
use crate::tests::stage::Stage;

impl Stage {
    /// Ends well and starts again with these clusters.
    pub(in crate::tests) fn restart(&mut self, clusters: &[&str], now_ms: i64) {
        self.keep(now_ms);
        self.start(clusters, now_ms);
    }

    /// Starts again after a crash.
    pub(super) fn start(&mut self, clusters: &[&str], now_ms: i64) {
        let gone_for = Duration::from_millis(GONE_FOR_MS.unsigned_abs());
        self.start_again(clusters, gone_for, now_ms);
    }

    /// The staleness of the application.
    pub(in crate::tests) fn whole_stale(&self) -> Option<(String, String)> {
        let query = kindsight_status::StatusQuery::default();
        let subject = self
            .read_model
            .visible_to(&SubjectSet::Everything)
            .dig(&shop(), &query)
            .unwrap();
        let answer = serde_json::to_value(subject.answer(&query).unwrap()).unwrap();
        let text = |name: &str| answer[name].as_str().map(str::to_owned);
        Some((text("stale-since")?, text("stale-reason")?))
    }

    fn shop_history(&self) -> Vec<String> {
        self.history(&shop()).unwrap()
    }
}

/// A Deployment with a child, and one that is broken.
fn front() -> Has {
    let child = object("ReplicaSet", "front-1", Some("front"), true);
    let broken = object("Deployment", "side", None, false);
    has("p+a", "front", [deployment("front"), broken, child])
}

fn fresh() -> Stage {
    let mut stage = stage();
    for cluster in ["p+a", "p+b"] {
        let cluster = cluster.parse().unwrap();
        stage.pipeline.expect_cluster(&cluster, 0);
    }
    stage.tell(front(), 1000);
    stage.tell(has("p+b", "front", [deployment("front")]), 2000);
    for cluster in ["p+a", "p+b"] {
        stage.pipeline.handle(synced(cluster), 2000);
    }
    stage
}

#[test]
fn what_was_known_is_shown_stale_until_the_cluster_says_the_same() {
    let mut stage = fresh();
    let (lines, history) = (stage.lines(), stage.shop_history());
    stage.restart(&["p+a", "p+b"], 5000);
    let marked: Vec<String> = lines.iter().map(|line| format!("{line} stale")).collect();
    assert_eq!(stage.lines(), marked);
    assert_eq!(stage.shop_history(), history);
    assert_eq!(stage.ready(), "Pending");
    let (since, reason) = stage.whole_stale().unwrap();
    assert_eq!(since, "1970-01-01T00:00:05Z");
    assert!(reason.contains("not heard since the start"), "{reason}");
    // Nothing goes by itself meanwhile.
    assert_eq!(stage.pipeline.recheck(|| 100_000), None);

    stage.tell(front(), 6000);
    assert_eq!(stage.lines()[..3], lines[..3]);
    assert!(stage.lines()[3].ends_with("stale"));
    stage.tell(has("p+b", "front", [deployment("front")]), 6000);
    for cluster in ["p+a", "p+b"] {
        stage.pipeline.handle(synced(cluster), 6000);
    }
    assert_eq!(stage.lines(), lines);
    assert_eq!(stage.shop_history(), history);
}

#[test]
fn what_changed_meanwhile_is_a_transition_and_what_went_is_gone() {
    let mut stage = fresh();
    let history = stage.shop_history();
    stage.restart(&["p+a", "p+b"], 5000);
    let broken = object("Deployment", "front", None, false);
    stage.tell(has("p+a", "front", [broken]), 6000);
    // Of the other cluster nothing comes: it has nothing any more.
    stage.pipeline.handle(synced("p+b"), 7000);
    assert_eq!(stage.pipeline.recheck(|| 7000), Some(6000 + GONE_FOR_MS));
    let after = stage.shop_history();
    assert_eq!(
        after[..after.len() - history.len()],
        [
            "07Z front Ready > NotPresent -",
            "06Z front-1 Ready > - -",
            "06Z side Pending > NotPresent -",
            "06Z front Ready > Pending generic",
        ]
    );
    assert_eq!(
        stage.lines(),
        [
            "front p+a root front Pending Available 6000",
            "front p+a gone side NotPresent Gone 6000",
            "front p+b gone front NotPresent Gone 7000",
        ]
    );
    assert_eq!(
        stage.pipeline.recheck(|| 6000 + GONE_FOR_MS),
        Some(7000 + GONE_FOR_MS)
    );
    assert_eq!(stage.lines().len(), 2);
}

#[test]
fn what_is_missing_since_the_start_of_a_kind_that_is_not_covered_is_unknown_until_it_is() {
    let covered = |forbidden: &[&str]| {
        let mut coverage = Coverage::default();
        for kind in forbidden {
            let forbidden = KindCoverage::caused(KindState::Forbidden, "not allowed: forbidden");
            coverage.set("apps", kind, Scope::Cluster, forbidden);
        }
        let cluster = "p+a".parse().unwrap();
        Event::Cluster(ClusterEvent::Coverage { cluster, coverage })
    };
    let mut stage = stage();
    stage.pipeline.expect_cluster(&"p+a".parse().unwrap(), 0);
    let widget = object("Widget", "side", None, true);
    stage.tell(has("p+a", "front", [deployment("front"), widget]), 1000);
    stage.restart(&["p+a"], 5000);
    let known = stage.shop_history();
    stage.pipeline.handle(covered(&["Widget"]), 5500);
    stage.tell(has("p+a", "front", [deployment("front")]), 6000);
    stage.pipeline.handle(synced("p+a"), 6000);
    assert_eq!(stage.pipeline.recheck(|| 8000), None);
    let line = "front p+a root side Unknown NotReported 6000";
    assert_eq!(stage.lines()[1], line);
    assert_eq!(stage.ready(), "Unknown");
    // Other reports do not change that.
    stage.tell(has("p+a", "front", [deployment("front")]), 9000);
    assert_eq!(stage.lines()[1], line);
    // The right came, and it is not there.
    stage.pipeline.handle(covered(&[]), 10_000);
    assert_eq!(
        stage.pipeline.recheck(|| 10_000),
        Some(10_000 + GONE_FOR_MS)
    );
    assert_eq!(stage.ready(), "Ready");
    let history = stage.shop_history();
    assert_eq!(
        history[..history.len() - known.len()],
        [
            "10Z - Unknown > Ready -",
            "10Z side Unknown > NotPresent -",
            "06Z - Ready > Unknown -",
            "06Z side Ready > Unknown -",
        ]
    );
}

#[test]
fn what_is_missing_since_the_start_is_not_gone_where_other_labels_are_asked_for() {
    for (selector, is_gone) in [
        (Some("team=web"), true),
        (Some("team=base"), false),
        (None, false),
    ] {
        let facts = |selector: Option<&str>| {
            let facts = ClusterFacts {
                selector: selector.map(Arc::from),
                ..ClusterFacts::default()
            };
            Event::Cluster(ClusterEvent::Facts {
                cluster: "p+a".parse().unwrap(),
                facts: Arc::new(facts),
            })
        };
        let mut stage = stage();
        stage.pipeline.expect_cluster(&"p+a".parse().unwrap(), 0);
        stage.pipeline.handle(facts(Some("team=web")), 500);
        let side = object("Widget", "side", None, true);
        stage.tell(has("p+a", "front", [deployment("front"), side]), 1000);
        stage.tell(has("p+a", "base", [deployment("base")]), 1000);
        stage.pipeline.handle(synced("p+a"), 2000);
        stage.restart(&["p+a"], 5000);
        stage.pipeline.handle(facts(selector), 5500);
        stage.tell(has("p+a", "front", [deployment("front")]), 6000);
        stage.pipeline.handle(synced("p+a"), 6000);
        stage.pipeline.recheck(|| 8000);
        let told = stage.lines();
        let gone = |name: &str| {
            told.iter()
                .any(|line| line.contains(&format!("{name} NotPresent")))
        };
        assert_eq!(
            (gone("side"), gone("base")),
            (is_gone, is_gone),
            "{told:#?}"
        );
        // From then on what goes is gone.
        stage.tell(has("p+a", "front", []), 9000);
        let told = stage.lines();
        assert!(
            told.iter().any(|line| line.contains("front NotPresent")),
            "{told:#?}"
        );
    }
}

#[test]
fn what_was_gone_before_is_forgotten_when_its_time_is_up_and_the_cluster_was_heard() {
    let mut stage = fresh();
    stage.tell(has("p+a", "front", [deployment("front")]), 3000);
    stage.restart(&["p+a", "p+b"], 5000);
    assert_eq!(
        stage.lines()[1],
        "front p+a gone side NotPresent Gone 3000 stale"
    );
    assert_eq!(stage.pipeline.recheck(|| 3000 + GONE_FOR_MS), None);
    stage.tell(has("p+a", "front", [deployment("front")]), 6000);
    assert_eq!(stage.lines()[1], "front p+a gone side NotPresent Gone 3000");
    let _ = stage.pipeline.recheck(|| 3000 + GONE_FOR_MS);
    assert_eq!(stage.lines().len(), 2);
    let newest = &stage.shop_history()[0];
    assert_eq!(newest, "13Z side NotPresent > - -");
}

#[test]
fn a_child_of_what_went_meanwhile_stays_its_child() {
    let mut stage = fresh();
    stage.restart(&["p+a", "p+b"], 5000);
    let child = object("ReplicaSet", "front-1", Some("front"), true);
    stage.tell(has("p+a", "front", [child]), 6000);
    let lines = stage.lines();
    assert!(lines[0].contains("child front-1 Ready"), "{lines:?}");
}

#[test]
fn a_cluster_that_is_away_stays_stale_and_one_that_is_not_configured_takes_its_part_with_it() {
    let mut stage = fresh();
    stage.restart(&["p+a"], 5000);
    let lines = stage.lines();
    assert_eq!(lines.len(), 3, "{lines:?}");
    let history = stage.shop_history();
    assert!(
        !history.iter().any(|line| line.starts_with("02Z front")),
        "{history:?}"
    );
    stage.pipeline.handle(stale("p+a"), 6000);
    let (since, reason) = stage.whole_stale().unwrap();
    assert_eq!(since, "1970-01-01T00:00:05Z");
    assert!(reason.contains("connection refused"), "{reason}");
    // Another start while it is away: since when it is not current stays.
    stage.restart(&["p+a"], 9000);
    assert_eq!(stage.whole_stale().unwrap().0, "1970-01-01T00:00:05Z");
    let kept = stage.file().keys();
    assert!(!kept.iter().any(|key| key.contains("p+b")), "{kept:?}");
    stage.pipeline.handle(removed("p+a"), 10_000);
    assert_eq!(stage.shop(), None);
    stage.restart(&["p+a", "p+b"], 11_000);
    assert_eq!(stage.shop(), None);
    assert_eq!(stage.file().keys().len(), 0);
}

#[test]
fn a_crash_loses_what_was_not_written_and_tells_it_once_the_cluster_does() {
    let mut stage = fresh();
    stage.keep(2500);
    let history = stage.shop_history();
    stage.tell(
        has("p+b", "front", [object("Deployment", "front", None, false)]),
        3000,
    );
    stage.start(&["p+a", "p+b"], 5000);
    assert_eq!(stage.shop_history(), history);
    assert_eq!(stage.ready(), "Pending");
    let (since, _) = stage.whole_stale().unwrap();
    assert_eq!(since, "1970-01-01T00:00:02.5Z");
    stage.tell(
        has("p+b", "front", [object("Deployment", "front", None, false)]),
        6000,
    );
    assert_eq!(stage.shop_history()[0], "06Z front Ready > Pending generic");
    assert_eq!(stage.shop_history().len(), history.len() + 1);
}

#[test]
fn another_rule_on_the_same_object_after_a_restart_is_a_swap() {
    let silent = |name: &str| {
        let json = format!(
            r#"{{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {{"name": "{name}",
                "namespace": "web", "generation": 1}}, "spec": {{"replicas": 1}}}}"#
        );
        kindsight_model::Object::from_json(json).unwrap()
    };
    let mut stage = stage();
    stage.pipeline.expect_cluster(&"p+a".parse().unwrap(), 0);
    stage.tell(has("p+a", "front", [silent("x"), silent("y")]), 1000);
    let before = stage.shop_history();
    stage.keep(2000);
    stage.publish(&["apps"]);
    stage.start(&["p+a"], 5000);
    let changed = deployment("y");
    stage.tell(has("p+a", "front", [silent("x"), changed]), 6000);
    let history = stage.shop_history();
    let news = &history[..history.len() - before.len()];
    assert_eq!(
        news,
        [
            // The transitions of its resources are not all swaps.
            "06Z - Present > Pending apps",
            "06Z y Present > Ready apps",
            "06Z x Present > Pending apps by a swap",
        ]
    );
}

#[test]
fn nothing_is_written_where_nothing_changed() {
    let mut stage = fresh();
    stage.keep(3000);
    let before = stage.file().keys();
    let values = stage.file().values();
    stage.tell(front(), 4000);
    stage.keep(3000);
    assert_eq!(stage.file().values(), values);
    stage.restart(&["p+a", "p+b"], 5000);
    stage.keep(5000);
    assert_eq!(stage.file().keys(), before);
    let placements = |values: Vec<(String, Vec<u8>)>| {
        let all = values.into_iter();
        all.filter(|(key, _)| key.contains("/placements/"))
            .collect::<Vec<_>>()
    };
    assert_eq!(placements(stage.file().values()), placements(values));
}
