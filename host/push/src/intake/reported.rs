//! Everything that the pipeline may have of a cluster, beside the last reports of the current epoch.

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_model::{Coverage, DigName, Subject};

use super::size::Size;

/// Everything that the pipeline may have of a cluster and that no report has replaced.
#[derive(Debug, Default)]
pub(super) struct Reported {
    /// The size of the last report on each subject.
    pub(super) subjects: BTreeMap<Subject, Size>,
    /// The size of the missing resources of each application that has some.
    pub(super) missing: BTreeMap<DigName, Size>,
    /// The last coverage.
    pub(super) coverage: Option<Arc<Coverage>>,
}

impl Reported {
    /// The size of the reports and the missing resources.
    pub(super) fn size(&self) -> Size {
        let sizes = self.subjects.values().chain(self.missing.values());
        sizes.fold(Size::default(), |sum, size| sum.plus(*size))
    }

    /// Notes that a subject was withdrawn or replaced whose report had this size.
    pub(super) fn note_subject(&mut self, subject: &Subject, size: Option<Size>) {
        if let Some(size) = size {
            self.subjects.entry(subject.clone()).or_insert(size);
        }
    }

    /// Notes that the missing resources of an application were replaced that had this size.
    pub(super) fn note_missing(&mut self, application: &DigName, size: Option<Size>) {
        if let Some(size) = size {
            self.missing.entry(application.clone()).or_insert(size);
        }
    }

    /// Adds later reports of other epochs.
    pub(super) fn extend(&mut self, later: Self) {
        self.subjects.extend(later.subjects);
        self.missing.extend(later.missing);
        self.coverage = later.coverage.or(self.coverage.take());
    }
}
