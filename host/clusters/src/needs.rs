//! What a source of a cluster has to know of the rest of the host.

use crate::Identities;

/// What a source of a cluster has to know of the rest of the host.
#[derive(Debug, Clone, Default)]
pub struct Needs {
    /// The names of each cluster, shared by all sources.
    pub identities: Identities,
}
