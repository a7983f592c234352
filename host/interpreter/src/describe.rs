//! Description of an interpreter by itself, checked.

use std::sync::Arc;

use kindsight_model::{InterpreterName, Phase, clean};

use crate::bindings;
use crate::limits::STATE_BYTES_MAX;
use kindsight_contract::Fields;
use kindsight_model::KindPattern;

/// Longest version of an interpreter, in bytes.
const VERSION_BYTES_MAX: usize = 64;
/// Longest summary of an interpreter or a state, in bytes.
const SUMMARY_BYTES_MAX: usize = 256;
/// Patterns of Kinds of one interpreter.
const KINDS_MAX: usize = 256;
/// States of one interpreter.
const STATES_MAX: usize = 64;
/// Fields that one pattern or one related rule asks for.
const FIELDS_MAX: usize = 64;
/// Longest pointer to a field, in bytes.
const POINTER_BYTES_MAX: usize = 256;
/// Related rules of one pattern.
const RULES_MAX: usize = 8;
/// Related objects that one rule may ask for.
const RELATED_MAX: u32 = 256;
/// Largest schema of settings, in bytes.
const SCHEMA_BYTES_MAX: usize = 64 * 1024;
/// Problems that are reported at once; the author fixes those first.
const PROBLEMS_MAX: usize = 16;

/// Description of an interpreter by itself.
#[derive(Debug, Clone)]
pub struct Description {
    /// Its name.
    pub name: InterpreterName,
    /// Its version.
    pub version: Arc<str>,
    /// One line for people.
    pub summary: String,
    /// The Kinds it judges.
    pub kinds: Vec<HandledKind>,
    /// Every state it may answer with.
    pub states: Vec<State>,
    /// A JSON Schema for its settings, where it takes any.
    pub settings_schema: Option<String>,
}

/// A state it may answer with.
#[derive(Debug, Clone)]
pub struct State {
    /// Its name.
    pub name: Arc<str>,
    /// The phase the host counts it as.
    pub phase: Phase,
    /// One sentence for people.
    pub summary: String,
}

/// One sort of object, and the parts of it that the interpreter needs.
#[derive(Debug, Clone)]
pub struct HandledKind {
    /// Pattern of the objects.
    pub pattern: KindPattern,
    /// Their fields.
    pub fields: Fields,
    /// True if verdicts depend on the time; otherwise it is not told.
    pub uses_now: bool,
    /// Related objects.
    pub related: Vec<RelatedRule>,
}

/// Related objects an interpreter needs.
#[derive(Debug, Clone)]
pub struct RelatedRule {
    /// Pattern of their Kinds.
    pub pattern: KindPattern,
    /// Their relation to the judged object.
    pub relation: Relation,
    /// Their fields.
    pub fields: Fields,
    /// The most that are passed.
    pub limit: usize,
}

/// Relation by which a related object is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Relation {
    /// It names the judged object as an owner.
    Owned,
    /// Its labels match the selector at this pointer.
    SelectedBy(String),
}

impl Description {
    /// The declared state of that name.
    pub(crate) fn state(&self, name: &str) -> Option<&State> {
        self.states.iter().find(|state| *state.name == *name)
    }

    /// Checks the answer of `describe`.
    ///
    /// # Errors
    /// The problems, for the author of the component; at most 16.
    pub(crate) fn check(raw: bindings::Description) -> Result<Self, Vec<String>> {
        let mut problems = Vec::new();
        let name = raw.name.parse::<InterpreterName>();
        if name.is_err() {
            let (name, grammar) = (cut(&raw.name), InterpreterName::GRAMMAR);
            problems.push(format!("name `{name}`: {grammar}"));
        }
        check_texts(&raw, &mut problems);
        check_states(&raw, &mut problems);
        check_kinds(&raw, &mut problems);
        problems.truncate(PROBLEMS_MAX);
        let (Ok(name), true) = (name, problems.is_empty()) else {
            return Err(problems);
        };
        let states = raw.states.into_iter().map(|state| State {
            name: state.name.into(),
            phase: phase(state.phase),
            summary: clean(&state.summary, SUMMARY_BYTES_MAX).into_owned(),
        });
        Ok(Self {
            name,
            version: raw.version.into(),
            summary: clean(&raw.summary, SUMMARY_BYTES_MAX).into_owned(),
            states: states.collect(),
            kinds: raw.kinds.into_iter().map(handled_kind).collect(),
            settings_schema: raw.settings_schema,
        })
    }
}

fn check_texts(raw: &bindings::Description, problems: &mut Vec<String>) {
    if raw.version.is_empty() || raw.version.len() > VERSION_BYTES_MAX || !is_plain(&raw.version) {
        problems.push(format!(
            "version `{}`: 1 to {VERSION_BYTES_MAX} printable ASCII characters",
            cut(&raw.version)
        ));
    }
    if raw.summary.len() > SUMMARY_BYTES_MAX || raw.summary.contains(char::is_control) {
        problems.push(format!(
            "summary: one line of at most {SUMMARY_BYTES_MAX} bytes"
        ));
    }
    let schema = raw.settings_schema.as_deref().unwrap_or("{}");
    if schema.len() > SCHEMA_BYTES_MAX
        || serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(schema).is_err()
    {
        problems.push(format!(
            "settings-schema: a JSON object of at most {SCHEMA_BYTES_MAX} bytes"
        ));
    }
}

fn check_states(raw: &bindings::Description, problems: &mut Vec<String>) {
    if raw.states.is_empty() || raw.states.len() > STATES_MAX {
        problems.push(format!(
            "{} states: 1 to {STATES_MAX} are right",
            raw.states.len()
        ));
    }
    for (index, state) in raw.states.iter().take(STATES_MAX).enumerate() {
        let name = &state.name;
        let letters = name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if name.is_empty() || name.len() > STATE_BYTES_MAX || !letters {
            problems.push(format!(
                "state `{}`: 1 to {STATE_BYTES_MAX} letters and digits",
                cut(name)
            ));
        }
        if raw
            .states
            .iter()
            .take(index)
            .any(|earlier| earlier.name == *name)
        {
            problems.push(format!("state `{}` is declared twice", cut(name)));
        }
        if state.summary.len() > SUMMARY_BYTES_MAX || state.summary.contains(char::is_control) {
            problems.push(format!(
                "state `{}`: its summary is not one line of at most {SUMMARY_BYTES_MAX} bytes",
                cut(name)
            ));
        }
    }
}

fn check_kinds(raw: &bindings::Description, problems: &mut Vec<String>) {
    if raw.kinds.is_empty() || raw.kinds.len() > KINDS_MAX {
        problems.push(format!(
            "{} Kinds: 1 to {KINDS_MAX} are right",
            raw.kinds.len()
        ));
    }
    let mut seen = Vec::new();
    for kind in raw.kinds.iter().take(KINDS_MAX) {
        let pattern = kind_pattern(&kind.pattern);
        problems.extend(pattern.problem());
        check_fields(&kind.fields, &pattern, problems);
        if kind.related.len() > RULES_MAX {
            problems.push(format!(
                "`{pattern}`: more than {RULES_MAX} rules for related objects"
            ));
        }
        for rule in &kind.related {
            problems.extend(kind_pattern(&rule.kind).problem());
            check_fields(&rule.fields, &pattern, problems);
            if rule.limit == 0 || rule.limit > RELATED_MAX {
                problems.push(format!(
                    "`{pattern}`: a limit of {} related objects; 1 to {RELATED_MAX} are right",
                    rule.limit
                ));
            }
        }
        if seen.contains(&pattern) {
            problems.push(format!("pattern `{pattern}` is there twice"));
        }
        seen.push(pattern);
    }
}

fn check_fields(fields: &[String], pattern: &KindPattern, problems: &mut Vec<String>) {
    if fields.len() > FIELDS_MAX {
        problems.push(format!("`{pattern}`: more than {FIELDS_MAX} fields"));
    }
    for field in fields {
        let pointer = field.is_empty() || field.starts_with('/');
        if !pointer || field.len() > POINTER_BYTES_MAX {
            problems.push(format!(
                "`{pattern}`: field `{}` is not a JSON pointer of at most {POINTER_BYTES_MAX} bytes; it starts with `/`",
                cut(field)
            ));
        }
    }
}

fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Quotes an invalid text in a message: its beginning, with control characters escaped.
pub(crate) fn cut(text: &str) -> String {
    let text = text.get(..text.floor_char_boundary(80)).unwrap_or_default();
    text.escape_debug().to_string()
}

fn kind_pattern(pattern: &bindings::KindPattern) -> KindPattern {
    KindPattern {
        group: pattern.group.clone(),
        version: pattern.version.clone(),
        kind: pattern.kind.clone(),
    }
}

fn handled_kind(kind: bindings::HandledKind) -> HandledKind {
    let related = kind.related.into_iter().map(|rule| RelatedRule {
        pattern: kind_pattern(&rule.kind),
        relation: match rule.relation {
            bindings::Relation::Owned => Relation::Owned,
            bindings::Relation::SelectedBy(pointer) => Relation::SelectedBy(pointer),
        },
        fields: Fields::of_related(&rule.fields),
        limit: usize::try_from(rule.limit).unwrap_or(usize::MAX),
    });
    HandledKind {
        pattern: kind_pattern(&kind.pattern),
        fields: Fields::new(&kind.fields),
        uses_now: true,
        related: related.collect(),
    }
}

fn phase(phase: bindings::Phase) -> Phase {
    match phase {
        bindings::Phase::Unknown => Phase::Unknown,
        bindings::Phase::NotPresent => Phase::NotPresent,
        bindings::Phase::Present => Phase::Present,
        bindings::Phase::Pending => Phase::Pending,
        bindings::Phase::Degraded => Phase::Degraded,
        bindings::Phase::Ready => Phase::Ready,
        bindings::Phase::Suspended => Phase::Suspended,
        bindings::Phase::Failed => Phase::Failed,
        bindings::Phase::Terminating => Phase::Terminating,
    }
}
