//! Rules in CEL: checked, and spliced into their template.
//!
//! YAML -> [`RuleSet`] -> **component**. The template `sdk/templates/cel` evaluates the rules.

mod check;
mod data;
mod fields;
mod related;

pub use related::RelatedList;

use kindsight_contract::phase::RESERVED_STATES;
use kindsight_contract::{Phase, State};
use serde_json::Value;

use crate::{SpliceError, splice, template};

/// Maximum number of cases and of variables of one rule.
const PARTS_MAX: usize = 64;

/// The rules of one interpreter.
#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    /// The name of the interpreter.
    pub name: String,
    /// Its version, a semantic version.
    pub version: String,
    /// One line for users.
    pub summary: String,
    /// The documents and the code that the rules follow. The component does not contain them.
    pub sources: Vec<String>,
    /// The states that it adds to the shared ones.
    pub states: Vec<State>,
    /// The rules, one for each pattern of Kinds.
    pub rules: Vec<Rule>,
    /// The fixtures in the format of the contract.
    pub fixtures: Vec<Value>,
}

/// A rule for the objects of a Kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The place of the rule in its file, for errors.
    pub place: String,
    /// Group, exact, `*.suffix` or `*`.
    pub group: String,
    /// Version, exact or `*`.
    pub version: String,
    /// Kind, exact or `*`.
    pub kind: String,
    /// JSON pointer of a field that objects must have.
    pub when: Option<String>,
    /// Whether objects that are being deleted are Terminating.
    pub checks_deletion: bool,
    /// When an object counts as not observed yet.
    pub generation: GenerationCheck,
    /// Whether `conditions` is a variable (the conditions of the present generation by type), and
    /// absent `metadata`, `spec` and `status` are empty maps.
    pub is_extended: bool,
    /// Lists of related objects, in `related` and `coverage`.
    pub related: Vec<RelatedList>,
    /// Named expressions. Each can use those before it.
    pub variables: Vec<Variable>,
    /// The cases, in order. The first one whose condition is true determines the verdict.
    pub cases: Vec<Case>,
    /// The verdict if no case applies.
    pub otherwise: Outcome,
}

/// When an object counts as not observed yet, and is Pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GenerationCheck {
    /// Never.
    Off,
    /// If `status.observedGeneration` is older than `metadata.generation`.
    Older,
    /// If both are whole numbers and differ, as in Flux.
    Differs,
}

/// An expression with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The expression.
    pub expression: String,
}

/// A condition and its verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The condition.
    pub condition: String,
    /// The verdict if it is true.
    pub outcome: Outcome,
}

/// A verdict. Reason and message are texts with expressions in `${…}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The name of the state.
    pub state: String,
    /// The reason. If it is empty, the name of the state.
    pub reason: String,
    /// The message.
    pub message: String,
    /// An expression for the start time of the state.
    pub since: Option<String>,
}

/// The reason why rules cannot be converted.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    /// The text is not a file of the format.
    #[error("{file}: {why}")]
    Format {
        /// The name of the file.
        file: String,
        /// The problem, with its position.
        why: String,
    },
    /// Rules are invalid. One line for each problem, with its place.
    #[error("{}", .0.join("\n"))]
    Invalid(Vec<String>),
    /// The rules cannot be spliced into the template.
    #[error(transparent)]
    Splice(#[from] SpliceError),
}

/// The data that the template reads, for tests.
#[cfg(test)]
pub(crate) fn data_of(rules: &RuleSet) -> String {
    data::of(rules)
}

impl RuleSet {
    /// Checks the rules, and makes a component of them.
    ///
    /// # Errors
    /// The problems of the rules, each with its place.
    pub fn component(&self) -> Result<Vec<u8>, RulesError> {
        let problems = check::problems(self);
        if !problems.is_empty() {
            return Err(RulesError::Invalid(problems));
        }
        Ok(splice(template("cel"), data::of(self).as_bytes())?)
    }

    /// The phase of a state, if the state is shared or declared.
    fn phase(&self, state: &str) -> Option<Phase> {
        let reserved = RESERVED_STATES.iter().find(|(name, _)| *name == state);
        let own = self.states.iter().find(|own| own.name == state);
        reserved
            .map(|(_, phase)| *phase)
            .or_else(|| own.map(|own| own.phase))
    }

    /// The names of the states that the verdicts contain, each once.
    fn used_states(&self) -> Vec<&str> {
        let outcomes = self.rules.iter().flat_map(Rule::outcomes);
        let mut names: Vec<&str> = outcomes
            .map(|(_, outcome)| outcome.state.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl Rule {
    /// The verdicts of the rule, each with its place in the rule.
    fn outcomes(&self) -> impl Iterator<Item = (String, &Outcome)> {
        let cases = self.cases.iter().enumerate();
        let cases = cases.map(|(index, case)| (format!("cases[{index}]"), &case.outcome));
        cases.chain([("otherwise".to_owned(), &self.otherwise)])
    }

    /// The Kind as users know it.
    fn kind_name(&self) -> String {
        match self.group.as_str() {
            "" => self.kind.clone(),
            group => format!("{}.{group}", self.kind),
        }
    }
}
