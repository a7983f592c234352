//! Declarations of an interpreter on the words it answers with.

use std::sync::Arc;

/// The states and reasons of an interpreter of which it declares more than the word.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Declared {
    /// The states that an object does not leave by itself.
    pub final_states: Vec<Arc<str>>,
    /// The reasons it explains.
    pub reasons: Vec<DeclaredReason>,
}

/// A reason with its explanation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DeclaredReason {
    /// The word.
    pub name: Arc<str>,
    /// One sentence for people who meet it.
    pub summary: Arc<str>,
    /// Page that says what to do about it.
    pub help_url: Option<Arc<str>>,
}

impl Declared {
    /// Returns whether an object does not leave this state by itself.
    pub fn is_final(&self, state: &str) -> bool {
        self.final_states.iter().any(|name| **name == *state)
    }

    /// The explanation of a reason, where it has one.
    pub fn reason(&self, name: &str) -> Option<&DeclaredReason> {
        self.reasons.iter().find(|reason| *reason.name == *name)
    }
}
