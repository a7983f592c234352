//! Publishing of the records of deployment intent groups and clusters.

use std::fmt::Display;
use std::sync::Arc;

use kindsight_appcontext::{Action, ClusterRecord, DigRecord, Error, Listed, Records};
use kindsight_model::{ClusterName, DigName};
use kindsight_status::{ActionView, ReadModel, RecordView};
use kindsight_store::chain;

/// Publishes every record of the store. One that cannot be read is logged and left out.
///
/// # Errors
/// When the store cannot be read.
pub(crate) fn publish_all(records: &Records, read_model: &ReadModel) -> Result<(), Error> {
    for (name, record) in readable(records.digs()?) {
        read_model.publish_dig(&name, Some(dig_view(&record)));
    }
    for (name, record) in readable(records.clusters()?) {
        read_model.publish_cluster(&name, Some(cluster_view(&record)));
    }
    Ok(())
}

/// Publishes the record of a deployment intent group as it is stored now. One that cannot be read stays
/// as it was.
pub(crate) fn publish_dig(records: &Records, read_model: &ReadModel, name: &DigName) {
    match records.dig(name) {
        Ok(record) => read_model.publish_dig(name, record.as_ref().map(dig_view)),
        Err(error) => unreadable(name, &error),
    }
}

/// As [`publish_dig`], for a cluster.
pub(crate) fn publish_cluster(records: &Records, read_model: &ReadModel, name: &ClusterName) {
    match records.cluster(name) {
        Ok(record) => read_model.publish_cluster(name, record.as_ref().map(cluster_view)),
        Err(error) => unreadable(name, &error),
    }
}

fn unreadable(name: &dyn Display, error: &Error) {
    tracing::warn!(%name, error = chain(error), "record not readable; the last readable one stays");
}

/// Logs records that cannot be read, and returns the rest.
fn readable<N, R>(listed: Listed<N, R>) -> Vec<(N, R)> {
    for unreadable in listed.unreadable {
        let (key, why) = (unreadable.key, unreadable.why);
        tracing::warn!(key, why, "record not readable; it is left out");
    }
    listed.records
}

fn dig_view(record: &DigRecord) -> RecordView {
    RecordView {
        profile: record.profile.as_deref().map(Arc::from),
        actions: record.actions.iter().map(action_view).collect(),
    }
}

fn cluster_view(record: &ClusterRecord) -> RecordView {
    RecordView {
        profile: None,
        actions: record.actions.iter().map(action_view).collect(),
    }
}

fn action_view(action: &Action) -> ActionView {
    ActionView {
        state: action.state,
        instance: action.instance.clone(),
        time: action.time.as_str().into(),
    }
}
