//! Errors of lookups.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_api::problem::PartialProblem;
use kindsight_model::{ContextId, DigName, RecordSubject};

use crate::problem::{QueryError, known, not_found, unknown};
use crate::record::RecordView;

/// The reason why a lookup failed.
///
/// Holds the names for the message. [`QueryError::from`] formats the message after the caller has released
/// its lock.
#[derive(Debug)]
pub struct Missing(pub(super) Reason);

#[derive(Debug)]
pub(super) enum Reason {
    /// The subject does not exist.
    Subject {
        subject: RecordSubject,
        /// Subjects with similar names.
        near: Vec<RecordSubject>,
        /// The data of a store that cannot be reached. The subject may be part of this data.
        unread: Option<&'static str>,
    },
    /// The record of the subject does not name the instance.
    Instance {
        id: ContextId,
        record: Arc<RecordView>,
    },
    /// The query requests an instance of a found application, which has no instances.
    InstanceOfFound(DigName),
}

impl From<Missing> for QueryError {
    fn from(missing: Missing) -> Self {
        match missing.0 {
            Reason::Subject {
                subject,
                near,
                unread,
            } => {
                let mut problem = unknown(
                    part(&subject),
                    subject.name(),
                    known(near.iter().map(RecordSubject::name)),
                );
                if let Some(unread) = unread {
                    problem.detail += " in the last data read: the store of ";
                    problem.detail += unread;
                    problem.detail += " is away";
                }
                not_found(problem)
            }
            Reason::Instance { id, record } => {
                let instances: BTreeSet<_> = record.instances().into_iter().collect();
                not_found(unknown("instance", id, known(instances)))
            }
            Reason::InstanceOfFound(name) => {
                let detail = format!("`{name}` was found in the clusters and has no instances");
                let problem = PartialProblem::new("instance", detail, "no `instance`");
                Self::Invalid(vec![problem])
            }
        }
    }
}

/// The parameter of a request that names the subject.
fn part(subject: &RecordSubject) -> &'static str {
    match subject {
        RecordSubject::Group(_) => "deployment-intent-group",
        RecordSubject::Cluster(_) => "cluster",
        RecordSubject::LogicalCloud(_) => "logical-cloud",
    }
}
