//! The Kinds of which the objects at hand are known to be all, for those who judge by related objects.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::coverage::LISTS;
use super::{Bundle, Coverage, Covered, Rejected};
use crate::{Gvk, Object, words};

words! {
    /// Completeness of the objects of one Kind that are at hand.
    KindCoverage {
        /// There are no others: one that is not at hand does not exist.
        Complete = "complete",
        /// There may be others.
        Partial = "partial",
        /// Nobody reports on the Kind, as far as is known: that there are none at hand means nothing.
        Unknown = "unknown",
    }
}

/// The coverage of each Kind by a set of objects.
///
/// More careful than [`Coverage`], which says that a resource with the label of the app is not there:
/// here, an absence would change the verdict on another object. So a list of any Kind covers only the
/// Kinds of which it holds an object (monitors watch a configured set, and seldom ReplicaSets), and a Kind
/// of which an item cannot be read is covered in part.
///
/// About objects with the label of the app alone: what is made without it, such as a Secret of another
/// tool, is in no report.
#[derive(Debug, Clone, Default)]
pub struct CoveredKinds {
    /// None for objects that nobody reports: they were sent with a request, or read from files.
    coverage: Option<Coverage>,
    /// The Kinds of the objects at hand.
    seen: Kinds,
    /// The Kinds of the items that cannot be read.
    unread: Kinds,
    /// True if an item cannot be read that may be of any Kind.
    is_any_unread: bool,
    /// The Kinds that are known to be complete, where nobody reports the objects.
    complete: Kinds,
}

/// Kinds by group: searched without a copy of either.
#[derive(Debug, Clone, Default)]
struct Kinds(HashMap<Arc<str>, HashSet<Arc<str>>>);

impl Kinds {
    fn add(&mut self, gvk: &Gvk) {
        if !self.has(&gvk.group, &gvk.kind) {
            let kinds = self.0.entry(Arc::clone(&gvk.group)).or_default();
            kinds.insert(Arc::clone(&gvk.kind));
        }
    }

    fn has(&self, group: &str, kind: &str) -> bool {
        self.0.get(group).is_some_and(|kinds| kinds.contains(kind))
    }
}

impl CoveredKinds {
    /// The Kinds covered by a report with these objects, and these items that cannot be read.
    pub fn of(coverage: Coverage, objects: &[Object], rejected: &[Rejected]) -> Self {
        let mut kinds = Self {
            coverage: Some(coverage),
            ..Self::default()
        };
        for object in objects {
            kinds.seen.add(&object.gvk);
        }
        for item in rejected {
            match kind_of(item) {
                Some(gvk) => kinds.unread.add(&gvk),
                None => kinds.is_any_unread = true,
            }
        }
        kinds
    }

    /// No Kind in full: the objects were sent with a request, or read from files.
    pub fn partial() -> Self {
        Self::default()
    }

    /// These Kinds in full, given as group and Kind, and no other.
    pub fn complete_for<'k>(kinds: impl IntoIterator<Item = (&'k str, &'k str)>) -> Self {
        let mut covered = Self::default();
        for (group, kind) in kinds {
            covered.complete.add(&Gvk::new(group, "", kind));
        }
        covered
    }

    /// The Kinds of [`Self::complete_for`], in order.
    pub fn complete(&self) -> BTreeSet<(&str, &str)> {
        let groups = self.complete.0.iter();
        let kinds = groups.flat_map(|(group, kinds)| kinds.iter().map(|kind| (&**group, &**kind)));
        kinds.collect()
    }

    /// The coverage of a Kind.
    pub fn covers(&self, group: &str, kind: &str) -> KindCoverage {
        let Some(coverage) = &self.coverage else {
            return if self.complete.has(group, kind) {
                KindCoverage::Complete
            } else {
                KindCoverage::Partial
            };
        };
        let is_seen = self.seen.has(group, kind);
        let is_watched = is_seen || coverage.is_watched() || Coverage::has_list(group, kind);
        let is_covered = coverage.covers(Some(group), kind) == Covered::Yes;
        let is_unread = self.is_any_unread || self.unread.has(group, kind);
        match (is_covered && is_watched && !is_unread, is_seen) {
            (true, _) => KindCoverage::Complete,
            (false, true) => KindCoverage::Partial,
            (false, false) => KindCoverage::Unknown,
        }
    }
}

impl Bundle {
    /// The Kinds of which it has all objects of its app.
    pub fn covered_kinds(&self) -> CoveredKinds {
        CoveredKinds::of(self.coverage.clone(), &self.objects, &self.rejected)
    }
}

/// Kind of an item that cannot be read: by what it says, else by its list; `None` for one that may be of
/// any Kind.
fn kind_of(item: &Rejected) -> Option<Gvk> {
    let told = item.identity.as_ref().map(|it| it.gvk.clone());
    let list = item.pointer.split('/').nth(2);
    let listed = || LISTS.iter().find(|it| Some(it.field) == list);
    told.or_else(|| listed().map(super::coverage::List::gvk))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{BUNDLE_ITEMS_MAX, decode_status};

    fn kinds(status: &str) -> CoveredKinds {
        let bundle = decode_status("7-sink".parse().unwrap(), status.as_bytes());
        bundle.unwrap().covered_kinds()
    }

    fn check(status: &Value, expected: &[(&str, &str, KindCoverage)]) {
        let kinds = kinds(&status.to_string());
        for &(group, kind, covered) in expected {
            assert_eq!(
                kinds.covers(group, kind),
                covered,
                "{group}/{kind} in {status}"
            );
        }
    }

    /// An entry of the list of any Kind, with this as its base64-encoded object.
    fn entry(group: &str, kind: &str, res: &str) -> Value {
        json!({"group": group, "version": "v1", "kind": kind, "name": "one", "res": res})
    }

    /// `{}` in base64.
    const OBJECT: &str = "e30=";

    use KindCoverage::{Complete, Partial, Unknown};

    #[test]
    fn the_kinds_of_the_lists_are_complete_also_where_there_are_none() {
        let expected = [
            ("", "Pod", Complete),
            ("batch", "Job", Complete),
            ("extensions", "Deployment", Complete),
            ("x.org", "Deployment", Unknown),
            ("", "Secret", Unknown),
            ("apps", "ReplicaSet", Unknown),
        ];
        check(&json!({}), &expected);
        check(
            &json!({"secretStatuses": []}),
            &[
                ("", "Secret", Complete),
                ("networking.k8s.io", "Ingress", Unknown),
            ],
        );
    }

    #[test]
    fn a_list_of_any_kind_covers_the_kinds_that_are_in_it() {
        let slices = entry("discovery.k8s.io", "EndpointSlice", OBJECT);
        let expected = [
            ("discovery.k8s.io", "EndpointSlice", Complete),
            ("apps", "ReplicaSet", Unknown),
            ("", "Pod", Complete),
        ];
        check(&json!({"resourceStatuses": [slices]}), &expected);
        // A list that is not one covers nothing, and a Pod elsewhere is one of perhaps many.
        let network =
            json!({"apiVersion": "x.org/v1", "kind": "Network", "metadata": {"name": "n"}});
        let expected = [("x.org", "Network", Partial), ("y.org", "Network", Unknown)];
        check(
            &json!({"resourceStatuses": 7, "podStatuses": [network]}),
            &expected,
        );
    }

    #[test]
    fn a_kind_of_which_an_item_cannot_be_read_is_covered_in_part() {
        let pod = json!({"metadata": {"name": "p"}});
        let expected = [("", "Pod", Partial), ("batch", "Job", Complete)];
        check(&json!({"podStatuses": [pod, 7]}), &expected);
        check(
            &json!({"podStatuses": [7]}),
            &[("", "Pod", Unknown), ("batch", "Job", Complete)],
        );
        check(&json!({"podStatuses": 7}), &[("", "Pod", Unknown)]);
        let thing = [
            entry("x.org", "Thing", OBJECT),
            entry("x.org", "Thing", "?"),
        ];
        check(
            &json!({"podStatuses": [pod], "resourceStatuses": thing}),
            &[("x.org", "Thing", Partial), ("", "Pod", Complete)],
        );
        // What is not known to be of another Kind may be one of these.
        check(
            &json!({"podStatuses": [pod], "resourceStatuses": [7]}),
            &[("", "Pod", Partial), ("batch", "Job", Unknown)],
        );
    }

    #[test]
    fn a_report_that_is_cut_covers_nothing_in_full() {
        let items = vec!["{}"; BUNDLE_ITEMS_MAX + 1].join(",");
        let kinds = kinds(&format!(r#"{{"podStatuses":[{items}]}}"#));
        assert_eq!(kinds.covers("", "Pod"), Partial);
        assert_eq!(kinds.covers("batch", "Job"), Unknown);
    }

    #[test]
    fn kinds_that_were_searched_are_complete_and_no_other() {
        let kinds = CoveredKinds::complete_for([("", "Pod"), ("x.org", "Thing")]);
        assert_eq!(kinds.covers("x.org", "Thing"), Complete);
        assert_eq!(kinds.covers("y.org", "Thing"), Partial);
        assert_eq!(kinds.complete(), [("", "Pod"), ("x.org", "Thing")].into());
    }

    #[test]
    fn what_was_sent_or_read_from_files_is_never_known_to_be_all() {
        let kinds = CoveredKinds::partial();
        assert_eq!(kinds.covers("", "Pod"), Partial);
        assert_eq!(kinds.covers("x.org", "Thing"), Partial);
    }
}
