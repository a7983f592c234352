use std::sync::Arc;
use std::time::Duration;

use kindsight_api::history::TransitionCause;
use kindsight_model::{ContextId, Phase};
use kindsight_status::{
    ApplicationKey, ChangedSubject, ConnectionState, ConnectionView, ContextView, PhaseState,
    Snapshot, Transition,
};

use super::*;

const FIRST: &str = "2621114006130701074";
const SECOND: &str = "2755581958183303505";

fn key(id: &str) -> ApplicationKey {
    ApplicationKey::Context(id.parse().unwrap())
}

fn view(id: &str, status: &str) -> ContextView {
    ContextView {
        id: id.parse().ok(),
        status: Some(status.into()),
        ..ContextView::default()
    }
}

fn changed(generation: u64, of: &str) -> Changed {
    Changed {
        generation,
        subject: ChangedSubject::Application(key(of)),
    }
}

fn shown(model: &ReadModel, of: &str) -> Option<Arc<ContextView>> {
    let id: ContextId = of.parse().unwrap();
    model.inspect(|snapshot| snapshot.context(&id).cloned())
}

#[tokio::test]
async fn a_subscriber_gets_the_changes_after_the_state_that_it_read() {
    let mut writer = ReadModelWriter::default();
    writer.publish(&key(FIRST), view(FIRST, "Instantiated"), Vec::new());
    let model = writer.read_model().clone();
    let (generation, mut subscription) = model.subscribe(Snapshot::generation);
    assert_eq!(generation, 1);
    writer.publish(&key(SECOND), view(SECOND, "Instantiated"), Vec::new());
    writer.remove(&key(FIRST));
    assert_eq!(subscription.next().await, Ok(changed(2, SECOND)));
    assert_eq!(subscription.next().await, Ok(changed(3, FIRST)));
    assert!(shown(&model, FIRST).is_none());
    assert_eq!(subscription.next_now(), Ok(None));
    drop((writer, model));
    assert_eq!(subscription.next().await, Err(Lagged::Closed));
}

#[tokio::test]
async fn a_view_that_is_only_better_dated_is_shown_and_no_change_is_sent() {
    let mut writer = ReadModelWriter::default();
    let model = writer.read_model().clone();
    writer.refresh(&key(FIRST), view(FIRST, "Instantiated"));
    assert!(shown(&model, FIRST).is_none());
    writer.publish(&key(FIRST), view(FIRST, "Instantiated"), Vec::new());
    let (generation, mut subscription) = model.subscribe(Snapshot::generation);
    writer.refresh(&key(FIRST), view(FIRST, "Terminating"));
    let status = shown(&model, FIRST).unwrap().status.clone();
    assert_eq!(status, Some("Terminating".into()));
    assert_eq!(model.inspect(Snapshot::generation), generation);
    writer.publish(&key(SECOND), view(SECOND, "Instantiated"), Vec::new());
    assert_eq!(subscription.next().await, Ok(changed(2, SECOND)));
}

#[tokio::test]
async fn a_subscriber_that_falls_behind_learns_how_many_changes_it_missed_and_continues() {
    let mut writer = ReadModelWriter::default();
    let ((), mut subscription) = writer.read_model().subscribe(|_| ());
    for _ in 0..SUBSCRIPTION_CHANGES_MAX + 3 {
        writer.remove(&key(FIRST));
    }
    assert_eq!(subscription.next().await, Err(Lagged::Missed(3)));
    assert_eq!(subscription.next().await, Ok(changed(4, FIRST)));
}

#[tokio::test]
async fn changes_are_gathered_and_missed_changes_concern_every_subject() {
    const GATHER: Duration = Duration::from_millis(1);
    let mut writer = ReadModelWriter::default();
    let ((), mut subscription) = writer.read_model().subscribe(|_| ());
    writer.publish(&key(FIRST), view(FIRST, "Instantiated"), Vec::new());
    writer.publish(&key(FIRST), view(FIRST, "Terminated"), Vec::new());
    let changed = subscription.gathered(GATHER).await.unwrap();
    assert!(changed.contains(&ChangedSubject::Application(key(FIRST))));
    assert!(!changed.contains(&ChangedSubject::Application(key(SECOND))));
    for _ in 0..=SUBSCRIPTION_CHANGES_MAX {
        writer.publish(&key(FIRST), view(FIRST, "Instantiated"), Vec::new());
        writer.remove(&key(FIRST));
    }
    let missed = subscription.gathered(GATHER).await;
    assert_eq!(missed, Some(ChangedSubjects::All));
    drop(writer);
    assert_eq!(subscription.gathered(GATHER).await, None);
}

#[tokio::test]
async fn a_connection_whose_counts_alone_changed_is_shown_and_no_change_is_sent() {
    let mut writer = ReadModelWriter::default();
    let ((), mut subscription) = writer.read_model().subscribe(|_| ());
    let edge01 = "p+edge01".parse().unwrap();
    let connection = |heard_ms| ConnectionView {
        owner: kindsight_status::ClusterOwner::default(),
        state: ConnectionState::Connected,
        since_ms: 1,
        reason: None,
        faults: Arc::default(),
        heard_ms,
        facts: None,
        coverage: None,
    };
    for heard_ms in [None, Some(7)] {
        writer.publish_connection(&edge01, Some(connection(heard_ms)));
    }
    let model = writer.read_model();
    let heard = model.inspect(|snapshot| snapshot.connections().next().unwrap().1.heard_ms);
    assert_eq!(heard, Some(7));
    let subject = ChangedSubject::Connection(edge01);
    let generation = 1;
    assert_eq!(
        subscription.next().await,
        Ok(Changed {
            generation,
            subject
        })
    );
    assert_eq!(subscription.next_now(), Ok(None));
}

#[test]
fn a_history_is_published_with_its_view_and_removed_with_it() {
    let mut writer = ReadModelWriter::default();
    let transition = Transition {
        resource: None,
        from: None,
        to: Some(PhaseState {
            phase: Phase::Ready,
            state: "Ready".into(),
        }),
        at_ms: 0,
        since_ms: None,
        reason: "".into(),
        message: "".into(),
        by: None,
        cause: TransitionCause::Observed,
    };
    let of = key(FIRST);
    writer.publish(&of, view(FIRST, "Instantiated"), vec![transition]);
    let (view, history) = writer.read_model().application_history(&of);
    assert!(view.is_some());
    assert_eq!(history.unwrap().transitions.len(), 1);
    writer.remove(&of);
    let (view, history) = writer.read_model().application_history(&of);
    assert!(view.is_none() && history.is_none());
}
