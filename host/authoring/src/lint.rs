//! Lints of a component: mistakes that its fixtures show, although they hold.

mod absence;

use std::collections::BTreeSet;

use kindsight_contract::damage::{Promised, damages};
use kindsight_contract::{Fixture, Tree, handled};
use kindsight_interpreter::{Examination, Examiner, Fault, LoadError, TrialError};
use kindsight_model::Phase;
use serde_json::Value;

use crate::coverage::IMPLIED_STATES;

/// Maximum number of wrong verdicts on damaged objects that are listed for one fixture.
const DAMAGES_TOLD_MAX: usize = 5;

/// The rule of a lint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The component has no fixtures.
    NoFixtures,
    /// A verdict depends on a field that the description does not request.
    UndeclaredField,
    /// No fixture reaches a declared state.
    UnreachedState,
    /// No fixture of a Kind has an object without a status.
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
        for state in &self.examination.interpreter().description().states {
            let is_implied = IMPLIED_STATES.contains(&&*state.name);
            if !is_implied && !verdicts.iter().any(|verdict| verdict.state == state.name) {
                let what = format!("no fixture reaches the state {}", state.name);
                self.add(Rule::UnreachedState, what);
            }
        }
    }

    fn objects_without_status(&mut self) {
        let kinds = &self.examination.interpreter().description().kinds;
        let mut without = vec![false; kinds.len()];
        for fixture in self.examination.fixtures() {
            if let Some(kind) = kind_of(self.examination, fixture)
                && object(fixture).get("status").is_none()
                && let Some(is_there) = without.get_mut(kind)
            {
                *is_there = true;
            }
        }
        for (kind, is_there) in kinds.iter().zip(without) {
            if !is_there {
                let what = format!(
                    "{}: no fixture has an object without a status, which each object has at first",
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
        let ready: Vec<Value> = fixtures
            .iter()
            .filter(|fixture| self.promises_ready(fixture))
            .map(object)
            .collect();
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
            let mut told = 0;
            for damaged in damages(&object, promised) {
                let given = Fixture {
                    object: damaged.object.to_string(),
                    ..fixture.clone()
                };
                let Some((rule, what)) = self.mistake(&given, damaged.may_be_ready) else {
                    continue;
                };
                told += 1;
                if told <= DAMAGES_TOLD_MAX {
                    self.add(
                        rule,
                        format!("fixture `{}`, {}: {what}", fixture.name, damaged.how),
                    );
                }
            }
            if told > DAMAGES_TOLD_MAX {
                let more = told - DAMAGES_TOLD_MAX;
                self.add(
                    Rule::FailsOnDamage,
                    format!("fixture `{}`: {more} more", fixture.name),
                );
            }
        }
    }

    fn mistake(&mut self, damaged: &Fixture, may_be_ready: bool) -> Option<(Rule, String)> {
        match self.examiner.judge(damaged) {
            Ok(verdict) if verdict.phase == Phase::Ready && !may_be_ready => Some((
                Rule::WrongGreen,
                format!("it is {} {}", verdict.state, verdict.reason),
            )),
            Err(TrialError::Fault(fault))
                if !matches!(fault, Fault::InvalidObject(_) | Fault::InvalidSettings(_)) =>
            {
                Some((Rule::FailsOnDamage, fault.to_string()))
            }
            _ => None,
        }
    }

    fn promises_ready(&self, fixture: &Fixture) -> bool {
        let state = fixture.expect.state.as_deref();
        let mut states = self.examination.interpreter().description().states.iter();
        states.any(|declared| Some(&*declared.name) == state && declared.phase == Phase::Ready)
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
