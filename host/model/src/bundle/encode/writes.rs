//! The order of the writes of a report.

use std::collections::{BTreeMap, BTreeSet};

use super::{BundlePart, EncodedBundle};
use crate::Digest;
use crate::bundle::header::{Header, REPORT_ANNOTATION};

/// The stored objects of the report on one app, before a write.
#[derive(Debug, Clone, Default)]
pub struct StoredBundle {
    /// The annotations of the first object.
    pub annotations: BTreeMap<String, String>,
    /// True if the status of the first object is the one to be written.
    pub is_status_current: bool,
    /// The [`status_digest`](crate::status_digest) of the stored status; `None` if it has none, or if the writer does
    /// not know it. Then the annotations of a report in several objects are written only after a status.
    pub status: Option<Digest>,
    /// The names of the further objects of the app that have the status that was written.
    pub parts: BTreeSet<String>,
    /// The names of the other further objects of the app: without a status, or changed by another client. They are
    /// written again if the report has them, and else deleted.
    pub damaged: BTreeSet<String>,
}

/// One write to a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BundleWrite<'e> {
    /// Create this further object unless it exists, and then write its status.
    Part(&'e BundlePart),
    /// Merge these annotations into the ones of the first object.
    Annotations(BTreeMap<String, String>),
    /// Replace the status of the first object. If further writes follow, the response is needed.
    Status(&'e str),
    /// Merge the result of [`EncodedBundle::annotations`] into the annotations of the first object, with the digest of
    /// the status in the response to the status, or else of the stored status.
    AnnotationsOfStatus,
    /// Delete the further object with this name.
    Delete(String),
}

impl EncodedBundle {
    /// The writes that change the stored objects into this report, in their order; none if the cluster has it already.
    /// Called by the monitor before each write of a report. After a failed write, the others must not be made, and the
    /// list must be made again.
    ///
    /// The annotations of a report in one object change only if its coverage does, so a report usually costs one write.
    pub fn writes(&self, stored: &StoredBundle) -> Vec<BundleWrite<'_>> {
        let mut writes = Vec::new();
        let missing = self
            .further
            .iter()
            .filter(|part| !stored.parts.contains(&part.name));
        writes.extend(missing.map(BundleWrite::Part));
        let present = stored.annotations.get(REPORT_ANNOTATION);
        let mut present = present.and_then(|json| Header::read(json).ok());
        // The header of a report in several objects names the digest of the stored status. If the digest is not known,
        // only the response to a write of the status shows it.
        let is_digest_known = stored.status.is_some() || !self.header.is_bound();
        if !(stored.is_status_current && is_digest_known) {
            let guard = self.guard(present.as_ref());
            if let Some(guard) = guard {
                writes.push(BundleWrite::Annotations(
                    [(REPORT_ANNOTATION.to_owned(), guard.json())].into(),
                ));
                present = Some(guard);
            }
            writes.push(BundleWrite::Status(&self.first.status));
        }
        if !self.is_annotated(present.as_ref(), stored) {
            writes.push(BundleWrite::AnnotationsOfStatus);
        }
        let names: BTreeSet<&str> = self.further.iter().map(|part| &*part.name).collect();
        let old = stored.parts.union(&stored.damaged);
        let old = old.filter(|name| !names.contains(&***name));
        writes.extend(old.cloned().map(BundleWrite::Delete));
        writes
    }

    /// The header that the first object needs before its status changes; `None` if the present one is right before and
    /// after the change. Until the header of the new status is written, readers keep the last report.
    fn guard(&self, present: Option<&Header>) -> Option<Header> {
        match present {
            // It belongs only to the status before the change.
            Some(present) if present.is_bound() => None,
            Some(present) if *present == self.header => None,
            // Without a header, the status would be read as the report of an original monitor.
            _ => Some(self.header.bound_to_none()),
        }
    }

    /// Returns whether the first object has the annotations of this report after its status was written.
    fn is_annotated(&self, present: Option<&Header>, stored: &StoredBundle) -> bool {
        let Some(present) = present else {
            return false;
        };
        if !self.header.is_bound() {
            return *present == self.header;
        }
        // A written status has a digest that is not known yet.
        let digest = stored.status.as_ref().filter(|_| stored.is_status_current);
        let mut header = self.header.clone();
        header.status = digest.cloned();
        digest.is_some() && *present == header
    }
}

#[cfg(test)]
mod tests;
