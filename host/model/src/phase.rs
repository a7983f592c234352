//! The closed half of a verdict: the words the host understands and rolls up.

crate::words! {
    /// The condition of a resource, in one of the words the host can count with. Best to worst, where the
    /// first two weigh the same: `ready`, `present`, `suspended`, `pending`, `terminating`,
    /// `not-present`, `failed`, `unknown`.
    ///
    /// Closed for the life of a contract major: interpreters map their own open states onto these.
    Phase {
        /// Works, or finished well.
        Ready = "ready",
        /// Is there, and nothing more can be said.
        Present = "present",
        /// Stopped on purpose.
        Suspended = "suspended",
        /// On its way.
        Pending = "pending",
        /// On its way out.
        Terminating = "terminating",
        /// Expected, and not in the cluster.
        NotPresent = "not-present",
        /// Will not get there without help.
        Failed = "failed",
        /// Nobody can say.
        Unknown = "unknown",
    }
}

impl Phase {
    /// The weight in a roll-up: 0 is best. Ready and Present weigh the same (design, section 1).
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
