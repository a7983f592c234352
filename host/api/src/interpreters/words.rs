//! Closed sets of words about interpreters that only the wire format uses.

use kindsight_model::{Source, words};

words! {
    /// State of an interpreter: `live`; `disabled` by an operator; or `none`, if no version of it
    /// is live.
    InterpreterStatus {
        /// A version of it judges.
        Live = "live",
        /// The interpreter is not part of the published set, regardless of its versions.
        Disabled = "disabled",
        /// The interpreter has no live version.
        None = "none",
    }
}

words! {
    /// The origin of a change: one of the sources of components, or the host itself.
    ChangedBy {
        /// The catalogue beside the binary.
        Catalogue = "catalogue",
        /// The binary.
        BuiltIn = "built-in",
        /// The followed ConfigMap of Argo CD.
        ConfigMap = "config-map",
        /// The registry, or a folder in OCI layout.
        Registry = "registry",
        /// The watched directory.
        Directory = "directory",
        /// The API.
        Upload = "upload",
        /// The host itself, for example its circuit breaker.
        Host = "host",
    }
}

words! {
    /// State of an interpreter after a command: `live`; `candidate`, which is accepted but not
    /// live; `disabled`; `unchanged`, if the command had no effect; or `none`, if no version of it
    /// is live.
    OutcomeStatus {
        /// A version of it judges.
        Live = "live",
        /// A component was accepted, and can be promoted.
        Candidate = "candidate",
        /// The interpreter is not part of the published set.
        Disabled = "disabled",
        /// The command had no effect, because the state was already as requested.
        Unchanged = "unchanged",
        /// The interpreter has no live version.
        None = "none",
    }
}

impl From<Option<Source>> for ChangedBy {
    fn from(source: Option<Source>) -> Self {
        match source {
            None => Self::Host,
            Some(Source::Catalogue) => Self::Catalogue,
            Some(Source::BuiltIn) => Self::BuiltIn,
            Some(Source::ConfigMap) => Self::ConfigMap,
            Some(Source::Registry) => Self::Registry,
            Some(Source::Directory) => Self::Directory,
            Some(Source::Upload) => Self::Upload,
        }
    }
}
