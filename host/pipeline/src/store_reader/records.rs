//! Records of kindsight, as they are stored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_appcontext::{Error, Record, Records};
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
}

/// Reads every record.
///
/// # Errors
/// The store cannot be read.
pub(super) fn read_all(records: &Records) -> Result<ReadRecords, Error> {
    let listed = records.list()?;
    for unreadable in listed.unreadable {
        let (key, why) = (unreadable.key, unreadable.why);
        tracing::warn!(key, why, "record not readable; the last readable one stays");
    }
    let readable = listed.records.into_iter();
    Ok(ReadRecords {
        readable: readable
            .map(|(subject, record)| (subject, view(&record)))
            .collect(),
        unreadable: listed.unreadable_subjects.into_iter().collect(),
        revision: listed.revision,
    })
}

/// Reads the record of a subject, or returns `None` if it does not exist.
///
/// # Errors
/// The record cannot be read.
pub(super) fn read(
    records: &Records,
    subject: &RecordSubject,
) -> Result<Option<RecordView>, Error> {
    Ok(records.get(subject)?.as_ref().map(view))
}

fn view(record: &Record) -> RecordView {
    let actions = record.actions.iter().map(|action| ActionView {
        state: action.state,
        instance: action.instance.clone(),
        time: action.time.as_str().into(),
        revision: action.revision,
    });
    RecordView {
        profile: record.profile.as_deref().map(Arc::from),
        status_context: None,
        actions: actions.collect(),
        is_own: true,
    }
}
