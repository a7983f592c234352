//! Flux's `healthCheckExprs`: custom health checks in CEL.
//!
//! The order is as in `github.com/fluxcd/pkg/runtime/cel`: the observed generation first, then
//! `inProgress`, `failed` and `current`. If none is true, the object is in progress.

use serde::Deserialize;
use serde_json::Value;

use crate::cel::{Case, GenerationCheck, Outcome, Rule, RuleSet, RulesError};

/// Maximum number of documents in one file.
const DOCUMENTS_MAX: usize = 1024;

/// One entry of `healthCheckExprs`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct HealthCheck {
    api_version: String,
    /// Empty for every Kind of the group.
    #[serde(default)]
    kind: String,
    current: String,
    #[serde(default)]
    failed: String,
    #[serde(default)]
    in_progress: String,
}

/// Collects the checks of several files.
#[derive(Debug, Default)]
pub struct FluxChecks {
    checks: Vec<(String, HealthCheck)>,
}

impl FluxChecks {
    /// Adds the checks in a file: `Kustomizations` and `HelmReleases`, a list of them, or a bare list of
    /// checks. Other documents are ignored. Returns how many checks were found.
    ///
    /// # Errors
    /// If the text is not YAML, or a check is not valid.
    pub fn add(&mut self, file: &str, text: &str) -> Result<usize, RulesError> {
        let refused = |why: String| RulesError::Format {
            file: file.to_owned(),
            why,
        };
        let documents: Vec<Value> =
            serde_saphyr::from_multiple(text).map_err(|error| refused(error.to_string()))?;
        if documents.len() > DOCUMENTS_MAX {
            return Err(refused(format!("more than {DOCUMENTS_MAX} documents")));
        }
        let before = self.checks.len();
        for (index, document) in documents.iter().enumerate() {
            self.add_document(&format!("{file}: document {}", index + 1), document)?;
        }
        Ok(self.checks.len() - before)
    }

    fn add_document(&mut self, place: &str, document: &Value) -> Result<(), RulesError> {
        if let Some(items) = document.get("items").and_then(Value::as_array) {
            for (index, item) in items.iter().enumerate() {
                self.add_document(&format!("{place}: items[{index}]"), item)?;
            }
            return Ok(());
        }
        let name = document.pointer("/metadata/name").and_then(Value::as_str);
        let kind = document.get("kind").and_then(Value::as_str);
        let place = match (kind, name) {
            (Some(kind), Some(name)) => format!("{place}: {kind} {name}"),
            _ => place.to_owned(),
        };
        let checks = document
            .pointer("/spec/healthCheckExprs")
            .or_else(|| document.get("healthCheckExprs"))
            .unwrap_or(document);
        for (index, check) in checks.as_array().into_iter().flatten().enumerate() {
            let place = format!("{place}: healthCheckExprs[{index}]");
            let check = HealthCheck::deserialize(check);
            let check =
                check.map_err(|error| RulesError::Invalid(vec![format!("{place}: {error}")]))?;
            self.checks.push((place, check));
        }
        Ok(())
    }

    /// The rules of all checks. Equal checks of several resources are one rule.
    ///
    /// # Errors
    /// If two checks of one Kind differ, because one component has one rule for a Kind.
    pub fn rules(self, name: &str, version: &str) -> Result<RuleSet, RulesError> {
        let mut kept: Vec<(String, HealthCheck)> = Vec::new();
        let mut problems = Vec::new();
        for (place, check) in self.checks {
            let same_kind = |other: &&(String, HealthCheck)| {
                other.1.group() == check.group() && other.1.kind == check.kind
            };
            match kept.iter().find(same_kind) {
                None => kept.push((place, check)),
                Some((_, other)) if other.is_same(&check) => {}
                Some((other, _)) => problems.push(format!(
                    "{place}: differs from {other}, for the same Kind {}: convert them to two components",
                    check.kind
                )),
            }
        }
        if !problems.is_empty() {
            return Err(RulesError::Invalid(problems));
        }
        Ok(RuleSet {
            name: name.to_owned(),
            version: version.to_owned(),
            summary: format!("Flux health checks of {} Kinds", kept.len()),
            rules: kept
                .into_iter()
                .map(|(place, check)| check.rule(place))
                .collect(),
            ..RuleSet::default()
        })
    }
}

impl HealthCheck {
    /// The group. Flux does not compare the version.
    fn group(&self) -> &str {
        self.api_version
            .split_once('/')
            .map_or("", |(group, _)| group)
    }

    fn is_same(&self, other: &Self) -> bool {
        self.current == other.current
            && self.failed == other.failed
            && self.in_progress == other.in_progress
    }

    fn rule(self, place: String) -> Rule {
        let cases = [
            (&self.in_progress, "Pending", "InProgress", "inProgress"),
            (&self.failed, "Failed", "Failed", "failed"),
            (&self.current, "Ready", "Current", "current"),
        ];
        let cases = cases
            .into_iter()
            .filter(|(condition, ..)| !condition.is_empty());
        let cases = cases.map(|(condition, state, reason, member)| Case {
            condition: condition.clone(),
            outcome: outcome(state, reason, &format!("the expression `{member}` is true")),
        });
        Rule {
            place,
            group: self.group().to_owned(),
            version: "*".to_owned(),
            cases: cases.collect(),
            kind: if self.kind.is_empty() {
                "*".to_owned()
            } else {
                self.kind
            },
            when: None,
            checks_deletion: true,
            generation: GenerationCheck::Differs,
            is_extended: false,
            related: Vec::new(),
            variables: Vec::new(),
            otherwise: outcome("Pending", "InProgress", "no expression is true"),
        }
    }
}

fn outcome(state: &str, reason: &str, message: &str) -> Outcome {
    Outcome {
        state: state.to_owned(),
        reason: reason.to_owned(),
        message: message.to_owned(),
        since: None,
    }
}

#[cfg(test)]
mod tests;
