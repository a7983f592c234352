//! The losses of a report, by Kind.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::shorten::Shortening;
use crate::{Coverage, Gvk, Object, ObjectError, Rejected, RejectedIdentity};

/// A loss of the objects of a Kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Loss {
    Part(Shortening),
    OwnedObjects,
    Objects,
}

/// The losses of a report because of its limit.
#[derive(Debug)]
pub(super) struct LeftOut {
    bytes_max: usize,
    by_kind: BTreeMap<(Arc<str>, Arc<str>), BTreeSet<Loss>>,
    /// Objects that are larger than the limit even without their content.
    pub(super) rejected: Vec<Rejected>,
}

impl LeftOut {
    pub(super) fn of(bytes_max: usize) -> Self {
        Self {
            bytes_max,
            by_kind: BTreeMap::new(),
            rejected: Vec::new(),
        }
    }

    /// Notes that an object was shortened.
    pub(super) fn note_shortened(&mut self, object: &Object, shortening: Shortening) {
        self.note(&object.gvk, Loss::Part(shortening));
    }

    /// Notes that an owned object is left out.
    pub(super) fn note_owned(&mut self, object: &Object) {
        self.note(&object.gvk, Loss::OwnedObjects);
    }

    /// Notes that an object is left out.
    pub(super) fn note_object(&mut self, object: &Object) {
        self.note(&object.gvk, Loss::Objects);
    }

    /// Notes that the header has no space for a rejected object of this Kind.
    pub(super) fn note_rejected(&mut self, gvk: &Gvk) {
        self.note(gvk, Loss::Objects);
    }

    /// Rejects an object that is too large.
    pub(super) fn reject(&mut self, object: &Object) {
        let reason = format!(
            "object of {} bytes is too large for the report of the monitor, which is limited to {} bytes",
            object.json.len(),
            self.bytes_max
        );
        self.rejected.push(Rejected {
            pointer: String::new(),
            error: ObjectError::NotReported(reason),
            identity: RejectedIdentity::of(object.gvk.clone(), &object.namespace, &object.name),
        });
    }

    fn note(&mut self, gvk: &Gvk, loss: Loss) {
        let kind = (Arc::clone(&gvk.group), Arc::clone(&gvk.kind));
        self.by_kind.entry(kind).or_default().insert(loss);
    }

    /// The coverage with the Kinds that lost content as incomplete.
    pub(super) fn limit(&self, coverage: &Coverage) -> Coverage {
        let mut limited = coverage.clone();
        for ((group, kind), losses) in &self.by_kind {
            let losses: Vec<&str> = losses.iter().map(|loss| loss.text()).collect();
            let reason = format!(
                "the report of the monitor is limited to {} bytes and lacks {}",
                self.bytes_max,
                losses.join(", ")
            );
            limited.limit(group, kind, &reason.into());
        }
        limited
    }
}

impl Loss {
    fn text(self) -> &'static str {
        match self {
            Self::Part(shortening) => shortening.loss(),
            Self::OwnedObjects => "owned objects",
            Self::Objects => "objects",
        }
    }
}
