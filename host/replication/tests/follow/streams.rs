//! Slow followers, new streams, and owners of clusters.

use std::sync::Arc;

use kindsight_read_model::ReadModelWriter;
use kindsight_replication::wire::Line;
use kindsight_replication::{Feed, FeedScope};
use kindsight_status::StoreAway;

use crate::stage::{
    EDGE, FAR, Stage, cluster, connection, context, filled, key, placement, resource, transition,
    transition_in,
};

#[tokio::test(start_paused = true)]
async fn a_slow_follower_gets_the_latest_state_once() {
    let mut stage = Stage::new(filled());
    stage.follow().await;
    // More changes than a subscription buffers.
    for at in 0..10_000 {
        let changed = resource("a", &at.to_string(), None);
        let view = context("shop", vec![placement(EDGE, vec![changed])]);
        stage.upstream.publish(&key("shop"), view, Vec::new());
    }
    let lines = stage.follow().await;
    let placements = lines.iter().filter(|line| line.placement.is_some());
    assert_eq!(placements.count(), 1);
    stage.check();
}

#[tokio::test(start_paused = true)]
async fn a_new_stream_replaces_the_state_and_removes_the_rest() {
    let mut stage = Stage::new(filled());
    stage.follow().await;
    stage.upstream.publish(
        &key("cart"),
        context("cart", vec![placement(EDGE, vec![resource("c", "", None)])]),
        vec![transition(4)],
    );
    stage.follow().await;
    stage.upstream.remove(&key("cart"));
    stage.follow_to_cut().await;
    // Another process serves, without histories and connections.
    let mut upstream = ReadModelWriter::default();
    let view = context(
        "shop",
        vec![placement(EDGE, vec![resource("a", "new", None)])],
    );
    upstream.publish(&key("shop"), view, Vec::new());
    stage.feed = Feed::new(upstream.read_model().clone(), FeedScope::Every);
    stage.upstream = upstream;
    // The first attempt to connect fails.
    stage.image.restart();
    stage.image.restart();
    assert!(!stage.image.is_synced());
    stage.follow().await;
    assert!(stage.image.is_synced());
    stage.check();
}

#[tokio::test(start_paused = true)]
async fn an_outage_of_the_store_that_ended_with_a_stream_is_not_shown() {
    let mut stage = Stage::new(filled());
    stage.upstream.publish_store(Some(StoreAway {
        since_ms: 4,
        reason: "no answer".into(),
    }));
    stage.follow().await;
    stage.check();
    stage.upstream.publish_store(None);
    stage.follow_to_cut().await;
    stage.feed = Feed::new(stage.upstream.read_model().clone(), FeedScope::Every);
    // The first attempt to connect fails.
    stage.image.restart();
    stage.image.restart();
    stage.follow().await;
    stage.check();
}

#[tokio::test(start_paused = true)]
async fn a_placement_of_an_earlier_owner_is_ignored() {
    let mut stage = Stage::new(filled());
    let lines = stage.follow().await;
    let mut earlier = lines
        .iter()
        .find_map(|line| line.placement.clone())
        .unwrap();
    assert_eq!((&*earlier.cluster, earlier.fence), (EDGE, 3));
    earlier.fence = 2;
    earlier.received = false;
    earlier.rows = None;
    let line = Line {
        placement: Some(earlier),
        ..Line::default()
    };
    let line = serde_json::to_vec(&line).unwrap();
    assert!(stage.image.take(&line).unwrap().is_none());
    let end = stage.image.take(br#"{"end":{"generation":9}}"#).unwrap();
    assert!(end.unwrap().applications.is_empty());
    stage.check();
}

#[tokio::test(start_paused = true)]
async fn a_host_that_shares_clusters_sends_only_its_own() {
    let mut upstream = filled();
    let mut remote = connection(4);
    remote.owner.is_remote = true;
    upstream.publish_connection(&cluster(FAR), Some(remote.clone()));
    let mut stage = Stage::new(upstream);
    stage.feed = Feed::new(stage.upstream.read_model().clone(), FeedScope::Own);
    stage.follow().await;
    let clusters = |stage: &Stage| -> Vec<String> {
        let view = stage
            .replica
            .read_model()
            .application(&key("shop"))
            .unwrap();
        let placements = view.clusters();
        placements.map(|it| it.cluster().to_string()).collect()
    };
    assert_eq!(clusters(&stage), [EDGE]);
    let records = |stage: &Stage| {
        let model = stage.replica.read_model();
        model.inspect(|snapshot| snapshot.records().count())
    };
    assert_eq!(records(&stage), 0);
    // The host takes over the other cluster, and loses the first one.
    remote.owner.is_remote = false;
    stage
        .upstream
        .publish_connection(&cluster(FAR), Some(remote));
    let mut lost = connection(5);
    lost.owner.is_remote = true;
    stage
        .upstream
        .publish_connection(&cluster(EDGE), Some(lost));
    stage.follow().await;
    stage.follow().await;
    assert_eq!(clusters(&stage), [FAR]);
}

#[tokio::test(start_paused = true)]
async fn a_change_on_another_host_is_not_sent_back() {
    let mut upstream = ReadModelWriter::default();
    upstream.publish_connection(&cluster(EDGE), Some(connection(5)));
    let mut remote = connection(6);
    remote.owner.is_remote = true;
    upstream.publish_connection(&cluster(FAR), Some(remote));
    let own = |content| placement(EDGE, vec![resource("a", content, None)]);
    let far = |content| placement(FAR, vec![resource("b", content, None)]);
    let (one, other) = (own("one"), own("other"));
    let view = |placements| context("shop", placements);
    upstream.publish(
        &key("shop"),
        view(vec![Arc::clone(&one), far("one")]),
        vec![],
    );
    let mut stage = Stage::new(upstream);
    stage.feed = Feed::new(stage.upstream.read_model().clone(), FeedScope::Own);
    stage.follow().await;
    let sent = |lines: Vec<Line>| {
        let parts = |line: &Line| (line.application.is_some(), line.placement.is_some());
        let parts = lines.iter().map(parts);
        parts.filter(|parts| *parts != (false, false)).count()
    };
    let changed = view(vec![one, far("other")]);
    stage.upstream.publish(&key("shop"), changed, vec![]);
    assert_eq!(sent(stage.follow().await), 0);
    // A change on this host is sent.
    let changed = view(vec![other, far("other")]);
    stage.upstream.publish(&key("shop"), changed, vec![]);
    assert_eq!(sent(stage.follow().await), 2);
}

#[tokio::test(start_paused = true)]
async fn counts_and_times_of_connections_arrive_between_changes_without_a_pause() {
    let mut stage = Stage::new(filled());
    stage.follow().await;
    let mut heard = connection(3);
    heard.heard_ms = Some(77_000);
    stage
        .upstream
        .publish_connection(&cluster(EDGE), Some(heard));
    let mut connections = 0;
    for at in 0..60 {
        // A batch is gathered for 50 ms, so these are three seconds.
        let changed = resource("a", &at.to_string(), None);
        let view = context("shop", vec![placement(EDGE, vec![changed])]);
        stage.upstream.publish(&key("shop"), view, vec![]);
        let lines = stage.follow().await;
        connections += lines
            .iter()
            .filter(|line| line.connection.is_some())
            .count();
    }
    assert_eq!(connections, 1);
}

/// The transitions of the histories in lines, by cluster and time, and whether they replace the history.
fn histories(lines: &[Line]) -> Vec<(bool, Vec<(String, i64)>)> {
    let histories = lines.iter().filter_map(|line| line.history.as_ref());
    let read = histories.map(|history| {
        let history = serde_json::to_value(history).unwrap();
        let transitions = history["transitions"].as_array().unwrap().iter();
        let transitions = transitions.map(|it| {
            let cluster = it["resource"]["cluster"].as_str().unwrap_or("-");
            (cluster.to_owned(), it["at-ms"].as_i64().unwrap())
        });
        (history["replace"].is_object(), transitions.collect())
    });
    read.collect()
}

#[tokio::test(start_paused = true)]
async fn a_host_that_shares_clusters_sends_the_histories_of_its_own() {
    let mut upstream = filled();
    let mut remote = connection(4);
    remote.owner.is_remote = true;
    upstream.publish_connection(&cluster(FAR), Some(remote.clone()));
    let publish = |upstream: &mut ReadModelWriter, transitions| {
        let view = upstream.read_model().application(&key("shop")).unwrap();
        upstream.publish(&key("shop"), (*view).clone(), transitions);
    };
    publish(
        &mut upstream,
        vec![transition_in(EDGE, 2), transition_in(FAR, 3)],
    );
    let mut stage = Stage::new(upstream);
    stage.feed = Feed::new(stage.upstream.read_model().clone(), FeedScope::Own);
    let entry = |cluster: &str, at_ms| (cluster.to_owned(), at_ms);
    let first = histories(&stage.follow().await);
    assert_eq!(first, [(true, vec![entry("-", 1), entry(EDGE, 2)])]);
    // The transitions of other hosts' clusters are not sent.
    publish(&mut stage.upstream, vec![transition_in(FAR, 4)]);
    assert_eq!(histories(&stage.follow().await), []);
    publish(
        &mut stage.upstream,
        vec![transition_in(FAR, 5), transition_in(EDGE, 6)],
    );
    let added = histories(&stage.follow().await);
    assert_eq!(added, [(false, vec![entry(EDGE, 6)])]);
    // A cluster that passes to this host has its complete history.
    remote.owner.is_remote = false;
    stage
        .upstream
        .publish_connection(&cluster(FAR), Some(remote));
    stage.follow().await;
    let all = histories(&stage.follow().await);
    let entries = [("-", 1), (EDGE, 2), (FAR, 3), (FAR, 4), (FAR, 5), (EDGE, 6)];
    let entries = entries.map(|(cluster, at_ms)| entry(cluster, at_ms));
    assert_eq!(all, [(true, entries.to_vec())]);
}
