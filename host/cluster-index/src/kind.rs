//! Kinds that API servers serve.

use kindsight_model::Gvk;

/// A Kind whose objects can be listed and watched.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ApiKind {
    /// Its group, its version and its Kind.
    pub gvk: Gvk,
    /// Its name in paths, such as `deployments`.
    pub plural: String,
    /// True if its objects are in namespaces.
    pub is_namespaced: bool,
}

impl ApiKind {
    /// Its name in texts and in settings: `Kind` in the core group, else `Kind.group`.
    pub fn name(&self) -> String {
        match &*self.gvk.group {
            "" => self.gvk.kind.to_string(),
            group => format!("{}.{group}", self.gvk.kind),
        }
    }

    /// Returns whether both are versions of one Kind.
    pub fn is_same_kind(&self, other: &Self) -> bool {
        self.gvk.group == other.gvk.group && self.gvk.kind == other.gvk.kind
    }

    /// Its group, version and Kind.
    pub fn names(&self) -> (&str, &str, &str) {
        let Gvk {
            group,
            version,
            kind,
        } = &self.gvk;
        (group, version, kind)
    }
}
