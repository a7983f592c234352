//! Results that are stored together.

use std::sync::Arc;
use std::time::Duration;

use kindsight_store::RedbStore;

use super::clusters::Clusters;
use super::stage::{Host, app, manifest};
use crate::{Command, DraftApp, Outcome};

/// An app with more resources than are stored together.
fn many(data: &str) -> Vec<DraftApp> {
    let manifests = (10..50).map(|number| {
        let name = format!("resource-{number}");
        manifest(&name) + &format!("data: {{value: '{data}'}}\n")
    });
    vec![app("front", &["lab+a"], manifests.collect())]
}

fn instantiated(data: &str) -> Host {
    let host = Host::new();
    host.put_apps(many(data)).unwrap();
    host.act(Command::Approve).unwrap();
    host.act(Command::Instantiate).unwrap();
    host
}

#[test]
fn the_results_of_quick_steps_are_stored_together_and_those_of_slow_steps_each() {
    let revisions = |step: Duration| {
        let host = instantiated("a");
        let clusters = Arc::clone(&host.clusters);
        host.clusters.state().before = Some(Arc::new(move |_, _| clusters.state().now += step));
        assert_eq!(host.run().unwrap(), Outcome::Complete);
        assert!(
            host.statuses()
                .iter()
                .all(|status| status.ends_with(" Applied"))
        );
        let id = host.instance();
        let deployed = host.contexts.deployed(&id).unwrap();
        assert!(deployed.values().all(|resource| resource.uid.is_some()));
        host.writes()
    };
    let (quick, slow) = (revisions(Duration::ZERO), revisions(Duration::from_secs(1)));
    assert!(quick + 30 < slow, "{quick} {slow}");
}

#[test]
fn an_action_meanwhile_ends_the_work_after_few_steps() {
    let host = Arc::new(instantiated("a"));
    let other = Host::over_same(&host);
    host.clusters.state().before = Some(Arc::new(move |_, name| {
        if name == "resource-12" && other.clusters.state().resources.len() == 2 {
            other.act(Command::Stop).unwrap();
        }
    }));
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    let sent = host.clusters.resources().len();
    assert!(sent < 20, "{sent}");
    // The results of the steps are stored.
    let statuses = host.statuses();
    let applied = statuses
        .iter()
        .filter(|status| status.ends_with(" Applied"));
    assert_eq!(applied.count(), sent);
}

#[test]
fn content_that_was_sent_without_a_stored_result_is_replaced_by_a_rollback() {
    for writes in 0.. {
        let store = Arc::new(RedbStore::in_memory().unwrap());
        let clusters = Arc::<Clusters>::default();
        let whole = Host::over(Arc::clone(&store) as _, Arc::clone(&clusters));
        whole.put_apps(many("a")).unwrap();
        whole.act(Command::Approve).unwrap();
        whole.act(Command::Instantiate).unwrap();
        assert_eq!(whole.run().unwrap(), Outcome::Complete);
        whole.put_apps(many("b")).unwrap();
        whole.act(Command::Approve).unwrap();
        whole.act(Command::Update).unwrap();
        let is_over = Host::ending(&store, &clusters, writes, false).run().is_ok();
        whole.act(Command::Rollback(1)).unwrap();
        assert_eq!(whole.run().unwrap(), Outcome::Complete);
        let state = clusters.state();
        let is_first = |json: &String| json.contains(r#""value":"a""#);
        assert!(state.resources.values().all(is_first), "{writes}");
        if is_over {
            return;
        }
    }
}
