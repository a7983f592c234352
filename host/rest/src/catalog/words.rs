//! The closed sets of words in what is said of interpreters.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An enum of which each case is one word on the wire, in tables and in logs.
macro_rules! words {
    (
        $(#[$about:meta])*
        $name:ident { $($(#[$meaning:meta])* $case:ident = $word:tt,)+ }
    ) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
        $(#[$about])*
        pub enum $name {
            $($(#[$meaning])* #[serde(rename = $word)] $case,)+
        }

        impl $name {
            /// The word.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$case => $word,)+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

words! {
    /// Where an interpreter stands: `live`; `disabled`, left out by hand; `none`, no version of it is
    /// live.
    InterpreterStatus {
        /// A version of it judges.
        Live = "live",
        /// Left out of what is published, in every slot.
        Disabled = "disabled",
        /// No slot has a live version.
        None = "none",
    }
}

words! {
    /// Where a component came from, lowest first: a later one overrides an earlier one of the same
    /// name.
    Source {
        /// Part of the binary.
        BuiltIn = "built-in",
        /// The watched directory.
        Directory = "directory",
        /// The API.
        Upload = "upload",
    }
}

words! {
    /// Who or what changed an interpreter: one of the sources, or the host by itself.
    ChangedBy {
        /// Part of the binary.
        BuiltIn = "built-in",
        /// The watched directory.
        Directory = "directory",
        /// The API.
        Upload = "upload",
        /// The host by itself, as its breaker does.
        Host = "host",
    }
}

words! {
    /// What became of a version: `live`; `candidate`, accepted and waiting to be promoted;
    /// `previous`, live before; `bad`, gone back from, and not taken from the directory again;
    /// `refused` by a step of the pipeline.
    VersionOutcome {
        /// It judges, or would if no higher source overrode it.
        Live = "live",
        /// Accepted, and waiting to be promoted.
        Candidate = "candidate",
        /// It was live before.
        Previous = "previous",
        /// Gone back from, by hand or by the breaker.
        Bad = "bad",
        /// A step of the pipeline refused it.
        Refused = "refused",
    }
}

words! {
    /// What was done to an interpreter.
    #[schema(as = CatalogAction)]
    Action {
        /// A component came.
        Load = "load",
        /// The candidate went live.
        Promote = "promote",
        /// Back to the previous version.
        Rollback = "rollback",
        /// Left out of what is published.
        Disable = "disable",
        /// Taken in again.
        Enable = "enable",
        /// Its settings changed.
        Settings = "settings",
        /// A slot was emptied.
        Remove = "remove",
        /// The breaker went back, because of too many faults.
        Breaker = "breaker",
        /// A component was refused.
        Refuse = "refuse",
    }
}

words! {
    /// Where an interpreter stands after a command: `live`; `candidate`, accepted and not live;
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
        /// No slot has a live version.
        None = "none",
    }
}
