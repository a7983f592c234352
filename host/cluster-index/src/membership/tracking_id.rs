//! The annotation by which Argo CD tracks the objects of its Applications.
//!
//! Argo CD's own rule (`isSelfReferencedObj` of its controller) decides whether an object is the tracked object.

use kindsight_model::{Gvk, is_served_by};

use super::Named;

/// A tracking id, `[<namespace>_]<application>:<group>/<Kind>:<namespace>/<name>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TrackingId<'t> {
    /// The Application, with its namespace if it is not in the namespace of Argo CD.
    pub(super) application: &'t str,
    group: &'t str,
    kind: &'t str,
    namespace: &'t str,
    name: &'t str,
}

impl<'t> TrackingId<'t> {
    /// The annotation with the tracking id.
    pub(super) const ANNOTATION: &'static str = "argocd.argoproj.io/tracking-id";

    /// None if the text is no tracking id.
    pub(super) fn read(text: &'t str) -> Option<Self> {
        let (application, object) = text.split_once(':')?;
        // Names of RBAC objects may have colons.
        let (kind, object) = object.split_once(':')?;
        let (group, kind) = kind.split_once('/')?;
        let (namespace, name) = object.split_once('/')?;
        Some(Self {
            application,
            group,
            kind,
            namespace,
            name,
        })
    }

    /// Returns whether the tracked object is this one. For a cluster-scoped object, Argo CD writes the namespace of
    /// the Application's destination.
    pub(super) fn names(&self, gvk: &Gvk, namespace: &str, name: &str) -> bool {
        is_served_by(self.group, &gvk.group)
            && *self.kind == *gvk.kind
            && (namespace.is_empty() || self.namespace == namespace)
            && self.name == name
    }

    /// The application of a name with an optional namespace. An underscore is in no name of an Application, so the
    /// underscore ends the namespace.
    pub(super) fn application_of(name: &str, mark: &'static str) -> Option<Named> {
        match name.split_once('_') {
            Some((namespace, name)) => Named::of(name, Some(namespace), mark),
            None => Named::of(name, None, mark),
        }
    }
}
