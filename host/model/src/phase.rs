//! Phases: the closed part of a verdict, which the host rolls up.

crate::words! {
    /// Condition of a resource, from a closed set that the host rolls up. From best to worst (the first two
    /// have the same severity): `ready`, `present`, `suspended`, `degraded`, `pending`, `terminating`,
    /// `not-present`, `failed`, `unknown`.
    ///
    /// The set does not change within a major version of the contract: interpreters map their own states to
    /// these phases.
    Phase {
        /// Works, or finished successfully.
        Ready = "ready",
        /// Exists; its Kind reports no status.
        Present = "present",
        /// Stopped on purpose.
        Suspended = "suspended",
        /// Works, with a problem that does not stop it.
        Degraded = "degraded",
        /// Not ready yet.
        Pending = "pending",
        /// Being deleted.
        Terminating = "terminating",
        /// Expected, but not in the cluster.
        NotPresent = "not-present",
        /// Will not become ready without intervention.
        Failed = "failed",
        /// Not known.
        Unknown = "unknown",
    }
}

impl From<kindsight_contract::Phase> for Phase {
    fn from(phase: kindsight_contract::Phase) -> Self {
        use kindsight_contract::Phase as Declared;
        match phase {
            Declared::Ready => Self::Ready,
            Declared::Present => Self::Present,
            Declared::Suspended => Self::Suspended,
            Declared::Degraded => Self::Degraded,
            Declared::Pending => Self::Pending,
            Declared::Terminating => Self::Terminating,
            Declared::NotPresent => Self::NotPresent,
            Declared::Failed => Self::Failed,
            Declared::Unknown => Self::Unknown,
        }
    }
}

impl Phase {
    /// Severity in a roll-up: 0 is best. Ready and Present have the same (design, section 1).
    pub fn severity(self) -> u8 {
        match self {
            Self::Ready | Self::Present => 0,
            Self::Suspended => 1,
            Self::Degraded => 2,
            Self::Pending => 3,
            Self::Terminating => 4,
            Self::NotPresent => 5,
            Self::Failed => 6,
            Self::Unknown => 7,
        }
    }

    /// The state of this phase in a roll-up and in the host's own verdicts.
    pub fn state(self) -> &'static str {
        match self {
            Self::Ready => "Ready",
            Self::Present => "Present",
            Self::Suspended => "Suspended",
            Self::Degraded => "Degraded",
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
        assert_eq!(severities, [0, 0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn the_contract_has_the_same_phases() {
        let declared = kindsight_contract::Phase::ALL.iter();
        let words: Vec<(Phase, &str)> = declared
            .map(|phase| (Phase::from(*phase), phase.as_str()))
            .collect();
        let own: Vec<(Phase, &str)> = Phase::ALL
            .iter()
            .map(|phase| (*phase, phase.as_str()))
            .collect();
        assert_eq!(words, own);
    }

    #[test]
    fn serde_writes_the_wire_word() {
        for phase in Phase::ALL {
            assert_eq!(
                serde_json::to_string(&phase).unwrap(),
                format!("\"{}\"", phase.as_str())
            );
        }
    }
}
