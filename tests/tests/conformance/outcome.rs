//! How a verdict compares with what a case expects.

use kindsight_model::Phase;

use crate::cases::Case;
use crate::judging::Said;

/// How a verdict compares with what a case expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The state is among those that pass.
    Exact,
    /// We make no claim where the case expects one.
    NoClaim,
    /// We say that it works or has finished, and it should not: the worst answer there is.
    WrongGreen,
    /// We say that it is broken, and it should not.
    WrongRed,
    /// Anything else that should not be said, such as Pending of what is broken.
    Other,
}

impl Outcome {
    pub(crate) const ALL: [Self; 5] = [
        Self::Exact,
        Self::NoClaim,
        Self::WrongGreen,
        Self::WrongRed,
        Self::Other,
    ];

    /// What it is called in the report.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::NoClaim => "no claim",
            Self::WrongGreen => "wrong green",
            Self::WrongRed => "wrong red",
            Self::Other => "other",
        }
    }

    /// Compares. A case that expects no state is content with any.
    pub(crate) fn of(case: &Case, said: &Said) -> Self {
        let allows = |state: &str| case.allowed.iter().any(|allowed| allowed == state);
        let green_passes = allows("Ready") || allows("Succeeded");
        match said.phase {
            _ if case.allowed.is_empty() || allows(&said.state) => Self::Exact,
            Phase::Ready if !green_passes => Self::WrongGreen,
            Phase::Failed => Self::WrongRed,
            Phase::Present | Phase::Unknown => Self::NoClaim,
            _ => Self::Other,
        }
    }
}
