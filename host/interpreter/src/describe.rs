//! What an interpreter says of itself, checked.

use std::sync::Arc;

use kindsight_model::{InterpreterName, Phase};

use crate::bindings;
use crate::limits::STATE_BYTES_MAX;
use crate::pattern::KindPattern;
use crate::trim::Fields;

const VERSION_BYTES_MAX: usize = 64;
const SUMMARY_BYTES_MAX: usize = 256;
const KINDS_MAX: usize = 256;
const STATES_MAX: usize = 64;
const FIELDS_MAX: usize = 64;
const POINTER_BYTES_MAX: usize = 256;
const RULES_MAX: usize = 8;
const RELATED_MAX: u32 = 256;
const SCHEMA_BYTES_MAX: usize = 64 * 1024;
/// Problems that are told; an author mends those first.
const PROBLEMS_MAX: usize = 16;

/// What an interpreter says of itself.
#[derive(Debug, Clone)]
pub struct Description {
    /// Its name.
    pub name: InterpreterName,
    /// Its version.
    pub version: Arc<str>,
    /// One line for people.
    pub summary: String,
    /// What it judges.
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
    /// What the host counts it as.
    pub phase: Phase,
    /// One sentence for people.
    pub summary: String,
}

/// One sort of object, and what the interpreter needs to see of it.
#[derive(Debug, Clone)]
pub struct HandledKind {
    /// Which objects.
    pub pattern: KindPattern,
    /// Their fields.
    pub fields: Fields,
    /// Related objects.
    pub related: Vec<RelatedRule>,
}

/// Related objects an interpreter needs.
#[derive(Debug, Clone)]
pub struct RelatedRule {
    /// Which Kinds.
    pub pattern: KindPattern,
    /// Found how.
    pub relation: Relation,
    /// Their fields.
    pub fields: Fields,
    /// The most that are passed.
    pub limit: usize,
}

/// How a related object is found.
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

    /// Checks what the component said; every problem in words its author can act on.
    pub(crate) fn check(said: bindings::Description) -> Result<Self, Vec<String>> {
        let mut problems = Vec::new();
        let name = said.name.parse::<InterpreterName>();
        if name.is_err() {
            let (name, grammar) = (cut(&said.name), InterpreterName::GRAMMAR);
            problems.push(format!("name `{name}`: {grammar}"));
        }
        check_texts(&said, &mut problems);
        check_states(&said, &mut problems);
        check_kinds(&said, &mut problems);
        problems.truncate(PROBLEMS_MAX);
        let (Ok(name), true) = (name, problems.is_empty()) else {
            return Err(problems);
        };
        let states = said.states.into_iter().map(|state| State {
            name: state.name.into(),
            phase: phase(state.phase),
            summary: state.summary,
        });
        Ok(Self {
            name,
            version: said.version.into(),
            summary: said.summary,
            states: states.collect(),
            kinds: said.kinds.into_iter().map(handled_kind).collect(),
            settings_schema: said.settings_schema,
        })
    }
}

fn check_texts(said: &bindings::Description, problems: &mut Vec<String>) {
    if said.version.is_empty() || said.version.len() > VERSION_BYTES_MAX || !is_plain(&said.version)
    {
        problems.push(format!(
            "version `{}`: 1 to {VERSION_BYTES_MAX} printable ASCII characters",
            cut(&said.version)
        ));
    }
    if said.summary.len() > SUMMARY_BYTES_MAX || said.summary.contains(char::is_control) {
        problems.push(format!(
            "summary: one line of at most {SUMMARY_BYTES_MAX} bytes"
        ));
    }
    let schema = said.settings_schema.as_deref().unwrap_or("{}");
    if schema.len() > SCHEMA_BYTES_MAX
        || serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(schema).is_err()
    {
        problems.push(format!(
            "settings-schema: a JSON object of at most {SCHEMA_BYTES_MAX} bytes"
        ));
    }
}

fn check_states(said: &bindings::Description, problems: &mut Vec<String>) {
    if said.states.is_empty() || said.states.len() > STATES_MAX {
        problems.push(format!(
            "{} states: 1 to {STATES_MAX} are right",
            said.states.len()
        ));
    }
    for (index, state) in said.states.iter().take(STATES_MAX).enumerate() {
        let name = &state.name;
        let letters = name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if name.is_empty() || name.len() > STATE_BYTES_MAX || !letters {
            problems.push(format!(
                "state `{}`: 1 to {STATE_BYTES_MAX} letters and digits",
                cut(name)
            ));
        }
        if said
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

fn check_kinds(said: &bindings::Description, problems: &mut Vec<String>) {
    if said.kinds.is_empty() || said.kinds.len() > KINDS_MAX {
        problems.push(format!(
            "{} Kinds: 1 to {KINDS_MAX} are right",
            said.kinds.len()
        ));
    }
    let mut seen = Vec::new();
    for kind in said.kinds.iter().take(KINDS_MAX) {
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

/// What a message repeats of a text that is wrong: its beginning, with control characters spelt out.
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
        fields: Fields::new(&rule.fields),
        limit: usize::try_from(rule.limit).unwrap_or(usize::MAX),
    });
    HandledKind {
        pattern: kind_pattern(&kind.pattern),
        fields: Fields::new(&kind.fields),
        related: related.collect(),
    }
}

fn phase(phase: bindings::Phase) -> Phase {
    match phase {
        bindings::Phase::Unknown => Phase::Unknown,
        bindings::Phase::NotPresent => Phase::NotPresent,
        bindings::Phase::Present => Phase::Present,
        bindings::Phase::Pending => Phase::Pending,
        bindings::Phase::Ready => Phase::Ready,
        bindings::Phase::Suspended => Phase::Suspended,
        bindings::Phase::Failed => Phase::Failed,
        bindings::Phase::Terminating => Phase::Terminating,
    }
}
