//! Transitions of recorded applications, found where views are published.

use std::sync::Arc;

use kindsight_appcontext::{Action, AppContexts, Record, Records};
use kindsight_clusters::ClusterEvent;
use kindsight_model::{ClusterName, DigName, SubjectSet};
use kindsight_status::HistoryQuery;
use serde_json::Value;

use super::stage::{Heard, Stage, deployments};
use crate::{Event, GONE_FOR};

impl Stage {
    /// The transitions of a history as lines, newest first. `None` if the application is unknown.
    pub(super) fn history(&self, name: &DigName) -> Option<Vec<String>> {
        let answer = self
            .read_model
            .visible_to(&SubjectSet::Everything)
            .history(name, &HistoryQuery::default());
        let answer = serde_json::to_value(answer.ok()?.answer()).unwrap();
        let transitions = answer["transitions"].as_array().unwrap().iter();
        Some(transitions.map(line).collect())
    }

    /// The history of context 1, which is the history of its group.
    fn history_of_1(&self) -> Vec<String> {
        self.history(&group()).unwrap()
    }
}

fn line(transition: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let mut line = format!(
        "{} {} {} > {} {}",
        text(&transition["at"]).replace("1970-01-01T00:00:", ""),
        text(&transition["name"]),
        text(&transition["from"]["state"]),
        text(&transition["to"]["state"]),
        text(&transition["interpreter"]["name"]),
    );
    if transition["cause"] == "interpreters" {
        line.push_str(" by a swap");
    }
    line
}

fn group() -> DigName {
    DigName::new("p", "ca", "v1", "dig").unwrap()
}

/// Context 1 with an app, and the record of its group.
fn stage() -> Stage {
    let mut stage = Stage::new(&[("1", &["a"])]);
    let action = serde_json::json!({
        "state": "Instantiated", "instance": "1", "time": "2026-11-22T12:00:00Z",
    });
    let action: Action = serde_json::from_value(action).unwrap();
    let record = Record {
        profile: None,
        actions: vec![action],
    };
    let records = Records::new(Arc::clone(&stage.store));
    records.create(&group(), &record).unwrap();
    stage.follow_stores(0);
    stage
}

#[test]
fn a_change_is_a_transition_and_a_report_that_says_the_same_is_none() {
    let mut stage = stage();
    assert_eq!(stage.history_of_1(), ["00Z - - > Unknown -"]);
    stage.hear("1", "a", &deployments(1), 1000);
    stage.hear("1", "a", &deployments(1), 2000);
    let cluster: ClusterName = "p+c".parse().unwrap();
    let stale = ClusterEvent::Stale {
        cluster: cluster.clone(),
        reason: "connection refused".to_owned(),
    };
    stage.pipeline.handle(Event::Cluster(stale), 3000);
    let synced = ClusterEvent::Synced { cluster };
    stage.pipeline.handle(Event::Cluster(synced), 4000);
    stage.hear("1", "a", &deployments(1), 5000);
    stage.hear("1", "a", &deployments(1).replicas_missing(), 6000);
    assert_eq!(
        stage.history_of_1(),
        [
            "06Z - Ready > Pending generic",
            "06Z n0 Ready > Pending generic",
            "01Z - Unknown > Ready -",
            "01Z n0 - > Ready generic",
            "00Z - - > Unknown -",
        ]
    );
}

#[test]
fn a_swap_is_marked_as_such_and_what_follows_from_it_too() {
    let mut stage = stage();
    stage.hear("1", "a", &Heard::default().new_and_silent(1), 1000);
    let before = stage.history_of_1();
    stage.publish(&["apps"]);
    stage.follow(2000);
    // Another rule that says the same is no transition.
    assert_eq!(stage.by_of("1", "Deployment"), "apps");
    assert_eq!(stage.history_of_1(), before);
    stage.publish(&["generic"]);
    stage.follow(40_000);
    let swapped = stage.history_of_1();
    assert_eq!(
        swapped[..swapped.len() - before.len()],
        [
            "40Z - Pending > Present - by a swap",
            "40Z n0 Pending > Present generic by a swap"
        ]
    );
}

#[test]
fn time_that_passes_is_no_swap() {
    let mut stage = stage();
    stage.hear("1", "a", &Heard::default().new_and_silent(1), 1000);
    assert_eq!(stage.pipeline.recheck(|| 30_000), None);
    assert_eq!(
        stage.history_of_1()[..2],
        [
            "30Z - Pending > Present -",
            "30Z n0 Pending > Present generic"
        ]
    );
}

#[test]
fn a_history_goes_on_after_a_restart_and_what_is_stored_is_no_first_sight() {
    let mut stage = stage();
    stage.hear("1", "a", &deployments(2), 1000);
    stage.hear("1", "a", &deployments(2).replicas_missing(), 2000);
    let before = stage.history_of_1();
    stage.keep(3000);
    stage.start_again(&["p+c"], GONE_FOR, 10_000);
    assert_eq!(stage.history_of_1(), before);
    assert_eq!(stage.states("1", "a"), [("Pending".into(), 2)]);
    // A report of the last seconds before the restart is handled like any other.
    stage.hear("1", "a", &deployments(3), 11_000);
    let crashed = stage.history_of_1();
    assert_eq!(
        crashed[..crashed.len() - before.len()],
        [
            "11Z - Pending > Ready -",
            "11Z n2 - > Ready generic",
            "11Z n1 Pending > Ready generic",
            "11Z n0 Pending > Ready generic",
        ]
    );
    stage.start_again(&["p+c"], GONE_FOR, 20_000);
    let again = stage.history_of_1();
    let at_20 = crashed.iter().map(|line| line.replace("11Z", "20Z"));
    assert_eq!(again, at_20.collect::<Vec<_>>());
}

#[test]
fn another_rule_after_a_restart_is_a_swap() {
    let mut stage = stage();
    stage.hear("1", "a", &Heard::default().new_and_silent(1), 1000);
    let before = stage.history_of_1();
    stage.publish(&["apps"]);
    stage.follow(2000);
    stage.keep(3000);
    stage.publish(&["generic"]);
    stage.start_again(&["p+c"], GONE_FOR, 40_000);
    let after = stage.history_of_1();
    assert_eq!(after.len(), before.len() + 2, "{after:?}");
}

#[test]
fn a_context_that_went_meanwhile_takes_its_history_with_it() {
    let mut stage = stage();
    stage.hear("1", "a", &deployments(1), 1000);
    stage.keep(2000);
    let id = "1".parse().unwrap();
    AppContexts::new(Arc::clone(&stage.store))
        .delete(&id)
        .unwrap();
    stage.start_again(&["p+c"], GONE_FOR, 3000);
    assert_eq!(stage.history_of_1(), [""; 0]);
    stage.keep(4000);
    let kept = stage.file().keys();
    assert!(
        kept.iter().all(|key| key.contains("/clusters/")),
        "{kept:?}"
    );
}
