//! Descriptions: what an interpreter says about itself when it is loaded.
//!
//! A JSON document, so that it can grow: unknown members are ignored with a warning, while an unknown
//! requirement, phase or relation refuses the component by its name, since an old host would misjudge
//! with it. Of members with the same name in one object the last counts, as for most readers of JSON.
//! Its schema is `wit/description.schema.json`.

mod checks;
mod writing;

#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::limits::{
    DESCRIPTION_BYTES_MAX, KINDS_MAX, REASONS_MAX, RULES_MAX, SCHEMA_BYTES_MAX, STATES_MAX,
};
use crate::pattern::{Claim, KindPattern};
use crate::phase::Phase;
use crate::reading::{Members, Report, cut, text};
use crate::relation::{self, RelatedRule};

/// Description of an interpreter by itself, checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description {
    /// Its name: 1 to 63 lower-case letters, digits, `-` or `.`.
    pub name: String,
    /// Its own version, semantic versioning.
    pub version: String,
    /// One line for people.
    pub summary: String,
    /// Features of the host it cannot do without; none exist in 1.0.0.
    pub requires: Vec<String>,
    /// The Kinds it judges.
    pub kinds: Vec<HandledKind>,
    /// Every state it may answer with.
    pub states: Vec<State>,
    /// Reasons it explains to people; it may answer with others.
    pub reasons: Vec<Reason>,
    /// The text of a JSON Schema for its settings, where it takes any.
    pub settings_schema: Option<String>,
}

/// One sort of object an interpreter judges, and what it needs to see of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandledKind {
    /// Pattern of the objects.
    pub pattern: KindPattern,
    /// JSON pointer of a field that objects must have, other than `null`; others are not asked about.
    pub when: Option<String>,
    /// Their fields, as JSON pointers, where `*` stands for the items of a list.
    pub fields: Vec<String>,
    /// Its verdicts depend on the time, which it gets.
    pub uses_now: bool,
    /// Related objects it needs.
    pub related: Vec<RelatedRule>,
}

impl Claim for HandledKind {
    fn pattern(&self) -> &KindPattern {
        &self.pattern
    }

    fn when(&self) -> Option<&str> {
        self.when.as_deref()
    }
}

impl HandledKind {
    /// Returns whether two claim the same objects at the same rank.
    pub fn conflicts(&self, other: &Self) -> bool {
        self.pattern == other.pattern && self.when == other.when
    }
}

/// A state an interpreter may answer with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// The word that people read and that is counted, in `CamelCase`.
    pub name: String,
    /// The phase the host counts it as.
    pub phase: Phase,
    /// One sentence for people who meet the state.
    pub summary: String,
    /// An object in it does not leave it by itself.
    pub is_final: bool,
}

/// A reason an interpreter explains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The word, in `CamelCase`.
    pub name: String,
    /// One sentence for people who meet the reason.
    pub summary: String,
    /// Page that says what to do about it.
    pub help_url: Option<String>,
}

const MEMBERS: [&str; 8] = [
    "name",
    "version",
    "summary",
    "requires",
    "kinds",
    "states",
    "reasons",
    "settings-schema",
];
const KIND_MEMBERS: [&str; 7] = [
    "group", "version", "kind", "when", "fields", "uses-now", "related",
];

impl Description {
    /// Reads and checks the answer of `describe`; the list beside it are warnings.
    ///
    /// # Errors
    /// The problems, each with its place (`kinds[2].related[0].at`), for the author; at most 16.
    pub fn parse(json: &str) -> Result<(Self, Vec<String>), Vec<String>> {
        if json.len() > DESCRIPTION_BYTES_MAX {
            return Err(vec![format!(
                "{} bytes are over the limit of {DESCRIPTION_BYTES_MAX}",
                json.len()
            )]);
        }
        let value: Value = serde_json::from_str(json)
            .map_err(|error| vec![format!("not JSON: {}", cut(&error.to_string()))])?;
        let mut report = Report::default();
        let read = Self::read(&value, &mut report);
        match read.filter(|_| report.problems.is_empty()) {
            Some(description) => Ok((description, report.warnings)),
            None => Err(report.problems),
        }
    }

    fn read(value: &Value, report: &mut Report) -> Option<Self> {
        let members = Members::of(value, "", &MEMBERS, report)?;
        refuse_requirements(&members, report);
        let name = checks::name(&members, report);
        let version = checks::version(&members, report);
        let summary = checks::summary(&members, report);
        let kinds = kinds(&members, report);
        let states = states(&members, report);
        let reasons = reasons(&members, report);
        let settings_schema = settings_schema(&members, report);
        Some(Self {
            name: name?,
            version: version?,
            summary: summary?,
            requires: Vec::new(),
            kinds,
            states,
            reasons,
            settings_schema,
        })
    }
}

/// Refuses every requirement, by its name: this version of the contract has none to offer.
fn refuse_requirements(members: &Members<'_>, report: &mut Report) {
    for (place, value) in members.list("requires", usize::MAX, report) {
        if let Some(feature) = text(value, &place, report) {
            let what = format!("`{}` is not a feature of this host", cut(feature));
            report.problem(&place, &what);
        }
    }
}

fn kinds(members: &Members<'_>, report: &mut Report) -> Vec<HandledKind> {
    let mut kinds: Vec<HandledKind> = Vec::new();
    for (place, value) in members.filled_list("kinds", KINDS_MAX, report) {
        let Some(kind) = handled_kind(value, &place, report) else {
            continue;
        };
        if kinds.iter().any(|earlier| earlier.conflicts(&kind)) {
            let when = match &kind.when {
                Some(when) => format!(" when {}", cut(when)),
                None => String::new(),
            };
            let what = format!("`{}`{when} is there twice", cut(&kind.pattern.to_string()));
            report.problem(&place, &what);
        }
        kinds.push(kind);
    }
    kinds
}

fn handled_kind(value: &Value, place: &str, report: &mut Report) -> Option<HandledKind> {
    let members = Members::of(value, place, &KIND_MEMBERS, report)?;
    let pattern = relation::pattern(&members, report);
    let has_when = members.has("when");
    let when = has_when.then(|| relation::pointer_member(&members, "when", report));
    let fields = relation::fields(&members, report);
    let uses_now = members.flag("uses-now", report);
    let mut related = Vec::new();
    for (place, value) in members.list("related", RULES_MAX, report) {
        related.extend(RelatedRule::read(value, &place, report));
    }
    Some(HandledKind {
        pattern: pattern?,
        when: when.flatten(),
        fields,
        uses_now,
        related,
    })
}

fn states(members: &Members<'_>, report: &mut Report) -> Vec<State> {
    let mut states: Vec<State> = Vec::new();
    for (place, value) in members.filled_list("states", STATES_MAX, report) {
        let Some(state) = checks::state(value, &place, report) else {
            continue;
        };
        if states.iter().any(|earlier| earlier.name == state.name) {
            let what = format!("the state `{}` is declared twice", cut(&state.name));
            report.problem(&place, &what);
        }
        states.push(state);
    }
    states
}

fn reasons(members: &Members<'_>, report: &mut Report) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = Vec::new();
    for (place, value) in members.list("reasons", REASONS_MAX, report) {
        let Some(reason) = checks::reason(value, &place, report) else {
            continue;
        };
        if reasons.iter().any(|earlier| earlier.name == reason.name) {
            let what = format!("the reason `{}` is declared twice", cut(&reason.name));
            report.problem(&place, &what);
        }
        reasons.push(reason);
    }
    reasons
}

fn settings_schema(members: &Members<'_>, report: &mut Report) -> Option<String> {
    let schema = members.get("settings-schema")?;
    let text = schema.to_string();
    if !schema.is_object() || text.len() > SCHEMA_BYTES_MAX {
        let what = format!("a JSON Schema is an object of at most {SCHEMA_BYTES_MAX} bytes");
        report.problem("settings-schema", &what);
    }
    Some(text)
}
