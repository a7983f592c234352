//! The requested objects of a cluster, if the configuration selects objects by labels.
//!
//! An owned object may lack the labels of its owner. Therefore, the labels are part of the request only for Kinds
//! without such children, and only if no other feature needs objects without the labels.

use std::sync::Arc;

use kindsight_cluster_index::ApiKind;
use kindsight_model::{LabelSelector, NamePattern};

use super::bundle_states;
use super::discovery::is_of_kinds;
use super::list::url_encoded;

/// Kinds of objects that controllers of Kubernetes create for other objects, as `Kind` in the core group or
/// `Kind.group`. They are watched without a selector, so that children are included.
pub const CHILD_KINDS: [&str; 7] = [
    "ControllerRevision.apps",
    "EndpointSlice.discovery.k8s.io",
    "Job.batch",
    "PersistentVolumeClaim",
    "Pod",
    "ReplicaSet.apps",
    "ResourceClaim.resource.k8s.io",
];

/// The objects of a cluster that may name an application themselves, selected by their labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The labels of these objects. An object without them belongs to an application only if an object of the
    /// application owns it.
    pub selector: LabelSelector,
    /// Further Kinds of owned objects, in addition to [`CHILD_KINDS`], by patterns of `Kind` or `Kind.group`.
    pub children: Arc<[NamePattern]>,
}

impl Selection {
    /// The part of a query that requests the objects of a Kind with the labels; empty if objects without the labels
    /// may belong to an application.
    pub(super) fn filter(&self, kind: &ApiKind) -> Arc<str> {
        let name = kind.name();
        let is_child = CHILD_KINDS.contains(&&*name)
            || self.children.iter().any(|pattern| pattern.matches(&name));
        if is_child || bundle_states::are(kind) || is_of_kinds(kind) {
            return Arc::default();
        }
        let selector = url_encoded(&self.selector.to_string());
        format!("&labelSelector={selector}").into()
    }
}

#[cfg(test)]
mod tests {
    use kindsight_model::Gvk;

    use super::*;

    #[test]
    fn a_kind_is_requested_by_labels_unless_its_objects_may_be_children() {
        let filter = |children: &[&str], group: &str, kind: &str| {
            let children = children.iter().map(|child| child.parse().unwrap());
            let selection = Selection {
                selector: kindsight_model::parse_selector("team=web,tier in (a, b),!old").unwrap(),
                children: children.collect(),
            };
            let kind = ApiKind {
                gvk: Gvk::new(group, "v1", kind),
                plural: String::new(),
                is_namespaced: true,
            };
            selection.filter(&kind).to_string()
        };
        let cut = "&labelSelector=team%3Dweb%2Ctier%20in%20%28a%2Cb%29%2C%21old";
        assert_eq!(filter(&[], "apps", "Deployment"), cut);
        assert_eq!(filter(&[], "apps", "ReplicaSet"), "");
        assert_eq!(filter(&[], "", "Pod"), "");
        assert_eq!(filter(&[], "metrics.k8s.io", "Pod"), cut);
        assert_eq!(filter(&[], "k8splugin.io", "ResourceBundleState"), "");
        let definition = "CustomResourceDefinition";
        assert_eq!(filter(&[], "apiextensions.k8s.io", definition), "");
        let certificates = &["*.cert-manager.io"][..];
        assert_eq!(filter(certificates, "cert-manager.io", "Order"), "");
        assert_eq!(filter(certificates, "example.org", "Order"), cut);
        assert_eq!(filter(&["*"], "", "ConfigMap"), "");
    }
}
