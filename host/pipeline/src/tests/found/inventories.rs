//! Missing resources of applications that inventories list.

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_clusters::ClusterEvent;
use kindsight_model::{
    Claims, Coverage, Gvk, KindCoverage, KindState, MissingResource, MissingResources, OtherClaim,
    Scope,
};
use kindsight_status::ApplicationKey;

use super::reports::{
    GONE_FOR_MS, Has, deployment, event, has, object, shop, stage, stale, synced,
};
use crate::Event;
use crate::tests::stage::Stage;

/// A Deployment of the application that an inventory lists.
fn listed(name: &str) -> MissingResource {
    MissingResource {
        gvk: Gvk::new("apps", "v1", "Deployment"),
        namespace: "web".into(),
        name: name.into(),
        inventory: "Application argocd/shop".into(),
    }
}

impl Stage {
    /// Reports the objects of apps and the missing resources of one cluster, at one moment.
    fn tell_with_missing(
        &mut self,
        apps: impl IntoIterator<Item = Has>,
        missing: &[&str],
        now_ms: i64,
    ) {
        let mut apps = apps.into_iter().peekable();
        let mut reports = Vec::new();
        if apps.peek().is_some()
            && let Event::Cluster(ClusterEvent::Reports { reports: all, .. }) = event(apps)
        {
            reports = all;
        }
        let resources = missing.iter().map(|name| listed(name));
        let event = ClusterEvent::Reports {
            cluster: "p+a".parse().unwrap(),
            reports,
            missing: vec![MissingResources {
                application: shop(),
                resources: resources.collect(),
            }],
        };
        self.pipeline.handle(Event::Cluster(event), now_ms);
    }

    fn cover(&mut self, state: KindState, now_ms: i64) {
        let mut coverage = Coverage::default();
        let found = KindCoverage::new(state);
        coverage.set("apps", "Deployment", Scope::Cluster, found);
        let cluster = "p+a".parse().unwrap();
        let event = ClusterEvent::Coverage { cluster, coverage };
        self.pipeline.handle(Event::Cluster(event), now_ms);
    }
}

#[test]
fn a_deleted_resource_that_is_listed_is_not_present_and_counts() {
    let mut stage = stage();
    let both = [deployment("front"), deployment("side")];
    stage.tell(has("p+a", "front", both.clone()), 1000);
    assert_eq!(stage.ready(), "Ready");
    stage.tell_with_missing(
        [has("p+a", "front", [deployment("front")])],
        &["side"],
        2000,
    );
    let missing = "front p+a missing side NotPresent NotInReport 2000";
    assert_eq!(stage.lines()[1], missing);
    assert_eq!(stage.ready(), "NotPresent");
    // It is wanted for as long as the inventory lists it.
    assert_eq!(stage.pipeline.recheck(|| 2000 + 10 * GONE_FOR_MS), None);
    assert_eq!(stage.lines()[1], missing);
    let history = stage.history(&shop()).unwrap();
    assert_eq!(
        history[..2],
        [
            "02Z - Ready > NotPresent -",
            "02Z side Ready > NotPresent -"
        ]
    );

    stage.tell_with_missing([has("p+a", "front", both)], &[], 3000);
    assert!(stage.lines()[1].starts_with("front p+a root side Ready"));
    assert_eq!(stage.ready(), "Ready");
}

#[test]
fn a_resource_that_was_never_seen_is_in_the_app_of_its_name() {
    let mut stage = stage();
    stage.tell_with_missing([has("p+a", "front", [deployment("front")])], &["new"], 1000);
    assert_eq!(
        stage.lines(),
        [
            stage.lines()[0].clone(),
            "new p+a missing new NotPresent NotInReport 1000".to_owned(),
        ]
    );
    assert_eq!(stage.ready(), "NotPresent");
    // The inventory no longer lists it: nothing of it is left.
    stage.tell_with_missing([], &[], 2000);
    assert_eq!(stage.lines().len(), 1);
    assert_eq!(stage.ready(), "Ready");
    let history = stage.history(&shop()).unwrap();
    assert!(
        history.contains(&"02Z new NotPresent > - -".to_owned()),
        "{history:?}"
    );
}

#[test]
fn an_application_of_missing_resources_alone_is_listed() {
    let mut stage = stage();
    stage.tell_with_missing([], &["front"], 1000);
    assert_eq!(
        stage.lines(),
        ["front p+a missing front NotPresent NotInReport 1000"]
    );
    assert_eq!(stage.ready(), "NotPresent");
    stage.tell_with_missing([], &[], 2000);
    assert_eq!(stage.shop(), None);
}

#[test]
fn a_resource_that_is_no_longer_listed_is_gone_and_does_not_count() {
    let mut stage = stage();
    let both = [deployment("front"), deployment("side")];
    stage.tell(has("p+a", "front", both), 1000);
    stage.tell_with_missing(
        [has("p+a", "front", [deployment("front")])],
        &["side"],
        2000,
    );
    stage.tell_with_missing([], &[], 3000);
    assert_eq!(stage.lines()[1], "front p+a gone side NotPresent Gone 2000");
    assert_eq!(stage.ready(), "Ready");
    assert_eq!(stage.pipeline.recheck(|| 2000 + GONE_FOR_MS), None);
    assert_eq!(stage.lines().len(), 1);
}

#[test]
fn the_coverage_decides_whether_a_listed_resource_is_missing() {
    // The state of a resource that was seen, and of a resource that was not; none if it is not listed.
    let table = [
        (KindState::Complete, Some("NotPresent"), Some("NotPresent")),
        (KindState::Incomplete, Some("Ready"), Some("Unknown")),
        (KindState::Listing, Some("Ready"), Some("Unknown")),
        (KindState::Unavailable, Some("Ready"), Some("Unknown")),
        (KindState::Forbidden, Some("Unknown"), None),
        (KindState::NotRequested, Some("Unknown"), None),
        (KindState::Selected, None, None),
    ];
    for (state, seen, never_seen) in table {
        let mut stage = stage();
        let widget = object("Widget", "kept", None, true);
        let both = [widget.clone(), deployment("side")];
        stage.tell(has("p+a", "side", both), 1000);
        stage.cover(state, 1500);
        let mut report = has("p+a", "side", [widget]);
        report.coverage = stage.read_model.inspect(|model| {
            let mut connections = model.connections();
            connections
                .next()
                .and_then(|(_, connection)| connection.coverage.clone())
        });
        stage.tell_with_missing([report], &["side", "new"], 2000);
        let state_of = |name: &str| {
            let lines = stage.lines();
            let line = lines
                .iter()
                .find(|line| line.contains(&format!(" {name} ")));
            line.and_then(|line| line.split(' ').nth(4).map(str::to_owned))
        };
        assert_eq!(state_of("side").as_deref(), seen, "{state}");
        assert_eq!(state_of("new").as_deref(), never_seen, "{state}");
        // When the Kind is complete again, both are missing.
        stage.cover(KindState::Complete, 3000);
        assert_eq!(stage.ready(), "NotPresent", "{state}");
        let missing = stage.lines();
        let missing = missing.iter().filter(|line| line.contains(" missing "));
        assert_eq!(missing.count(), 2, "{state}: {:?}", stage.lines());
    }
}

#[test]
fn a_missing_resource_stays_missing_over_a_restart() {
    let mut stage = stage();
    let cluster = "p+a".parse().unwrap();
    stage.pipeline.expect_cluster(&cluster, 0);
    let both = [deployment("front"), deployment("side")];
    stage.tell(has("p+a", "front", both), 1000);
    let front = || has("p+a", "front", [deployment("front")]);
    stage.tell_with_missing([front()], &["side", "new"], 2000);
    stage.pipeline.handle(synced("p+a"), 2000);
    let (lines, history) = (stage.lines(), stage.history(&shop()));
    stage.restart(&["p+a"], 5000);
    let marked: Vec<String> = lines.iter().map(|line| format!("{line} stale")).collect();
    assert_eq!(stage.lines(), marked);
    assert_eq!(stage.ready(), "NotPresent");
    stage.tell_with_missing([front()], &["side", "new"], 6000);
    stage.pipeline.handle(synced("p+a"), 6000);
    assert_eq!(stage.lines(), lines);
    assert_eq!(stage.history(&shop()), history);
    // During the next restart, the inventory is deleted.
    stage.restart(&["p+a"], 7000);
    stage.tell(front(), 8000);
    stage.pipeline.handle(synced("p+a"), 8000);
    assert_eq!(stage.ready(), "Ready");
    assert_eq!(stage.lines()[1], "front p+a gone side NotPresent Gone 2000");
}

#[test]
fn a_missing_resource_is_stale_while_its_cluster_is_not_heard() {
    let mut stage = stage();
    stage.tell_with_missing([], &["front"], 1000);
    stage.pipeline.handle(stale("p+a"), 2000);
    assert_eq!(
        stage.lines(),
        ["front p+a missing front NotPresent NotInReport 1000 stale"]
    );
}

#[test]
fn each_cluster_has_its_own_missing_resources() {
    let mut stage = stage();
    let both = || vec![deployment("front"), deployment("side")];
    stage.tell(has("p+b", "front", both()), 1000);
    stage.tell(has("p+a", "front", both()), 1000);
    stage.tell_with_missing(
        [has("p+a", "front", [deployment("front")])],
        &["side"],
        2000,
    );
    let lines = stage.lines();
    let missing = lines.iter().filter(|line| line.contains(" missing "));
    assert_eq!(missing.count(), 1);
    assert_eq!(
        lines[1],
        "front p+a missing side NotPresent NotInReport 2000"
    );
}

#[test]
fn competing_claims_follow_the_report() {
    let mut stage = stage();
    let claims = |evidence: &str| {
        let claims = Claims {
            evidence: evidence.into(),
            others: vec![OtherClaim {
                application: "-/chart/-/web".into(),
                evidence: "label b".into(),
            }],
        };
        [(0, Arc::new(claims))].into()
    };
    let shown = |stage: &Stage| {
        let found = stage.read_model.application(&ApplicationKey::Found(shop()));
        let found = found.unwrap();
        let resource = found.apps[0].clusters()[0].resources().first().cloned();
        resource
            .unwrap()
            .claims
            .map(|claim| claim.evidence.to_string())
    };
    let mut tell = |claims: BTreeMap<usize, Arc<Claims>>, now_ms| {
        let Event::Cluster(ClusterEvent::Reports {
            cluster,
            mut reports,
            missing,
        }) = event([has("p+a", "front", [deployment("front")])])
        else {
            unreachable!("these are reports");
        };
        reports[0].1.claims = Arc::new(claims);
        let event = ClusterEvent::Reports {
            cluster,
            reports,
            missing,
        };
        stage.pipeline.handle(Event::Cluster(event), now_ms);
        shown(&stage)
    };
    assert_eq!(tell(claims("label a"), 1000).as_deref(), Some("label a"));
    // Nothing else of the report differs.
    assert_eq!(tell(claims("label c"), 2000).as_deref(), Some("label c"));
    assert_eq!(tell(BTreeMap::new(), 3000), None);
}
