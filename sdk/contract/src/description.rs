//! Descriptions that interpreters give of themselves when they are loaded.
//!
//! A description is a JSON document, so that it can grow. Unknown members are ignored with a
//! warning. If a component names an unknown requirement, phase or relation, the host refuses the
//! component and names the unknown word, because an old host would give wrong verdicts. If an
//! object has several members with the same name, the last one is used, as most JSON parsers do.
//! The schema is `wit/description.schema.json`.

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

/// The description that an interpreter gives of itself, checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description {
    /// Its name: 1 to 63 lower-case letters, digits, `-` or `.`.
    pub name: String,
    /// Its own version, a semantic version.
    pub version: String,
    /// One line for users.
    pub summary: String,
    /// Host features that it requires; none exist in 1.0.0.
    pub requires: Vec<String>,
    /// The Kinds it judges.
    pub kinds: Vec<HandledKind>,
    /// Every state that its answers may contain.
    pub states: Vec<State>,
    /// Reasons that it explains to users. Its answers may contain other reasons too.
    pub reasons: Vec<Reason>,
    /// The text of a JSON Schema for its settings, if it has settings.
    pub settings_schema: Option<String>,
}

/// A pattern of objects that an interpreter judges, and the parts of these objects that it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandledKind {
    /// Pattern of the objects.
    pub pattern: KindPattern,
    /// JSON pointer of a field that objects must have with a value other than `null`. The
    /// interpreter is not called for other objects.
    pub when: Option<String>,
    /// The fields that it needs, as JSON pointers. `*` matches the items of a list.
    pub fields: Vec<String>,
    /// True if its verdicts depend on the time. If so, calls receive the time.
    pub uses_now: bool,
    /// Related objects that it needs.
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
    /// Returns whether both claim the same objects with the same rank.
    pub fn conflicts(&self, other: &Self) -> bool {
        self.pattern == other.pattern && self.when == other.when
    }
}

/// A state that an interpreter's answers may contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// The name of the state, in `CamelCase`. Users see it, and objects are counted by it.
    pub name: String,
    /// The phase as which the host counts the state.
    pub phase: Phase,
    /// One sentence for users who see the state.
    pub summary: String,
    /// True if an object in this state does not leave the state without an external cause.
    pub is_final: bool,
}

/// A reason an interpreter explains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The name, in `CamelCase`.
    pub name: String,
    /// One sentence for users who see the reason.
    pub summary: String,
    /// Page with advice about the reason.
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
    /// Parses and checks the answer of `describe`. The list in the result contains warnings.
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

/// Refuses every requirement by its name, because this version of the contract defines none.
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
            let what = format!(
                "`{}`{when} is declared twice",
                cut(&kind.pattern.to_string())
            );
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
