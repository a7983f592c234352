//! Waivers: cases whose expected state we knowingly do not give, each with its reason.

use toml::Table;

use crate::judging::Answer;
use crate::report::Report;

const FILE: &str = include_str!("waivers.toml");

/// Minimum number of words of a reason: it says what differs and why.
const REASON_WORDS_MIN: usize = 6;

/// One case whose expected state we knowingly do not give.
#[derive(Debug, Clone)]
struct Waiver {
    /// The file of cases, without `.jsonl`.
    file: String,
    id: String,
    /// The state we give; any other is not waived.
    says: String,
    reason: String,
}

/// All of them.
pub(crate) struct Waivers(Vec<Waiver>);

impl Waivers {
    /// Reads the list; every entry has the case, the state we give and the reason.
    pub(crate) fn read() -> Result<Self, String> {
        let table: Table = FILE
            .parse()
            .map_err(|error| format!("waivers.toml: {error}"))?;
        let entries = table.get("waiver").and_then(toml::Value::as_array);
        let waivers = entries.into_iter().flatten().map(|entry| {
            let text = |name: &str| match entry.get(name).and_then(toml::Value::as_str) {
                Some(text) if !text.is_empty() => Ok(text.to_owned()),
                _ => Err(format!(
                    "waivers.toml: an entry without `{name}`: {entry:?}"
                )),
            };
            let reason = text("reason")?;
            if reason.split_whitespace().count() < REASON_WORDS_MIN {
                let id = text("id")?;
                return Err(format!(
                    "waivers.toml: {id}: the reason `{reason}` is too short: say what differs and why, in {REASON_WORDS_MIN} words or more"
                ));
            }
            Ok(Waiver {
                file: text("file")?,
                id: text("id")?,
                says: text("says")?,
                reason,
            })
        });
        Ok(Self(waivers.collect::<Result<_, String>>()?))
    }

    /// Reason of the waiver for that answer to the case, if there is one.
    pub(crate) fn reason(&self, file: &str, id: &str, answer: &Answer) -> Option<&str> {
        let waiver = |waiver: &&Waiver| {
            waiver.file == file && waiver.id == id && waiver.says == answer.state
        };
        self.0
            .iter()
            .find(waiver)
            .map(|waiver| waiver.reason.as_str())
    }

    /// Waivers that no case needs any more, and duplicate waivers.
    pub(crate) fn problems(&self, reports: &[Report]) -> Vec<String> {
        let needed = |waiver: &Waiver| {
            let mut reports = reports.iter().filter(|report| report.file == waiver.file);
            reports.any(|report| report.waived.contains(&waiver.id))
        };
        let unneeded = self.0.iter().filter(|waiver| !needed(waiver));
        let unneeded = unneeded.map(|Waiver { file, id, says, .. }| {
            format!("{file}: the waiver for {id} is not needed: no such case is {says} and should not be")
        });
        let twice = self.0.iter().enumerate().filter(|(index, waiver)| {
            let earlier = &self.0[..*index];
            earlier
                .iter()
                .any(|other| other.file == waiver.file && other.id == waiver.id)
        });
        let twice =
            twice.map(|(_, waiver)| format!("{}: {} is waived twice", waiver.file, waiver.id));
        unneeded.chain(twice).collect()
    }
}
