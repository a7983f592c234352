//! Records of kindsight, as they are stored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_appcontext::{Action, ClusterRecord, DigRecord, Error, Listed, Records};
use kindsight_model::RecordSubject;
use kindsight_status::{ActionView, RecordView};
use kindsight_store::Revision;

/// All records of kindsight.
#[derive(Debug)]
pub(crate) struct ReadRecords {
    pub(crate) readable: BTreeMap<RecordSubject, RecordView>,
    /// The subjects of the records that exist and cannot be read.
    unreadable: BTreeSet<RecordSubject>,
    /// The revision to watch after.
    pub(super) revision: Revision,
}

impl ReadRecords {
    /// Returns whether a subject has a record, readable or not.
    pub(crate) fn has(&self, subject: &RecordSubject) -> bool {
        self.readable.contains_key(subject) || self.unreadable.contains(subject)
    }

    /// Adds records. Logs each record that cannot be read.
    fn add<N, R>(
        &mut self,
        listed: Listed<N, R>,
        subject: fn(N) -> RecordSubject,
        view: fn(&R) -> RecordView,
    ) {
        for unreadable in listed.unreadable {
            let (key, why) = (unreadable.key, unreadable.why);
            tracing::warn!(key, why, "record not readable; the last readable one stays");
        }
        let unreadable = listed.unreadable_names.into_iter();
        self.unreadable.extend(unreadable.map(subject));
        let readable = listed.records.into_iter();
        let readable = readable.map(|(name, record)| (subject(name), view(&record)));
        self.readable.extend(readable);
    }
}

/// Reads every record.
///
/// # Errors
/// The store cannot be read.
pub(super) fn read_all(records: &Records) -> Result<ReadRecords, Error> {
    let (digs, clusters) = (records.digs()?, records.clusters()?);
    let mut read = ReadRecords {
        readable: BTreeMap::new(),
        unreadable: BTreeSet::new(),
        revision: digs.revision,
    };
    read.add(digs, RecordSubject::Group, dig_view);
    read.add(clusters, RecordSubject::Cluster, cluster_view);
    Ok(read)
}

/// Reads the record of a subject, or returns `None` if it does not exist.
///
/// # Errors
/// The record cannot be read.
pub(super) fn read(
    records: &Records,
    subject: &RecordSubject,
) -> Result<Option<RecordView>, Error> {
    Ok(match subject {
        RecordSubject::Group(name) => records.dig(name)?.as_ref().map(dig_view),
        RecordSubject::Cluster(name) => records.cluster(name)?.as_ref().map(cluster_view),
        // kindsight records no actions on logical clouds.
        RecordSubject::LogicalCloud(_) => None,
    })
}

fn dig_view(record: &DigRecord) -> RecordView {
    RecordView {
        profile: record.profile.as_deref().map(Arc::from),
        ..view(&record.actions)
    }
}

fn cluster_view(record: &ClusterRecord) -> RecordView {
    view(&record.actions)
}

fn view(actions: &[Action]) -> RecordView {
    let actions = actions.iter().map(|action| ActionView {
        state: action.state,
        instance: action.instance.clone(),
        time: action.time.as_str().into(),
        revision: action.revision,
    });
    RecordView {
        profile: None,
        status_context: None,
        actions: actions.collect(),
        is_own: true,
    }
}
