//! States of a Kind in one scope, and the conclusions drawn from them.

use std::sync::Arc;

use kindsight_contract::Coverage as RelationCoverage;

use crate::words;

words! {
    /// State of a Kind in one scope, from the most to the least known.
    KindState {
        /// Every object was listed.
        Complete = "complete",
        /// The monitor reports every Kind and has shown no object of this one. A monitor watches a configured
        /// set of Kinds, so related objects of the Kind may exist.
        Presumed = "presumed",
        /// Every object that a label selector selects was listed. An object that is not listed was deleted or
        /// has lost its label.
        Selected = "selected",
        /// The listed objects exist, and there may be others: an object limit was reached, or an item could not
        /// be decoded.
        Incomplete = "incomplete",
        /// The first list has not ended.
        Listing = "listing",
        /// The source does not request the Kind.
        NotRequested = "not-requested",
        /// The server does not allow lists of the Kind.
        NotListable = "not-listable",
        /// The server does not serve the Kind.
        Unserved = "unserved",
        /// The credentials do not allow lists of the Kind.
        Forbidden = "forbidden",
        /// The server cannot answer: its API group does not respond, or the list fails.
        Unavailable = "unavailable",
    }
}

/// Conclusion about an expected object that is not in the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    /// The object does not exist.
    Conclusive,
    /// The object does not exist or is outside the selector.
    Unselected,
    /// The object may exist although the Kind was listed.
    Inconclusive,
    /// The source has not answered yet: the last verdict remains.
    Awaited,
    /// The source cannot report the object.
    Unreported,
}

/// Use of an object that is in the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// The object is current: interpreters evaluate it.
    Current,
    /// The object may be out of date: its last verdict remains.
    Kept,
    /// The source cannot report the object any more.
    Unreported,
}

/// The state of a Kind in one scope, with its cause and its start.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KindCoverage {
    /// The state.
    pub state: KindState,
    /// Start of the state, in Unix milliseconds; none if the source does not know it.
    pub since_ms: Option<i64>,
    /// Cause of the state, as text for readers.
    pub cause: Option<Arc<str>>,
}

impl KindState {
    /// Returns whether the server's response determines the state: repeating the request now would not change
    /// it.
    pub fn is_answered(self) -> bool {
        match self {
            Self::Complete
            | Self::Presumed
            | Self::Selected
            | Self::Incomplete
            | Self::NotRequested
            | Self::NotListable
            | Self::Unserved
            | Self::Forbidden => true,
            Self::Listing | Self::Unavailable => false,
        }
    }

    /// Returns whether the report has every object that the source is configured to report.
    pub fn is_covered(self) -> bool {
        matches!(self, Self::Complete | Self::Presumed | Self::Selected)
    }

    /// Conclusion about an expected object that is not in the report.
    pub fn absence(self) -> Absence {
        match self {
            Self::Complete | Self::Presumed => Absence::Conclusive,
            Self::Selected => Absence::Unselected,
            Self::Incomplete => Absence::Inconclusive,
            Self::Listing | Self::Unserved | Self::Unavailable => Absence::Awaited,
            Self::NotRequested | Self::NotListable | Self::Forbidden => Absence::Unreported,
        }
    }

    /// Returns whether the report may lack objects that exist and that the source is configured to report. If so,
    /// an object that is not in the report was perhaps not deleted.
    pub fn may_lack_objects(self) -> bool {
        match self {
            Self::Incomplete
            | Self::Listing
            | Self::NotListable
            | Self::Forbidden
            | Self::Unavailable => true,
            // The server has no objects of a Kind that it does not serve.
            Self::Complete
            | Self::Presumed
            | Self::Selected
            | Self::NotRequested
            | Self::Unserved => false,
        }
    }

    /// Use of an object that is in the report.
    pub fn presence(self) -> Presence {
        match self {
            Self::Complete
            | Self::Presumed
            | Self::Selected
            | Self::Incomplete
            | Self::Listing
            | Self::NotRequested => Presence::Current,
            Self::Unserved | Self::Unavailable => Presence::Kept,
            Self::NotListable | Self::Forbidden => Presence::Unreported,
        }
    }

    /// Coverage of related objects of the Kind, as interpreters receive it.
    pub fn for_relations(self) -> RelationCoverage {
        match self {
            Self::Complete => RelationCoverage::Complete,
            Self::Selected | Self::Incomplete | Self::Listing => RelationCoverage::Partial,
            Self::Presumed
            | Self::NotRequested
            | Self::NotListable
            | Self::Unserved
            | Self::Forbidden
            | Self::Unavailable => RelationCoverage::Unknown,
        }
    }

    /// The state as text for readers, where the source gives no cause.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Complete => "every object was listed",
            Self::Presumed => "the monitor has reported no object of it",
            Self::Selected => "the objects that the selector selects were listed",
            Self::Incomplete => "not every object is known",
            Self::Listing => "its objects are being listed",
            Self::NotRequested => "it is not watched",
            Self::NotListable => "the server does not allow lists of it",
            Self::Unserved => "the server does not serve it",
            Self::Forbidden => "the credentials do not allow it",
            Self::Unavailable => "the server does not answer",
        }
    }
}

impl KindCoverage {
    /// A state without a further cause.
    pub fn new(state: KindState) -> Self {
        Self {
            state,
            since_ms: None,
            cause: None,
        }
    }

    /// A state with its cause.
    pub fn caused(state: KindState, cause: impl Into<Arc<str>>) -> Self {
        Self {
            cause: Some(cause.into()),
            ..Self::new(state)
        }
    }

    /// The cause as text for readers; the state's own text if the source gives none.
    pub fn cause(&self) -> &str {
        self.cause
            .as_deref()
            .unwrap_or_else(|| self.state.summary())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table with one row for each state")]
    fn each_state_has_one_conclusion_for_absence_presence_and_relations() {
        use Absence::{Awaited, Conclusive, Inconclusive, Unreported, Unselected};
        use RelationCoverage::{Complete, Partial, Unknown};
        let table = [
            (
                KindState::Complete,
                true,
                Conclusive,
                Presence::Current,
                Complete,
            ),
            (
                KindState::Presumed,
                true,
                Conclusive,
                Presence::Current,
                Unknown,
            ),
            (
                KindState::Selected,
                true,
                Unselected,
                Presence::Current,
                Partial,
            ),
            (
                KindState::Incomplete,
                true,
                Inconclusive,
                Presence::Current,
                Partial,
            ),
            (
                KindState::Listing,
                false,
                Awaited,
                Presence::Current,
                Partial,
            ),
            (
                KindState::NotRequested,
                true,
                Unreported,
                Presence::Current,
                Unknown,
            ),
            (
                KindState::NotListable,
                true,
                Unreported,
                Presence::Unreported,
                Unknown,
            ),
            (KindState::Unserved, true, Awaited, Presence::Kept, Unknown),
            (
                KindState::Forbidden,
                true,
                Unreported,
                Presence::Unreported,
                Unknown,
            ),
            (
                KindState::Unavailable,
                false,
                Awaited,
                Presence::Kept,
                Unknown,
            ),
        ];
        assert_eq!(table.map(|row| row.0), KindState::ALL);
        for (state, is_answered, absence, presence, relations) in table {
            assert_eq!(state.is_answered(), is_answered, "{state}");
            assert_eq!(state.absence(), absence, "{state}");
            assert_eq!(state.presence(), presence, "{state}");
            assert_eq!(state.for_relations(), relations, "{state}");
        }
    }
}
