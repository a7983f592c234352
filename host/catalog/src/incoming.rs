//! Incoming components.

use std::collections::BTreeSet;

use kindsight_model::{Digest, InterpreterName, Source};

use crate::declared::DeclaredSettings;

/// A component to admit.
#[derive(Debug, Clone)]
pub struct IncomingComponent {
    /// Its source: any but [`Source::BuiltIn`].
    pub source: Source,
    /// The name that the component must declare, or `None` for any name. The name of a file has no
    /// meaning.
    pub name: Option<InterpreterName>,
    /// The file in the watched directory, the reference to the artifact in a registry, or the name of
    /// the ConfigMap.
    pub file: Option<String>,
    /// Files of the same source that were removed. The component may replace the versions of one of
    /// them, as after a rename.
    pub gone: BTreeSet<String>,
    /// The settings that a file beside the component declares. They replace the settings of the
    /// name in the same change.
    pub settings: Option<DeclaredSettings>,
    /// The digest that the bytes must have.
    pub expected: Option<Digest>,
    /// True if the component only becomes a candidate.
    pub is_candidate: bool,
    /// True if the component may use the name of a built-in interpreter without judging all of its
    /// Kinds.
    pub replaces_built_in: bool,
    /// The bytes of the component.
    pub bytes: Vec<u8>,
}
