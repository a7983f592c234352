//! Histories of clusters that another host watches.

use kindsight_model::{DigName, RecordSubject};
use kindsight_replication::{Batch, Feed, FeedScope, Image, UpstreamChange, UpstreamEvent};
use kindsight_status::{ApplicationKey, ChangedSubject, RecordView};

use super::found::{deployment, has, object, shop, stage, synced};
use super::stage::Stage;
use crate::Event;

/// The stream from one host to another, without a network.
pub(super) struct Link {
    feed: Feed,
    image: Image,
}

impl Link {
    pub(super) fn from(upstream: &Stage) -> Self {
        let mut image = Image::default();
        image.restart();
        Self {
            feed: Feed::new(upstream.read_model.clone(), FeedScope::Own),
            image,
        }
    }

    /// Reads the lines of the next batch.
    async fn batch(&mut self) -> Batch {
        loop {
            let bytes = self.feed.next().await.unwrap();
            let lines = bytes.split(|byte| *byte == b'\n');
            for line in lines.filter(|line| !line.is_empty()) {
                if let Some(batch) = self.image.take(line).unwrap() {
                    return batch;
                }
            }
        }
    }

    pub(super) async fn pass(&mut self, to: &mut Stage, now_ms: i64) {
        let batch = self.batch().await;
        take(to, batch, now_ms);
    }
}

fn take(to: &mut Stage, batch: Batch, now_ms: i64) {
    change(to, UpstreamChange::Batch(Box::new(batch)), now_ms);
}

/// The other host is no longer followed.
pub(super) fn leave(to: &mut Stage, now_ms: i64) {
    change(to, UpstreamChange::Removed, now_ms);
}

fn change(to: &mut Stage, change: UpstreamChange, now_ms: i64) {
    let event = UpstreamEvent {
        upstream: "http://10.0.0.1:9015".into(),
        scope: FeedScope::Own,
        change,
    };
    to.pipeline.handle(Event::Upstream(event), now_ms);
}

/// A host whose cluster has had an application for a while.
fn owner() -> Stage {
    let mut owner = stage();
    owner.pipeline.expect_cluster(&"p+a".parse().unwrap(), 0);
    tell(&mut owner, true, 1000);
    tell(&mut owner, false, 2000);
    owner.pipeline.handle(synced("p+a"), 2000);
    tell(&mut owner, true, 3000);
    owner
}

fn tell(owner: &mut Stage, is_ready: bool, now_ms: i64) {
    let front = object("Deployment", "front", None, is_ready);
    owner.tell(has("p+a", "front", [front, deployment("side")]), now_ms);
}

/// The history, which is not empty.
fn history(stage: &Stage) -> Vec<String> {
    let history = stage.history(&shop()).unwrap();
    assert!(!history.is_empty());
    history
}

#[tokio::test(start_paused = true)]
async fn a_host_that_starts_late_has_the_history_of_the_owner() {
    let mut owner = owner();
    let mut late = stage();
    let mut link = Link::from(&owner);
    link.pass(&mut late, 9000).await;
    assert_eq!(late.lines(), owner.lines());
    assert_eq!(history(&late), history(&owner));
    for (is_ready, now_ms) in [(false, 10_000), (true, 11_000)] {
        tell(&mut owner, is_ready, now_ms);
        link.pass(&mut late, now_ms + 500).await;
        assert_eq!(history(&late), history(&owner));
        assert_eq!(late.lines(), owner.lines());
    }
    // Another connection changes nothing.
    let before = history(&late);
    Link::from(&owner).pass(&mut late, 12_000).await;
    assert_eq!(history(&late), before);
}

#[tokio::test(start_paused = true)]
async fn applications_and_records_of_another_host_precede_the_connections_to_its_clusters() {
    let owner = owner();
    let mut late = stage();
    let ((), mut changes) = late.read_model.subscribe(|_| ());
    let mut batch = Link::from(&owner).batch().await;
    let group = RecordSubject::Group(DigName::new("p", "c", "v1", "d").unwrap());
    let record = (group.clone(), Some(RecordView::default()));
    batch.records.push(record);
    take(&mut late, batch, 9000);
    let mut subjects = Vec::new();
    while let Some(changed) = changes.next_now().unwrap() {
        subjects.push(changed.subject);
    }
    let at = |subject: ChangedSubject| subjects.iter().position(|it| *it == subject).unwrap();
    let application = at(ChangedSubject::Application(ApplicationKey::Found(shop())));
    let connection = at(ChangedSubject::Connection("p+a".parse().unwrap()));
    let record = at(ChangedSubject::Record(group));
    assert!(application < connection, "{subjects:?}");
    assert!(record < connection, "{subjects:?}");
}

#[tokio::test(start_paused = true)]
async fn a_host_without_memory_does_not_shorten_the_history_of_its_followers() {
    let owner = owner();
    let mut follower = stage();
    Link::from(&owner).pass(&mut follower, 3500).await;
    let before = history(&follower);
    let mut restarted = stage();
    restarted
        .pipeline
        .expect_cluster(&"p+a".parse().unwrap(), 0);
    tell(&mut restarted, false, 5000);
    restarted.pipeline.handle(synced("p+a"), 5000);
    Link::from(&restarted).pass(&mut follower, 6000).await;
    let after = history(&follower);
    assert_eq!(after[after.len() - before.len()..], before);
    assert_eq!(
        after[..after.len() - before.len()],
        [
            "05Z - Ready > Pending generic",
            "05Z front Ready > Pending generic"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_transitions_of_a_host_that_sends_no_histories_are_found_by_comparing_views() {
    let mut owner = owner();
    let mut late = stage();
    let mut link = Link::from(&owner);
    for (is_ready, now_ms) in [(false, 9000), (true, 10_000)] {
        tell(&mut owner, is_ready, now_ms - 500);
        let mut batch = link.batch().await;
        batch.has_histories = false;
        take(&mut late, batch, now_ms);
    }
    assert_eq!(late.lines(), owner.lines());
    let history = history(&late);
    let first = history.iter().find(|line| line.contains("front"));
    assert_eq!(first.unwrap(), "10Z front Pending > Ready generic");
    assert!(
        history.iter().all(|line| line > &"09".to_owned()),
        "{history:?}"
    );
}
