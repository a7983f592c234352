//! The declarative format: Kinds, conditions in CEL, states and messages in a YAML file.
//!
//! `docs/declarative.md` describes the format, `wit/rules.schema.json` is its schema.

mod related;

use kindsight_contract::{Phase, State};
use serde::Deserialize;
use serde_json::Value;

use crate::cel::{Case, GenerationCheck, Outcome, Rule, RuleSet, RulesError, Variable};

use related::FileRelated;

/// Maximum size of a file, in bytes.
pub const FILE_BYTES_MAX: usize = 4 * 1024 * 1024;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    version: String,
    #[serde(default)]
    summary: String,
    /// The documents and the code that the rules follow. The component does not contain them.
    #[serde(default)]
    sources: Vec<String>,
    #[serde(default)]
    states: Vec<FileState>,
    rules: Vec<FileRule>,
    #[serde(default)]
    fixtures: Vec<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileState {
    name: String,
    phase: String,
    summary: String,
    #[serde(default, rename = "final")]
    is_final: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRule {
    #[serde(default)]
    group: String,
    #[serde(default = "any")]
    version: String,
    kind: String,
    when: Option<String>,
    #[serde(default)]
    checks: Checks,
    #[serde(default)]
    related: Vec<FileRelated>,
    #[serde(default)]
    variables: Vec<FileVariable>,
    cases: Vec<FileCase>,
    otherwise: Option<FileOutcome>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Checks {
    #[serde(default = "on")]
    deletion: bool,
    #[serde(default = "on")]
    observed_generation: bool,
}

impl Default for Checks {
    fn default() -> Self {
        Self {
            deletion: on(),
            observed_generation: on(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileVariable {
    name: String,
    expression: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileCase {
    #[serde(rename = "if")]
    condition: String,
    state: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    message: String,
    since: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileOutcome {
    state: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    message: String,
    since: Option<String>,
}

fn any() -> String {
    "*".to_owned()
}

const fn on() -> bool {
    true
}

/// Reads a file of the declarative format.
///
/// # Errors
/// If the text is not a file of the format, with the position of the problem.
pub fn read(file: &str, text: &str) -> Result<RuleSet, RulesError> {
    let refused = |why: String| RulesError::Format {
        file: file.to_owned(),
        why,
    };
    if text.len() > FILE_BYTES_MAX {
        let bytes = text.len();
        return Err(refused(format!(
            "{bytes} bytes are over the limit of {FILE_BYTES_MAX}"
        )));
    }
    let parsed: File = serde_saphyr::from_str(text).map_err(|error| refused(error.to_string()))?;
    let states = parsed.states.into_iter().map(state);
    let states = states.collect::<Result<Vec<_>, _>>().map_err(refused)?;
    let rules = parsed.rules.into_iter().enumerate();
    let rules = rules.map(|(index, rule)| rule.read(file, index));
    let rules = rules.collect::<Result<Vec<_>, _>>().map_err(refused)?;
    Ok(RuleSet {
        name: parsed.name,
        version: parsed.version,
        summary: parsed.summary,
        sources: parsed.sources,
        states,
        rules,
        fixtures: parsed.fixtures,
    })
}

/// Joins the rules of several files in one interpreter. The names of their fixtures get the name of
/// the interpreter of the file as a prefix.
///
/// # Errors
/// If two files declare a state with the same name in different ways.
pub fn join(name: &str, version: &str, sets: Vec<RuleSet>) -> Result<RuleSet, RulesError> {
    let count = sets.iter().map(|set| set.rules.len()).sum::<usize>();
    let mut joined = RuleSet {
        name: name.to_owned(),
        version: version.to_owned(),
        summary: format!("Rules for {count} Kinds"),
        ..RuleSet::default()
    };
    let mut problems = Vec::new();
    for set in sets {
        for state in set.states {
            match joined.states.iter().find(|known| known.name == state.name) {
                None => joined.states.push(state),
                Some(known) if *known == state => {}
                Some(_) => problems.push(format!(
                    "{}: the state `{}` differs from its declaration in another file: use the same phase and summary, or another name",
                    set.name, state.name
                )),
            }
        }
        joined.sources.extend(set.sources);
        joined.rules.extend(set.rules);
        joined
            .fixtures
            .extend(set.fixtures.into_iter().map(|mut fixture| {
                if let Some(Value::String(fixture)) = fixture.get_mut("name") {
                    *fixture = format!("{}: {fixture}", set.name);
                }
                fixture
            }));
    }
    if problems.is_empty() {
        Ok(joined)
    } else {
        Err(RulesError::Invalid(problems))
    }
}

fn state(state: FileState) -> Result<State, String> {
    let phase = Phase::of(&state.phase.to_ascii_lowercase()).ok_or_else(|| {
        let words: Vec<&str> = Phase::ALL.iter().map(|phase| phase.as_str()).collect();
        let words = words.join(", ");
        format!(
            "states: `{}` of {} is not a phase: use one of {words}",
            state.phase, state.name
        )
    })?;
    Ok(State {
        name: state.name,
        phase,
        summary: state.summary,
        is_final: state.is_final,
    })
}

impl FileRule {
    fn read(self, file: &str, index: usize) -> Result<Rule, String> {
        let otherwise = self.otherwise.unwrap_or_else(|| FileOutcome {
            state: "Unknown".to_owned(),
            reason: "NoCase".to_owned(),
            message: "no case of the rule applies".to_owned(),
            since: None,
        });
        let variables = self.variables.into_iter();
        let variables = variables.map(|variable| Variable {
            name: variable.name,
            expression: variable.expression,
        });
        Ok(Rule {
            place: format!("{file}: rules[{index}]"),
            group: self.group,
            version: self.version,
            kind: self.kind,
            when: self.when,
            checks_deletion: self.checks.deletion,
            generation: if self.checks.observed_generation {
                GenerationCheck::Older
            } else {
                GenerationCheck::Off
            },
            is_extended: true,
            related: related::read(self.related, index)?,
            variables: variables.collect(),
            cases: self.cases.into_iter().map(FileCase::read).collect(),
            otherwise: Outcome {
                state: otherwise.state,
                reason: otherwise.reason,
                message: otherwise.message,
                since: otherwise.since,
            },
        })
    }
}

impl FileCase {
    fn read(self) -> Case {
        Case {
            condition: self.condition,
            outcome: Outcome {
                state: self.state,
                reason: self.reason,
                message: self.message,
                since: self.since,
            },
        }
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod related_tests;
