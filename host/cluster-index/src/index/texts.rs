//! Texts that many objects have, stored once.

use std::collections::HashSet;
use std::sync::Arc;

use crate::decoded::{Body, Decoded};
use crate::labels::Label;
use crate::membership::Membership;

/// Maximum number of shared label sets, and of shared memberships. At the limit the set is cleared, and sets that were
/// shared earlier are stored a second time.
const SHARED_MAX: usize = 65_536;

/// The shared texts.
#[derive(Debug, Default)]
pub(super) struct Texts {
    strings: kindsight_model::Texts,
    labels: HashSet<Arc<[Label]>>,
    memberships: HashSet<Arc<Membership>>,
}

impl Texts {
    /// The same text, shared with others.
    pub(super) fn share(&mut self, text: &Arc<str>) -> Arc<str> {
        self.strings.share(Arc::clone(text))
    }

    /// The same labels, shared with others: the Pods of one workload have the same.
    pub(super) fn share_labels(&mut self, labels: &Arc<[Label]>) -> Arc<[Label]> {
        if let Some(shared) = self.labels.get(labels) {
            return Arc::clone(shared);
        }
        if self.labels.len() >= SHARED_MAX {
            self.labels.clear();
        }
        let pairs = labels.iter();
        let labels: Arc<[Label]> = pairs
            .map(|(key, value)| (self.share(key), self.share(value)))
            .collect();
        self.labels.insert(Arc::clone(&labels));
        labels
    }

    /// Lets the object share texts with others.
    pub(super) fn share_texts(&mut self, decoded: &mut Decoded) {
        if let Body::Whole(object) = &mut decoded.body {
            object.namespace = self.share(&object.namespace);
            object.labels = self.share_labels(&object.labels);
        }
    }

    /// The same membership, shared with others; none if the metadata names no application.
    pub(super) fn share_membership(&mut self, membership: Membership) -> Option<Arc<Membership>> {
        if membership == Membership::default() {
            return None;
        }
        if let Some(shared) = self.memberships.get(&membership) {
            return Some(Arc::clone(shared));
        }
        if self.memberships.len() >= SHARED_MAX {
            self.memberships.clear();
        }
        let membership = Arc::new(membership);
        self.memberships.insert(Arc::clone(&membership));
        Some(membership)
    }
}
