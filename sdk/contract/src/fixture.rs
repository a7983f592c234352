//! Fixtures: objects with the verdicts that an author promises. The host checks them before a
//! component goes live.
//!
//! Fixtures are a JSON document, a list, which can grow like a description: unknown members are
//! ignored with a warning. The schema is `wit/fixtures.schema.json`.

mod raw;

#[cfg(test)]
mod tests;

use serde_json::value::RawValue;

use crate::limits::{FIXTURE_NAME_BYTES_MAX, FIXTURES_BYTES_MAX, FIXTURES_MAX, RELATED_MAX};
use crate::phase::Phase;
use crate::reading::{Report, cut};
use crate::words::words;
use raw::RawMembers;

/// One example: an object and the promised verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixture {
    /// The name of the example, unique in the component.
    pub name: String,
    /// The complete object as JSON text.
    pub object: String,
    /// The other objects of its cluster, each complete, as JSON text. The host searches the related
    /// objects among them in the same way as in a report.
    pub related: Vec<String>,
    /// Coverage of the related objects.
    pub coverage: Coverage,
    /// The time of the call, in Unix milliseconds, 0 if it is not given.
    pub now_ms: i64,
    /// Settings, the text of a JSON object.
    pub settings: Option<String>,
    /// The promised result.
    pub expect: Expectation,
}

words! {
    /// Coverage of a set of related objects.
    Coverage {
        /// All related objects are in the set. An empty set means that there are none.
        Complete = "complete",
        /// Only some of the related objects are in the set.
        Partial = "partial",
        /// No source reports objects of that Kind.
        Unknown = "unknown",
    }
}

words! {
    /// A failure that a fixture may promise instead of a verdict.
    ExpectedFailure {
        /// The interpreter does not judge the object.
        Unsupported = "unsupported",
        /// The object is not valid for its Kind.
        InvalidObject = "invalid-object",
        /// The settings cannot be used.
        InvalidSettings = "invalid-settings",
    }
}

/// The promised verdict, as far as it is given. The message is for users and is not compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expectation {
    /// The state.
    pub state: Option<String>,
    /// The reason.
    pub reason: Option<String>,
    /// The phase of the state.
    pub phase: Option<Phase>,
    /// The start time of the state, in Unix milliseconds.
    pub since_ms: Option<i64>,
    /// The time to check again, in Unix milliseconds.
    pub recheck_at_ms: Option<i64>,
    /// The failure that is expected instead of a verdict.
    pub failure: Option<ExpectedFailure>,
}

const MEMBERS: [&str; 7] = [
    "name", "object", "related", "coverage", "now", "settings", "expect",
];
const EXPECT_MEMBERS: [&str; 6] = ["state", "reason", "phase", "since", "recheck", "failure"];

impl Fixture {
    /// Parses and checks the answer of `fixtures`. The second list in the result contains warnings.
    ///
    /// # Errors
    /// The problems, each with its place (`[2].expect.state`), for the author; at most 16.
    pub fn parse_all(json: &str) -> Result<(Vec<Self>, Vec<String>), Vec<String>> {
        if json.len() > FIXTURES_BYTES_MAX {
            return Err(vec![format!(
                "{} bytes are over the limit of {FIXTURES_BYTES_MAX}",
                json.len()
            )]);
        }
        let list: &RawValue = serde_json::from_str(json)
            .map_err(|error| vec![format!("not JSON: {}", cut(&error.to_string()))])?;
        let mut report = Report::default();
        let mut fixtures: Vec<Self> = Vec::new();
        for (place, item) in raw::list(list, "", FIXTURES_MAX, &mut report) {
            let Some(fixture) = Self::read(item, &place, &mut report) else {
                continue;
            };
            if fixtures.iter().any(|earlier| earlier.name == fixture.name) {
                let what = format!("the name `{}` is used twice", cut(&fixture.name));
                report.problem(&format!("{place}.name"), &what);
            }
            fixtures.push(fixture);
        }
        if report.problems.is_empty() {
            Ok((fixtures, report.warnings))
        } else {
            Err(report.problems)
        }
    }

    fn read(item: &RawValue, place: &str, report: &mut Report) -> Option<Self> {
        let members = RawMembers::of(item, place, &MEMBERS, report)?;
        let name = members.required("name", report);
        let name = name.and_then(|name| name.text(report));
        if let Some(name) = &name
            && !(1..=FIXTURE_NAME_BYTES_MAX).contains(&name.len())
        {
            let what = format!("a name has 1 to {FIXTURE_NAME_BYTES_MAX} bytes");
            report.problem(&members.at("name"), &what);
        }
        let object = members.required("object", report);
        let object = object.and_then(|object| object.object(report));
        let related = members.get("related");
        let has_related = related.is_some();
        let related = related.map(|raw| raw::list(raw.value, &raw.place, RELATED_MAX, report));
        let related = related.unwrap_or_default().into_iter();
        let related = related.filter_map(|(place, value)| raw::object(value, &place, report));
        let related = related.collect();
        let coverage = members.get("coverage");
        let coverage = coverage.and_then(|raw| raw.word(Coverage::of, &Coverage::words(), report));
        let implied = if has_related {
            Coverage::Complete
        } else {
            Coverage::Unknown
        };
        let now = members.get("now").and_then(|now| now.time(report));
        let settings = members.get("settings");
        let settings = settings.and_then(|settings| settings.object(report));
        let expect = members.required("expect", report);
        let expect = expect.and_then(|raw| Expectation::read(raw.value, &raw.place, report));
        Some(Self {
            name: name?,
            object: object?,
            related,
            coverage: coverage.unwrap_or(implied),
            now_ms: now.unwrap_or(0),
            settings,
            expect: expect?,
        })
    }
}

impl Expectation {
    fn read(value: &RawValue, place: &str, report: &mut Report) -> Option<Self> {
        let members = RawMembers::of(value, place, &EXPECT_MEMBERS, report)?;
        let mut text = |name| members.get(name)?.text(report);
        let (state, reason) = (text("state"), text("reason"));
        let phase = members.get("phase");
        let phase = phase.and_then(|raw| raw.word(Phase::of, &Phase::words(), report));
        let mut time = |name| members.get(name)?.time(report);
        let (since_ms, recheck_at_ms) = (time("since"), time("recheck"));
        let failure = members.get("failure");
        let words = ExpectedFailure::words();
        let failure = failure.and_then(|raw| raw.word(ExpectedFailure::of, &words, report));
        if members.len() == 0 {
            report.problem(place, "is empty: give a state, or a failure");
        }
        if members.get("failure").is_some() && members.len() > 1 {
            report.problem(
                place,
                "a failure cannot be combined with a verdict: give one of them",
            );
        }
        Some(Self {
            state,
            reason,
            phase,
            since_ms,
            recheck_at_ms,
            failure,
        })
    }
}
