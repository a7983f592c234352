//! Kinds that are watched in a cluster, as the coverage of what is seen there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::coverage::is_served_by;

/// The Kinds of a cluster of which every object is seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchedKinds {
    /// Groups by Kind.
    kinds: BTreeMap<Arc<str>, BTreeSet<Arc<str>>>,
    /// The only namespaces that are watched; all where empty.
    namespaces: BTreeSet<Arc<str>>,
    /// True if some objects are left out because there are too many.
    pub(super) is_cut: bool,
}

impl WatchedKinds {
    /// No Kind yet, in these namespaces; in all where there are none.
    pub fn new(namespaces: BTreeSet<Arc<str>>, is_cut: bool) -> Self {
        Self {
            kinds: BTreeMap::new(),
            namespaces,
            is_cut,
        }
    }

    /// Adds a Kind.
    pub fn add(&mut self, group: &str, kind: &str) {
        let groups = self.kinds.entry(kind.into()).or_default();
        groups.insert(group.into());
    }

    /// Returns whether a Kind is among them; a group of `None` is not known.
    pub(super) fn has(&self, group: Option<&str>, kind: &str) -> bool {
        let groups = self.kinds.get(kind);
        let mut groups = groups.into_iter().flatten();
        groups.any(|it| group.is_none_or(|group| is_served_by(group, it)))
    }

    /// Returns whether objects in a namespace are seen.
    pub(super) fn is_in_namespace(&self, namespace: &str) -> bool {
        self.namespaces.is_empty() || self.namespaces.contains(namespace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Coverage, Covered, CoveredKinds, KindCoverage};

    fn coverage(change: impl FnOnce(&mut WatchedKinds)) -> Coverage {
        let mut kinds = WatchedKinds::default();
        kinds.add("", "Pod");
        kinds.add("apps", "Deployment");
        change(&mut kinds);
        Coverage::watched(Arc::new(kinds))
    }

    #[test]
    fn what_is_not_watched_is_not_covered() {
        let coverage = coverage(|_| {});
        for (group, kind, expected) in [
            (Some(""), "Pod", Covered::Yes),
            (None, "Deployment", Covered::Yes),
            (Some("extensions"), "Deployment", Covered::Yes),
            (Some("x.org"), "Deployment", Covered::NotReported),
            // Not watched although every monitor has a list of it.
            (Some(""), "Service", Covered::NotReported),
        ] {
            assert_eq!(coverage.covers(group, kind), expected, "{kind}");
        }
        assert!(!coverage.is_every_kind());
        let kinds = CoveredKinds::of(coverage, &[], &[]);
        assert_eq!(kinds.covers("", "Pod"), KindCoverage::Complete);
        assert_eq!(kinds.covers("", "Service"), KindCoverage::Unknown);
    }

    #[test]
    fn namespaces_that_are_not_watched_and_cut_lists_say_nothing() {
        let web = coverage(|it| it.namespaces = ["web".into()].into());
        assert!(web.covers_namespace("web") && !web.covers_namespace("base"));
        assert!(coverage(|_| {}).covers_namespace("base"));
        assert!(Coverage::default().covers_namespace("base"));
        let cut = coverage(|it| it.is_cut = true);
        assert_eq!(cut.covers(Some(""), "Pod"), Covered::Cut);
    }
}
