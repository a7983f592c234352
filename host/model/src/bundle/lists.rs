//! The lists of a bundle, and the coverage derived from them.

use std::collections::HashSet;

use super::Rejected;
use super::items::ANY_KIND;
use crate::coverage::is_served_by;
use crate::{Coverage, Gvk, KindCoverage, KindState, ObjectError, ObjectList, Scope};

/// Cause of the state of a Kind whose list is not an array.
const LIST_UNREADABLE: &str = "its list in the report cannot be read";

/// Cause of the state of every Kind if a bundle exceeds the limit on items.
const CUT: &str = "the report has more items than are read";

/// Cause of the state of every Kind if a status has another number of items than kindsight's monitor wrote.
const ALTERED: &str = "another monitor or the definition of ResourceBundleState added or removed objects of the report";

/// One list of one Kind in a bundle.
pub(super) struct List {
    pub(super) field: &'static str,
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    /// True if a missing list means an empty list, because every monitor sends this list unless it is empty.
    /// Other lists cover their Kind only if they are present: later monitors do not send them.
    is_in_all: bool,
}

impl List {
    const fn new(field: &'static str, group: &'static str, kind: &'static str) -> Self {
        Self {
            field,
            group,
            version: "v1",
            kind,
            is_in_all: true,
        }
    }

    const fn not_in_all(mut self) -> Self {
        self.is_in_all = false;
        self
    }

    /// The Kind of its items. An item's own `apiVersion` and `kind` take precedence; monitors omit them in
    /// items that they read from a list.
    pub(super) fn gvk(&self) -> Gvk {
        Gvk::new(self.group, self.version, self.kind)
    }

    /// Returns whether every monitor has the list.
    pub(super) fn is_in_all(&self) -> bool {
        self.is_in_all
    }

    /// Returns whether it is the list of CertificateSigningRequests, which have another version in each generation.
    pub(super) fn is_of_certificates(&self) -> bool {
        self.group == "certificates.k8s.io"
    }

    /// Returns whether the Kind is the Kind of the list, of any version.
    pub(super) fn is_of(&self, gvk: &Gvk) -> bool {
        *gvk.kind == *self.kind && is_served_by(&gvk.group, self.group)
    }

    /// Returns whether Kind, group and version are the same as in the list.
    pub(super) fn is_exactly_of(&self, gvk: &Gvk) -> bool {
        *gvk.kind == *self.kind && *gvk.group == *self.group && *gvk.version == *self.version
    }

    /// The state of its Kind.
    pub(super) fn state(&self, coverage: &Coverage) -> KindState {
        coverage
            .of(Some(self.group), self.kind, Scope::Cluster)
            .state
    }
}

/// The lists of one Kind, in reading order.
pub(super) static LISTS: [List; 10] = [
    List::new("podStatuses", "", "Pod"),
    List::new("serviceStatuses", "", "Service"),
    List::new("deploymentStatuses", "apps", "Deployment"),
    List::new("configMapStatuses", "", "ConfigMap"),
    List::new("secretStatuses", "", "Secret").not_in_all(),
    List::new("daemonSetStatuses", "apps", "DaemonSet"),
    List::new("ingressStatuses", "networking.k8s.io", "Ingress").not_in_all(),
    List::new("jobStatuses", "batch", "Job"),
    List::new("statefulSetStatuses", "apps", "StatefulSet"),
    List::new(
        "csrStatuses",
        "certificates.k8s.io",
        "CertificateSigningRequest",
    ),
];

/// The coverage of a status with these lists, as JSON texts.
///
/// An original monitor reports the Kinds of its ten lists; later monitors report any Kind in
/// `resourceStatuses`. Monitors omit empty lists, so a monitor that has sent `resourceStatuses` once reports
/// every Kind; see [`Report::cover_every_kind`](crate::Report::cover_every_kind).
pub(super) fn coverage<'l>(list: impl Fn(&str) -> Option<&'l str>, is_cut: bool) -> Coverage {
    let is_array = |list: &str| list.starts_with('[');
    let is_every_kind = list(ANY_KIND).is_some_and(is_array);
    let mut coverage = if is_every_kind {
        Coverage::of_others(KindState::Presumed)
    } else {
        Coverage::nothing()
    };
    for kind in &LISTS {
        let text = list(kind.field);
        if text.is_some_and(|text| !is_array(text) && text != "null") {
            let unreadable = KindCoverage::caused(KindState::Incomplete, LIST_UNREADABLE);
            coverage.set(kind.group, kind.kind, Scope::Cluster, unreadable);
        } else if is_every_kind || kind.is_in_all || text.is_some() {
            kind.set_complete(&mut coverage);
        }
    }
    if is_cut {
        coverage.leave_out(CUT);
    }
    coverage
}

/// The coverage of a header, limited by the faults of the status. `is_altered` is true if the status has
/// another number of items than its monitor wrote.
pub(super) fn limited<'l>(
    mut coverage: Coverage,
    list: impl Fn(&str) -> Option<&'l str>,
    is_cut: bool,
    is_altered: bool,
) -> Coverage {
    for kind in &LISTS {
        if list(kind.field).is_some_and(|text| !text.starts_with('[') && text != "null") {
            coverage.limit(kind.group, kind.kind, &LIST_UNREADABLE.into());
        }
    }
    if is_altered {
        coverage.leave_out(ALTERED);
    }
    if is_cut {
        coverage.leave_out(CUT);
    }
    coverage
}

impl List {
    fn set_complete(&self, coverage: &mut Coverage) {
        let complete = KindCoverage::new(KindState::Complete);
        coverage.set(self.group, self.kind, Scope::Cluster, complete);
    }
}

/// The coverage of a monitor that reports every Kind, for a status without `resourceStatuses`.
pub(crate) fn covering_every_kind(coverage: &Coverage, rejected: &[Rejected]) -> Coverage {
    let mut every = Coverage::of_others(KindState::Presumed);
    for list in &LISTS {
        let known = coverage.own(list.group, list.kind);
        match known.filter(|known| known.state == KindState::Incomplete) {
            Some(unreadable) => every.set(list.group, list.kind, Scope::Cluster, unreadable),
            None => list.set_complete(&mut every),
        }
    }
    let is_cut = |item: &Rejected| matches!(item.error, ObjectError::TooMany(_));
    if rejected.iter().any(is_cut) {
        every.leave_out(CUT);
    }
    every
}

/// The coverage of the objects of a monitor's report for relations.
///
/// It is more cautious than the coverage of the report, because a wrongly absent related object would change
/// the verdict on another object. So a list of any Kind covers only the Kinds of its objects (monitors watch
/// a configured set, and seldom ReplicaSets), and a Kind with an item that cannot be decoded is incomplete.
///
/// It covers only objects with the label of the app: a monitor does not report a Secret of another tool.
pub(crate) fn for_relations(
    coverage: &Coverage,
    objects: &ObjectList,
    rejected: &[Rejected],
) -> Coverage {
    let (unread, unknown): (Vec<_>, Vec<_>) = rejected
        .iter()
        .map(Rejected::gvk)
        .partition(Option::is_some);
    let unread: HashSet<Gvk> = unread.into_iter().flatten().collect();
    let is_unread = |group: &str, kind: &str| {
        let mut unread = unread.iter();
        !unknown.is_empty() || unread.any(|gvk| *gvk.group == *group && *gvk.kind == *kind)
    };
    let state = |group: &str, kind: &str| coverage.of(Some(group), kind, Scope::Cluster).state;
    let mut relations = Coverage::of_others(KindState::Presumed);
    for list in &LISTS {
        if state(list.group, list.kind) == KindState::Complete && !is_unread(list.group, list.kind)
        {
            list.set_complete(&mut relations);
        }
    }
    let seen: HashSet<(&str, &str)> = objects
        .into_iter()
        .map(|object| (&*object.gvk.group, &*object.gvk.kind))
        .collect();
    for (group, kind) in seen {
        let is_complete = state(group, kind).is_covered() && !is_unread(group, kind);
        let state = if is_complete {
            KindState::Complete
        } else {
            KindState::Incomplete
        };
        relations.set(group, kind, Scope::Cluster, KindCoverage::new(state));
    }
    relations
}

impl Rejected {
    /// The Kind of the object: by the content of the item, else by its list. `None` if it may be of any Kind.
    pub fn gvk(&self) -> Option<Gvk> {
        let own = self.identity.as_ref().map(|identity| identity.gvk.clone());
        let field = self.pointer.split('/').nth(2);
        let listed = || LISTS.iter().find(|list| Some(list.field) == field);
        own.or_else(|| listed().map(List::gvk))
    }
}

#[cfg(test)]
mod tests;
