//! Lints of a component: mistakes that its fixtures show, although they hold.

mod absence;

use std::collections::BTreeSet;

use kindsight_contract::damage::{Damaged, Promised, damages};
use kindsight_contract::{Fixture, Tree, handled};
use kindsight_interpreter::{Examination, Examiner, Fault, HandledKind, LoadError, TrialError};
use kindsight_model::Phase;
use serde_json::{Map, Value};

use crate::coverage::own_states;

/// Maximum number of wrong verdicts on damaged objects that are listed for one fixture and one rule.
const DAMAGES_TOLD_MAX: usize = 5;

/// The rule of a lint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// The component has no fixtures.
    NoFixtures,
    /// A verdict depends on a field that the description does not request.
    UndeclaredField,
    /// No fixture reaches a declared state.
    UnreachedState,
    /// No fixture of a Kind has an object without a status, although the component reads the status.
    NoFixtureWithoutStatus,
    /// A damaged object is ready.
    WrongGreen,
    /// A verdict is wrong because the host does not know all related objects.
    WrongByAbsence,
    /// The component fails on a damaged object.
    FailsOnDamage,
}

impl Rule {
    /// The name of the rule.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoFixtures => "no-fixtures",
            Self::UndeclaredField => "undeclared-field",
            Self::UnreachedState => "unreached-state",
            Self::NoFixtureWithoutStatus => "no-fixture-without-status",
            Self::WrongGreen => "wrong-green",
            Self::WrongByAbsence => "wrong-by-absence",
            Self::FailsOnDamage => "fails-on-damage",
        }
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that found it.
    pub rule: Rule,
    /// The mistake and its place.
    pub what: String,
}

/// Checks a component. The findings are in the order of the rules.
///
/// # Errors
/// If the settings schema of the component cannot be used.
pub fn findings(examination: &Examination) -> Result<Vec<Finding>, LoadError> {
    let mut linter = Linter {
        examination,
        examiner: examination.examiner()?,
        found: Vec::new(),
    };
    if examination.fixtures().is_empty() {
        linter.add(
            Rule::NoFixtures,
            "give each branch of the rule an example".to_owned(),
        );
    }
    linter.undeclared_fields();
    linter.unreached_states();
    linter.objects_without_status();
    linter.absent_objects();
    linter.damaged_objects();
    linter.found.sort_by_key(|finding| finding.rule);
    Ok(linter.found)
}

struct Linter<'e> {
    examination: &'e Examination,
    examiner: Examiner<'e>,
    found: Vec<Finding>,
}

impl Linter<'_> {
    fn add(&mut self, rule: Rule, what: String) {
        self.found.push(Finding { rule, what });
    }

    fn undeclared_fields(&mut self) {
        let mut told = BTreeSet::new();
        for fixture in self.examination.fixtures() {
            if let Some(what) = self.examiner.undeclared(fixture)
                && told.insert(what.clone())
            {
                let what = format!("fixture `{}`: {what}", fixture.name);
                self.add(Rule::UndeclaredField, what);
            }
        }
    }

    fn unreached_states(&mut self) {
        let fixtures = self.examination.fixtures().iter();
        let verdicts: Vec<_> = fixtures
            .filter_map(|fixture| self.examiner.judge(fixture).ok())
            .collect();
        for state in own_states(self.examination.interpreter().description()) {
            if !verdicts.iter().any(|verdict| *verdict.state == *state) {
                let what = format!("no fixture reaches the state {state}");
                self.add(Rule::UnreachedState, what);
            }
        }
    }

    fn objects_without_status(&mut self) {
        let kinds = &self.examination.interpreter().description().kinds;
        let mut lacking: Vec<bool> = kinds.iter().map(judges_without_status).collect();
        for fixture in self.examination.fixtures() {
            if let Some(kind) = kind_of(self.examination, fixture)
                && is_without_status(&object(fixture))
                && let Some(is_lacking) = lacking.get_mut(kind)
            {
                *is_lacking = false;
            }
        }
        for (kind, is_lacking) in kinds.iter().zip(lacking) {
            if is_lacking {
                let what = format!(
                    "{}: no fixture has an object without a status, as each new object is",
                    kind.pattern
                );
                self.add(Rule::NoFixtureWithoutStatus, what);
            }
        }
    }

    fn absent_objects(&mut self) {
        let kinds = &self.examination.interpreter().description().kinds;
        for fixture in self.examination.fixtures() {
            let kind = kind_of(self.examination, fixture).and_then(|kind| kinds.get(kind));
            if kind.is_none_or(|kind| kind.related.is_empty()) {
                continue;
            }
            if let Some(what) = absence::mistake(&mut self.examiner, fixture) {
                let what = format!("fixture `{}`: {what}", fixture.name);
                self.add(Rule::WrongByAbsence, what);
            }
        }
    }

    fn damaged_objects(&mut self) {
        let fixtures = self.examination.fixtures();
        let ready = fixtures.iter();
        let ready = ready.filter(|fixture| self.promises_ready(fixture));
        let ready: Vec<Value> = ready.map(object).collect();
        let is_ready_without = |kind: &(Value, Value), member: &str| {
            ready
                .iter()
                .any(|object| kind_name(object) == *kind && object.get(member).is_none())
        };
        for fixture in fixtures {
            let object = object(fixture);
            let kind = kind_name(&object);
            let promised = Promised {
                is_ready: self.promises_ready(fixture),
                without_status: is_ready_without(&kind, "status"),
                without_spec: is_ready_without(&kind, "spec"),
            };
            let damaged = damages(&object, promised).into_iter();
            let mistakes = damaged.filter_map(|damaged| self.mistake(fixture, &damaged));
            let mistakes: Vec<Finding> = mistakes.collect();
            self.found.extend(listed(&fixture.name, &mistakes));
        }
    }

    /// The mistake in the verdict on a damaged form of a fixture's object.
    fn mistake(&mut self, fixture: &Fixture, damaged: &Damaged) -> Option<Finding> {
        let given = Fixture {
            object: damaged.object.to_string(),
            ..fixture.clone()
        };
        let (rule, what) = match self.examiner.judge(&given) {
            Ok(verdict) if verdict.phase == Phase::Ready && !damaged.may_be_ready => (
                Rule::WrongGreen,
                format!("it is {} {}", verdict.state, verdict.reason),
            ),
            Err(TrialError::Fault(fault))
                if !matches!(fault, Fault::InvalidObject(_) | Fault::InvalidSettings(_)) =>
            {
                (Rule::FailsOnDamage, fault.to_string())
            }
            _ => return None,
        };
        let what = format!("fixture `{}`, {}: {what}", fixture.name, damaged.how);
        Some(Finding { rule, what })
    }

    /// Returns whether a fixture promises that its object is ready.
    fn promises_ready(&mut self, fixture: &Fixture) -> bool {
        let states = &self.examination.interpreter().description().states;
        let promised = fixture.expect.is_ready(|name| {
            let mut states = states.iter();
            states.any(|state| *state.name == *name && state.phase == Phase::Ready)
        });
        promised.unwrap_or_else(|| {
            let verdict = self.examiner.judge(fixture);
            verdict.is_ok_and(|verdict| verdict.phase == Phase::Ready)
        })
    }
}

/// The first mistakes of each rule in the verdicts on the damaged forms of one object, and the number of the others.
fn listed(fixture: &str, mistakes: &[Finding]) -> Vec<Finding> {
    let mut listed = Vec::new();
    for rule in [Rule::WrongGreen, Rule::FailsOnDamage] {
        let mut of_rule = mistakes.iter().filter(|mistake| mistake.rule == rule);
        listed.extend(of_rule.by_ref().take(DAMAGES_TOLD_MAX).cloned());
        let more = of_rule.count();
        if more > 0 {
            let what = format!("fixture `{fixture}`: {more} more");
            listed.push(Finding { rule, what });
        }
    }
    listed
}

/// Returns whether the component judges objects of a Kind that have no status, and receives the status of the others.
fn judges_without_status(kind: &HandledKind) -> bool {
    let needs_status = kind
        .when
        .as_deref()
        .is_some_and(|when| when == "/status" || when.starts_with("/status/"));
    !needs_status && (kind.fields.is_whole() || kind.fields.get("status").is_some())
}

/// Returns whether an object has no status, or one without a member.
fn is_without_status(object: &Value) -> bool {
    match object.get("status") {
        None | Some(Value::Null) => true,
        Some(status) => status.as_object().is_some_and(Map::is_empty),
    }
}

fn object(fixture: &Fixture) -> Value {
    serde_json::from_str(&fixture.object).unwrap_or_default()
}

/// `apiVersion` and `kind`.
fn kind_name(object: &Value) -> (Value, Value) {
    let member = |name: &str| object.get(name).cloned().unwrap_or_default();
    (member("apiVersion"), member("kind"))
}

/// The position of the entry of the description that handles the object of a fixture.
fn kind_of(examination: &Examination, fixture: &Fixture) -> Option<usize> {
    let tree = Tree::read(&fixture.object).ok()?;
    let document = tree.document(&fixture.object);
    let root = document.root();
    let text = |name| root.get(name).text_or_empty();
    let api_version = text("apiVersion");
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let kinds = &examination.interpreter().description().kinds;
    handled(kinds, (group, version, text("kind")), root)
}

#[cfg(test)]
mod tests;
