//! Record of what is read of a document, for an author's tests.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::entry::NONE;

/// Record of the members that were asked for in one document.
///
/// Used by the test harness alone: outside of it no document has one.
#[derive(Debug, Default)]
pub struct Trace(RefCell<BTreeSet<Lookup>>);

/// One member that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Lookup {
    /// The node whose member it is.
    pub(crate) index: u32,
    /// Its name.
    pub(crate) key: String,
    /// True if it is there.
    pub(crate) is_found: bool,
}

impl Trace {
    #[cold]
    pub(crate) fn note(&self, index: u32, key: &str, found: u32) {
        let lookup = Lookup {
            index,
            key: key.to_owned(),
            is_found: found != NONE,
        };
        self.0.borrow_mut().insert(lookup);
    }

    /// The members that were asked for, by node and name.
    pub(crate) fn lookups(&self) -> Vec<Lookup> {
        self.0.borrow().iter().cloned().collect()
    }
}
