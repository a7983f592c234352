//! The interface to the health of scopes.

use kindsight_api::health_scopes::{ScopeParameters, ScopeRefusal};
use kindsight_model::SubjectSet;

/// The health scopes of all clusters. The server passes an implementation in [`AppState`](crate::AppState).
pub trait ReadHealthScopes: Send + Sync {
    /// The health of a scope in one word. Must be quick.
    ///
    /// # Errors
    /// See [`ScopeRefusal`].
    fn health(
        &self,
        name: &str,
        parameters: &ScopeParameters,
        visible: &SubjectSet,
    ) -> Result<&'static str, ScopeRefusal>;
}
