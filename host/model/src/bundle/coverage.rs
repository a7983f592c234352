//! Coverage of a bundle: the Kinds on which its reporter reports.

use std::sync::Arc;

use super::WatchedKinds;
use crate::Gvk;

/// One list of one Kind in a bundle.
pub(super) struct List {
    pub(super) field: &'static str,
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    /// True if a reporter covers the Kind also where the list is left out, as empty ones are on the wire.
    /// Other lists are covered where they are there: later monitors have none of them.
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

    /// The Kind of its items. An item's own `apiVersion` and `kind` override it; monitors leave them out
    /// of items that they got from a list.
    pub(super) fn gvk(&self) -> Gvk {
        Gvk::new(self.group, self.version, self.kind)
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

/// Kinds on which a report says what there is: of these, an object that is not in it is not there.
///
/// An original monitor reports on the Kinds of its ten lists, and later ones in `resourceStatuses` on any
/// Kind. Empty lists are left out on the wire, so a reporter that ever sent `resourceStatuses` covers
/// every Kind; see [`Bundle::cover_every_kind`](super::Bundle::cover_every_kind).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    is_every_kind: bool,
    is_cut: bool,
    /// Group and Kind of lists that are not an array.
    unreadable: Arc<[(&'static str, &'static str)]>,
    /// Group and Kind of lists that are left out and not in every monitor.
    left_out: Arc<[(&'static str, &'static str)]>,
    /// The Kinds that are watched, where no monitor reports; none of a bundle.
    watched: Option<Arc<WatchedKinds>>,
}

/// The coverage of one Kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Covered {
    /// An object of it that is not in the report is not there.
    Yes,
    /// The reporter does not report on it.
    NotReported,
    /// The list that it belongs to cannot be read.
    Unreadable,
    /// The report has more items than are read.
    Cut,
}

impl Default for Coverage {
    /// Every Kind.
    fn default() -> Self {
        Self {
            is_every_kind: true,
            is_cut: false,
            unreadable: Arc::default(),
            left_out: Arc::default(),
            watched: None,
        }
    }
}

impl Coverage {
    /// The coverage of a status with these lists, as JSON texts.
    pub(super) fn of<'l>(
        list: impl Fn(&str) -> Option<&'l str>,
        any_kind: Option<&str>,
        is_cut: bool,
    ) -> Self {
        let is_array = |list: &str| list.starts_with('[');
        let is_bad = |it: &&List| list(it.field).is_some_and(|it| !is_array(it) && it != "null");
        let is_left_out = |it: &&List| !it.is_in_all && list(it.field).is_none();
        let kind = |it: &'static List| (it.group, it.kind);
        Self {
            is_every_kind: any_kind.is_some_and(is_array),
            is_cut,
            unreadable: LISTS.iter().filter(is_bad).map(kind).collect(),
            left_out: LISTS.iter().filter(is_left_out).map(kind).collect(),
            watched: None,
        }
    }

    /// The coverage of objects that were seen in the cluster itself.
    pub fn watched(kinds: Arc<WatchedKinds>) -> Self {
        Self {
            is_every_kind: false,
            is_cut: kinds.is_cut,
            watched: Some(kinds),
            ..Self::default()
        }
    }

    /// Returns whether it is one of objects that were seen in the cluster itself.
    pub(super) fn is_watched(&self) -> bool {
        self.watched.is_some()
    }

    /// Returns whether it says what there is in this namespace, of the Kinds that it covers.
    pub fn covers_namespace(&self, namespace: &str) -> bool {
        let watched = self.watched.as_deref();
        watched.is_none_or(|it| it.is_in_namespace(namespace))
    }

    /// Returns whether the reporter covers every Kind.
    pub fn is_every_kind(&self) -> bool {
        self.is_every_kind
    }

    pub(super) fn cover_every_kind(&mut self) {
        self.is_every_kind = true;
    }

    /// Returns whether bundles have a list of this Kind alone.
    pub(super) fn has_list(group: &str, kind: &str) -> bool {
        let is_it = |list: &List| list.kind == kind && is_served_by(group, list.group);
        LISTS.iter().any(is_it)
    }

    /// The coverage of a Kind; a group of `None` is not known.
    pub fn covers(&self, group: Option<&str>, kind: &str) -> Covered {
        let is_it = |list: &&(&str, &str)| {
            list.1 == kind && group.is_none_or(|group| is_served_by(group, list.0))
        };
        let is_listed = match &self.watched {
            Some(watched) => watched.has(group, kind),
            None => LISTS.iter().any(|list| is_it(&&(list.group, list.kind))),
        };
        if self.unreadable.iter().any(|it| is_it(&it)) {
            Covered::Unreadable
        } else if !(self.is_every_kind || is_listed && !self.left_out.iter().any(|it| is_it(&it))) {
            Covered::NotReported
        } else if self.is_cut {
            Covered::Cut
        } else {
            Covered::Yes
        }
    }
}

/// Returns whether a list of objects of group `listed` may hold those of `group`. Some Kinds were in
/// `extensions` once.
pub(super) fn is_served_by(group: &str, listed: &str) -> bool {
    group == listed || (group == "extensions" && matches!(listed, "apps" | "networking.k8s.io"))
}
