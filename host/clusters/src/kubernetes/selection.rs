//! The objects that are asked for of a cluster of which the configuration wants those with some labels alone.
//!
//! What an object owns carries none of its owner's labels. So the server is asked for the labels where a Kind
//! is not known to have such children, and where nobody else needs objects without them.

use std::sync::Arc;

use kindsight_model::{LabelSelector, NamePattern};

use super::discovery::ApiKind;
use super::list::url_encoded;

/// Kinds of objects that controllers of Kubernetes make for others, as `Kind` in the core group or
/// `Kind.group`: watched without a selector, so that children are seen.
pub const CHILD_KINDS: [&str; 7] = [
    "ControllerRevision.apps",
    "EndpointSlice.discovery.k8s.io",
    "Job.batch",
    "PersistentVolumeClaim",
    "Pod",
    "ReplicaSet.apps",
    "ResourceClaim.resource.k8s.io",
];

/// The objects of a cluster that belong to applications by themselves, by their labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The labels of these objects; one without them is none of an application, unless one of an application
    /// owns it.
    pub selector: LabelSelector,
    /// Further Kinds of objects that others own, beside [`CHILD_KINDS`], by patterns of `Kind` or `Kind.group`.
    pub children: Arc<[NamePattern]>,
}

impl Selection {
    /// The part of a query that asks for the objects of a Kind that have the labels; empty where objects without
    /// them may belong to an application.
    pub(super) fn filter(&self, kind: &ApiKind) -> Arc<str> {
        let name = kind.name();
        let is_child = CHILD_KINDS.contains(&&*name)
            || self.children.iter().any(|pattern| pattern.matches(&name));
        if is_child || kind.is_bundle_state() || kind.is_of_kinds() {
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
    fn a_kind_is_asked_for_by_labels_unless_its_objects_may_be_children() {
        let filter = |children: &[&str], group: &str, kind: &str| {
            let children = children.iter().map(|it| it.parse().unwrap());
            let selection = Selection {
                selector: "team=web,tier in (a, b),!old".parse().unwrap(),
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
