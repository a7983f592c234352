//! The states that the statuses of scripts mean.

use kindsight_sdk::prelude::*;

use crate::MISSING;

/// The result of a script about an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Healthy,
    Progressing,
    Degraded,
    Suspended,
    Missing,
    Unknown,
    /// Karmada: not healthy.
    Unhealthy,
    /// The script assesses no health.
    None,
    /// A word that Argo CD does not know.
    Invalid,
}

/// Each status with its name in the settings and the state that it means without settings. Degraded
/// of Argo CD means that the object does not work, which is Failed here.
const STATUSES: [(Status, &str, State); 8] = [
    (Status::Healthy, "Healthy", READY),
    (Status::Progressing, "Progressing", PENDING),
    (Status::Degraded, "Degraded", FAILED),
    (Status::Suspended, "Suspended", SUSPENDED),
    (Status::Missing, "Missing", MISSING),
    (Status::Unknown, "Unknown", UNKNOWN),
    (Status::Unhealthy, "Unhealthy", PENDING),
    (Status::None, "None", PRESENT),
];

/// The schema of the settings: for each status, another state.
pub(crate) const SCHEMA: &str = r##"{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "states": {
      "description": "The states that the statuses of scripts mean. `Unhealthy` is the result false of Karmada, and `None` is the result nil of Argo CD. Default: Healthy is Ready, Progressing is Pending, Degraded is Failed, Suspended is Suspended, Missing is Missing, Unknown is Unknown, Unhealthy is Pending, None is Present.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "Healthy": {"$ref": "#/$defs/state"},
        "Progressing": {"$ref": "#/$defs/state"},
        "Degraded": {"$ref": "#/$defs/state"},
        "Suspended": {"$ref": "#/$defs/state"},
        "Missing": {"$ref": "#/$defs/state"},
        "Unknown": {"$ref": "#/$defs/state"},
        "Unhealthy": {"$ref": "#/$defs/state"},
        "None": {"$ref": "#/$defs/state"}
      }
    }
  },
  "$defs": {
    "state": {"enum": ["Ready", "Succeeded", "Present", "Degraded", "Pending", "Suspended", "Failed", "Missing", "Unknown"]}
  }
}"##;

impl Status {
    /// The status of a word of Argo CD.
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        let statuses = STATUSES
            .iter()
            .filter(|(status, ..)| !matches!(status, Self::Unhealthy | Self::None));
        let mut statuses = statuses.filter(|(_, name, _)| *name == word);
        statuses.next().map(|(status, ..)| *status)
    }

    /// The status of a decision of Karmada.
    pub(crate) fn of_decision(is_healthy: bool) -> Self {
        if is_healthy {
            Self::Healthy
        } else {
            Self::Unhealthy
        }
    }

    /// The reason of a verdict with this status.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::None => "NoHealth",
            Self::Invalid => "InvalidStatus",
            other => entry(other).map_or("Unknown", |(name, _)| name),
        }
    }
}

fn entry(status: Status) -> Option<(&'static str, State)> {
    let mut statuses = STATUSES.iter();
    let found = statuses.find(|(other, ..)| *other == status);
    found.map(|(_, name, state)| (*name, *state))
}

/// The state that a status means with these settings.
///
/// # Errors
/// [`Failure::InvalidSettings`] for a word that is not a state.
pub(crate) fn state(status: Status, settings: Node<'_>) -> Result<State, Failure> {
    let Some((name, default)) = entry(status) else {
        return Ok(UNKNOWN);
    };
    let Some(word) = settings.get("states").get(name).text() else {
        return Ok(default);
    };
    let mut known = ALL.iter().copied().chain([MISSING]);
    known.find(|state| *state == word).ok_or_else(|| {
        Failure::InvalidSettings(format!(
            "`states.{name}` is not a state: use Ready, Succeeded, Present, Degraded, Pending, Suspended, Failed, Missing or Unknown"
        ))
    })
}

#[cfg(test)]
mod tests {
    use kindsight_contract::Tree;

    use super::*;

    fn state_with(settings: &str, status: Status) -> Result<State, Failure> {
        let tree = Tree::read(settings).expect("JSON");
        let document = tree.document(settings);
        state(status, document.root())
    }

    #[test]
    fn a_setting_changes_the_state_of_a_status() {
        let settings = r#"{"states": {"Degraded": "Degraded", "None": "Missing"}}"#;
        assert_eq!(state_with("{}", Status::Degraded), Ok(FAILED));
        assert_eq!(state_with(settings, Status::Degraded), Ok(DEGRADED));
        assert_eq!(state_with(settings, Status::None), Ok(MISSING));
        assert_eq!(state_with(settings, Status::Healthy), Ok(READY));
        assert_eq!(state_with(settings, Status::Invalid), Ok(UNKNOWN));
        let wrong = state_with(r#"{"states": {"Healthy": "Fine"}}"#, Status::Healthy);
        assert!(
            matches!(wrong, Err(Failure::InvalidSettings(what)) if what.contains("`states.Healthy`"))
        );
    }

    #[test]
    fn the_schema_names_each_status_and_state() {
        for (_, name, state) in STATUSES {
            assert!(SCHEMA.contains(&format!("\"{name}\": {{")), "{name}");
            assert!(SCHEMA.contains(&format!("\"{state}\"")), "{state}");
        }
    }
}
