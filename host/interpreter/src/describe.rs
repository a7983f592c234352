//! The description that an interpreter gives of itself, in the form that the host uses.

use std::sync::Arc;

use kindsight_contract as contract;
use kindsight_contract::{Claim, Fields};
pub use kindsight_contract::{Reason, RelatedRule, Relation};
use kindsight_model::{Declared, DeclaredReason, InterpreterName, KindPattern, Phase, clean};

use crate::limits::SUMMARY_BYTES_MAX;

/// The description that an interpreter gives of itself.
#[derive(Debug, Clone)]
pub struct Description {
    /// Its name.
    pub name: InterpreterName,
    /// Its version.
    pub version: Arc<str>,
    /// One line for users.
    pub summary: String,
    /// The Kinds that it judges.
    pub kinds: Vec<HandledKind>,
    /// Every state that its answers may contain.
    pub states: Vec<DeclaredState>,
    /// The reasons that it explains.
    pub reasons: Vec<Reason>,
    /// A JSON Schema for its settings, if it has settings.
    pub settings_schema: Option<String>,
    /// Members of its description and fixtures that this host ignores, as warnings for its author;
    /// at most 32.
    pub warnings: Vec<String>,
}

/// A state that an interpreter's answers may contain.
#[derive(Debug, Clone)]
pub struct DeclaredState {
    /// Its name.
    pub name: Arc<str>,
    /// The phase as which the host counts the state.
    pub phase: Phase,
    /// One sentence for users.
    pub summary: String,
    /// True if an object in this state does not leave the state without a change from outside.
    pub is_final: bool,
}

/// A pattern of objects, and the parts of these objects that the interpreter needs.
#[derive(Debug, Clone)]
pub struct HandledKind {
    /// The pattern of the objects.
    pub pattern: KindPattern,
    /// JSON pointer of a field that objects must have with a value other than `null`.
    pub when: Option<String>,
    /// The fields that the interpreter needs.
    pub fields: Fields,
    /// True if verdicts depend on the time. Otherwise, calls do not receive the time.
    pub uses_now: bool,
    /// The related objects that the interpreter needs.
    pub related: Vec<HandledRule>,
}

/// A rule for related objects, and the fields of these objects that are passed.
#[derive(Debug, Clone)]
pub struct HandledRule {
    /// The rule.
    pub rule: RelatedRule,
    /// The fields of the related objects.
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
    /// Returns whether both claim the same objects with the same rank.
    pub(crate) fn conflicts(&self, other: &Self) -> bool {
        self.pattern == other.pattern && self.when == other.when
    }
}

impl Description {
    /// The declared state with this name.
    pub(crate) fn state(&self, name: &str) -> Option<&DeclaredState> {
        self.states.iter().find(|state| *state.name == *name)
    }

    /// The declarations of its states and reasons, as verdicts carry them.
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

    /// Parses and checks the answer of `describe`.
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

/// A text of the component for users, with invisible characters replaced.
fn one_line(text: &str) -> String {
    clean(text, SUMMARY_BYTES_MAX).into_owned()
}

fn state(state: contract::State) -> DeclaredState {
    DeclaredState {
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
