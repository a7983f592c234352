//! Declarations of an interpreter about its states and reasons.

use std::sync::Arc;

/// The final states of an interpreter, and its reasons with an explanation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Declared {
    /// The states that an object does not leave by itself.
    pub final_states: Vec<Arc<str>>,
    /// The reasons with an explanation.
    pub reasons: Vec<DeclaredReason>,
}

/// A reason with its explanation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DeclaredReason {
    /// The word.
    pub name: Arc<str>,
    /// One sentence that explains the reason to users.
    pub summary: Arc<str>,
    /// A page with instructions for users.
    pub help_url: Option<Arc<str>>,
}

impl Declared {
    /// Returns whether an object does not leave this state by itself.
    pub fn is_final(&self, state: &str) -> bool {
        self.final_states.iter().any(|name| **name == *state)
    }

    /// The explanation of a reason; `None` if the interpreter does not explain it.
    pub fn reason(&self, name: &str) -> Option<&DeclaredReason> {
        self.reasons.iter().find(|reason| *reason.name == *name)
    }
}
