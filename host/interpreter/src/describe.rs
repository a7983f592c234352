//! Description of an interpreter by itself, as the host works with it.

use std::sync::Arc;

use kindsight_contract as contract;
use kindsight_contract::{Claim, Fields};
pub use kindsight_contract::{Reason, RelatedRule, Relation};
use kindsight_model::{Declared, DeclaredReason, InterpreterName, KindPattern, Phase, clean};

use crate::limits::SUMMARY_BYTES_MAX;

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
    /// The reasons it explains.
    pub reasons: Vec<Reason>,
    /// A JSON Schema for its settings, where it takes any.
    pub settings_schema: Option<String>,
    /// Members of its description and fixtures that this host ignores, for its author; at most 32.
    pub warnings: Vec<String>,
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
    /// An object in it does not leave it by itself.
    pub is_final: bool,
}

/// One sort of object, and the parts of it that the interpreter needs.
#[derive(Debug, Clone)]
pub struct HandledKind {
    /// Pattern of the objects.
    pub pattern: KindPattern,
    /// JSON pointer of a field that objects must have, other than `null`.
    pub when: Option<String>,
    /// Their fields.
    pub fields: Fields,
    /// True if verdicts depend on the time; otherwise it is not told.
    pub uses_now: bool,
    /// Related objects.
    pub related: Vec<HandledRule>,
}

/// Related objects an interpreter needs, with their fields as they are cut.
#[derive(Debug, Clone)]
pub struct HandledRule {
    /// The rule.
    pub rule: RelatedRule,
    /// Its fields.
    pub fields: Fields,
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
    pub(crate) fn conflicts(&self, other: &Self) -> bool {
        self.pattern == other.pattern && self.when == other.when
    }
}

impl Description {
    /// The declared state of that name.
    pub(crate) fn state(&self, name: &str) -> Option<&State> {
        self.states.iter().find(|state| *state.name == *name)
    }

    /// Declarations of its states and reasons, as verdicts carry it.
    pub(crate) fn declared(&self) -> Declared {
        let final_states = self.states.iter().filter(|state| state.is_final);
        let reasons = self.reasons.iter().map(|reason| DeclaredReason {
            name: (&*reason.name).into(),
            summary: (&*reason.summary).into(),
            help_url: reason.help_url.as_deref().map(Into::into),
        });
        Declared {
            final_states: final_states.map(|state| Arc::clone(&state.name)).collect(),
            reasons: reasons.collect(),
        }
    }

    /// Reads and checks the answer of `describe`.
    ///
    /// # Errors
    /// The problems, for the author of the component; at most 16.
    pub(crate) fn parse(json: &str) -> Result<Self, Vec<String>> {
        let (description, warnings) = contract::Description::parse(json)?;
        let name = description.name.parse::<InterpreterName>();
        let name = name.map_err(|error| vec![error.to_string()])?;
        let reasons = description.reasons.into_iter().map(|reason| Reason {
            summary: one_line(&reason.summary),
            ..reason
        });
        Ok(Self {
            name,
            version: description.version.into(),
            summary: one_line(&description.summary),
            kinds: description.kinds.into_iter().map(handled_kind).collect(),
            states: description.states.into_iter().map(state).collect(),
            reasons: reasons.collect(),
            settings_schema: description.settings_schema,
            warnings: warnings.iter().map(|warning| one_line(warning)).collect(),
        })
    }
}

/// A text of the component for people: invisible characters are replaced.
fn one_line(text: &str) -> String {
    clean(text, SUMMARY_BYTES_MAX).into_owned()
}

fn state(state: contract::State) -> State {
    State {
        name: state.name.into(),
        phase: state.phase.into(),
        summary: one_line(&state.summary),
        is_final: state.is_final,
    }
}

fn handled_kind(kind: contract::HandledKind) -> HandledKind {
    let related = kind.related.into_iter().map(|rule| HandledRule {
        fields: Fields::of_related(&rule.fields),
        rule,
    });
    HandledKind {
        pattern: kind.pattern,
        when: kind.when,
        fields: Fields::new(&kind.fields),
        uses_now: kind.uses_now,
        related: related.collect(),
    }
}
