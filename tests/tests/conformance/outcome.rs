//! Comparison of a verdict with the state a case expects.

use kindsight_model::Phase;

use crate::cases::Case;
use crate::judging::Answer;

/// Result of comparing a verdict with the state a case expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The state is one of the accepted states.
    Exact,
    /// Present or Unknown where the case expects another state.
    NoClaim,
    /// Ready or Succeeded, but neither is accepted: the worst possible answer.
    WrongGreen,
    /// Failed, but it is not accepted.
    WrongRed,
    /// Any other wrong state, such as Pending for a broken object.
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

    /// Name in the report.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::NoClaim => "no claim",
            Self::WrongGreen => "wrong green",
            Self::WrongRed => "wrong red",
            Self::Other => "other",
        }
    }

    /// Compares. A case that expects no state passes with any.
    pub(crate) fn of(case: &Case, answer: &Answer) -> Self {
        let allows = |state: &str| case.allowed.iter().any(|allowed| allowed == state);
        let green_passes = allows("Ready") || allows("Succeeded");
        match answer.phase {
            _ if case.allowed.is_empty() || allows(&answer.state) => Self::Exact,
            Phase::Ready if !green_passes => Self::WrongGreen,
            Phase::Failed => Self::WrongRed,
            Phase::Present | Phase::Unknown => Self::NoClaim,
            _ => Self::Other,
        }
    }
}
