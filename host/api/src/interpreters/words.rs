//! Closed sets of words about interpreters that only the wire has.

use kindsight_model::{Source, words};

words! {
    /// State of an interpreter: `live`; `disabled`, left out by hand; `none`, no version of it is
    /// live.
    InterpreterStatus {
        /// A version of it judges.
        Live = "live",
        /// Left out of what is published, whatever its versions.
        Disabled = "disabled",
        /// It has no live version.
        None = "none",
    }
}

words! {
    /// The author of a change: one of the sources of components, or the host by itself.
    ChangedBy {
        /// The binary.
        BuiltIn = "built-in",
        /// The watched directory.
        Directory = "directory",
        /// The API.
        Upload = "upload",
        /// The host by itself, such as its circuit breaker.
        Host = "host",
    }
}

words! {
    /// State of an interpreter after a command: `live`; `candidate`, accepted and not live;
    /// `disabled`; `unchanged`, it was so already; `none`, no version of it is live.
    OutcomeStatus {
        /// A version of it judges.
        Live = "live",
        /// Accepted, and waiting to be promoted.
        Candidate = "candidate",
        /// Left out of what is published.
        Disabled = "disabled",
        /// It was so already.
        Unchanged = "unchanged",
        /// It has no live version.
        None = "none",
    }
}

impl From<Option<Source>> for ChangedBy {
    fn from(source: Option<Source>) -> Self {
        match source {
            None => Self::Host,
            Some(Source::BuiltIn) => Self::BuiltIn,
            Some(Source::Directory) => Self::Directory,
            Some(Source::Upload) => Self::Upload,
        }
    }
}
