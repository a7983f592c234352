//! What was done to deployment intent groups and clusters, as the store keeps it and queries see it.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Context as _;
use kindsight_appcontext::{Action, Records};
use kindsight_status::{ActionView, Board, RecordView};

/// Shows every record of the store. What cannot be read is logged and left out.
///
/// # Errors
/// When the store cannot be read.
pub(crate) fn show(records: &Records, board: &Board) -> anyhow::Result<()> {
    let digs = records
        .digs()
        .context("read the records of deployment intent groups")?;
    let clusters = records.clusters().context("read the records of clusters")?;
    for unreadable in digs.unreadable.iter().chain(&clusters.unreadable) {
        tracing::warn!(
            key = unreadable.key,
            why = unreadable.why,
            "record not readable"
        );
    }
    let digs = digs.records.into_iter().map(|(name, record)| {
        let profile = record.profile.map(Into::into);
        (name, view(profile, &record.actions))
    });
    let clusters = clusters
        .records
        .into_iter()
        .map(|(name, record)| (name, view(None, &record.actions)));
    let (digs, clusters): (HashMap<_, _>, HashMap<_, _>) = (digs.collect(), clusters.collect());
    board.publish(|shown| {
        shown.digs = digs;
        shown.clusters = clusters;
    });
    Ok(())
}

fn view(profile: Option<Arc<str>>, actions: &[Action]) -> Arc<RecordView> {
    let actions = actions.iter().map(|action| ActionView {
        state: action.state,
        instance: action.instance.clone(),
        time: action.time.as_str().into(),
    });
    Arc::new(RecordView {
        profile,
        actions: actions.collect(),
    })
}
