//! The closed half of a verdict: what the host understands and rolls up.

use serde::{Deserialize, Serialize};

/// How a thing fares, in the eight words the host can count with.
///
/// Closed for the life of a contract major: interpreters map their own open states onto these.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Default,
)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Works, or finished well.
    Ready,
    /// Is there, and nothing more can be said.
    Present,
    /// Stopped on purpose.
    Suspended,
    /// On its way.
    Pending,
    /// On its way out.
    Terminating,
    /// Expected, and not in the cluster.
    NotPresent,
    /// Will not get there without help.
    Failed,
    /// Nobody can say.
    #[default]
    Unknown,
}

impl Phase {
    /// All phases, best first: the order in which a roll-up prefers them.
    pub const ALL: [Self; 8] = [
        Self::Ready,
        Self::Present,
        Self::Suspended,
        Self::Pending,
        Self::Terminating,
        Self::NotPresent,
        Self::Failed,
        Self::Unknown,
    ];

    /// How bad this is for a whole: 0 is best. Ready and Present weigh the same (design, section 1).
    pub fn severity(self) -> u8 {
        match self {
            Self::Ready | Self::Present => 0,
            Self::Suspended => 1,
            Self::Pending => 2,
            Self::Terminating => 3,
            Self::NotPresent => 4,
            Self::Failed => 5,
            Self::Unknown => 6,
        }
    }

    /// The state's name when the host itself, or a roll-up, speaks in this phase.
    pub fn state(self) -> &'static str {
        match self {
            Self::Ready => "Ready",
            Self::Present => "Present",
            Self::Suspended => "Suspended",
            Self::Pending => "Pending",
            Self::Terminating => "Terminating",
            Self::NotPresent => "NotPresent",
            Self::Failed => "Failed",
            Self::Unknown => "Unknown",
        }
    }

    /// The word on the wire, kebab-case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Present => "present",
            Self::Suspended => "suspended",
            Self::Pending => "pending",
            Self::Terminating => "terminating",
            Self::NotPresent => "not-present",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_listed_from_best_to_worst() {
        let severities: Vec<u8> = Phase::ALL.iter().map(|phase| phase.severity()).collect();
        assert_eq!(severities, [0, 0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn the_wire_word_is_what_serde_writes() {
        for phase in Phase::ALL {
            assert_eq!(
                serde_json::to_string(&phase).unwrap(),
                format!("\"{}\"", phase.as_str())
            );
        }
    }
}
