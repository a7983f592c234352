//! Names of applications in the pipeline.

use std::fmt;

use kindsight_model::{ContextId, DigName};
use kindsight_status::{ContextView, ReadModel};

/// The name of one application.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Key {
    /// One that is recorded, as an `AppContext`.
    Context(ContextId),
    /// One that was found in the clusters, or that the configuration selects there.
    Found(DigName),
}

impl Key {
    /// The id of the context; none of an application that was found.
    pub(crate) fn context(&self) -> Option<&ContextId> {
        match self {
            Self::Context(id) => Some(id),
            Self::Found(_) => None,
        }
    }

    /// Publishes the view of the application, or removes it if `view` is none.
    pub(crate) fn publish(&self, read_model: &ReadModel, view: Option<ContextView>) {
        match self {
            Self::Context(id) => read_model.publish_context(id, view),
            Self::Found(name) => read_model.publish_found(name, view),
        }
    }

    /// Replaces the view by one that says the same and dates it better.
    pub(crate) fn refresh(&self, read_model: &ReadModel, view: ContextView) {
        match self {
            Self::Context(id) => read_model.refresh_context(id, view),
            Self::Found(name) => read_model.refresh_found(name, view),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Context(id) => f.write_str(id.as_str()),
            Self::Found(name) => name.fmt(f),
        }
    }
}
