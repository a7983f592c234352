//! The fields that a rule reads.

use kindsight_cel::{Program, Template, without_parts};
use kindsight_contract::limits::{FIELDS_MAX, POINTER_BYTES_MAX};

use super::{GenerationCheck, Rule, related};

/// Fields that every object has, whether they are requested or not.
const ALWAYS: [&str; 2] = ["/apiVersion", "/kind"];

/// The fields that a rule reads, as JSON pointers.
///
/// They follow from the expressions, so that the host keeps a verdict while none of them changes.
pub(super) fn of(rule: &Rule) -> Vec<String> {
    let mut pointers = Vec::new();
    for variable in &rule.variables {
        add_expression(&variable.expression, &mut pointers);
    }
    for case in &rule.cases {
        add_expression(&case.condition, &mut pointers);
    }
    for (_, outcome) in rule.outcomes() {
        for text in [&outcome.reason, &outcome.message] {
            if let Ok(template) = Template::compile(text) {
                template.pointers(&mut pointers);
            }
        }
        if let Some(since) = &outcome.since {
            add_expression(since, &mut pointers);
        }
    }
    let is_variable = |pointer: &String| {
        let mut variables = rule.variables.iter();
        variables.any(|variable| first_token(pointer) == variable.name)
    };
    pointers.retain(|pointer| !is_variable(pointer) && !ALWAYS.contains(&pointer.as_str()));
    if !rule.related.is_empty() {
        pointers.retain(|pointer| !related::VARIABLES.contains(&first_token(pointer)));
    }
    let has_conditions = uses_conditions(rule, &pointers);
    if rule.is_extended {
        pointers.retain(|pointer| first_token(pointer) != "conditions");
    }
    let checked: [(bool, &[&str]); 3] = [
        (
            has_conditions,
            &["/metadata/generation", "/status/conditions"],
        ),
        (
            rule.checks_deletion,
            &["/metadata/deletionTimestamp", "/metadata/finalizers"],
        ),
        (
            rule.generation != GenerationCheck::Off,
            &["/metadata/generation", "/status/observedGeneration"],
        ),
    ];
    for (_, fields) in checked.iter().filter(|(is_checked, _)| *is_checked) {
        pointers.extend(fields.iter().map(|field| (*field).to_owned()));
    }
    pointers.extend(rule.when.clone());
    without_parts(&mut pointers);
    if pointers.len() > FIELDS_MAX || pointers.iter().any(|one| one.len() > POINTER_BYTES_MAX) {
        // A description has no room for the pointers, so the rule requests complete fields.
        for pointer in &mut pointers {
            *pointer = format!("/{}", first_token(pointer));
        }
        without_parts(&mut pointers);
    }
    pointers
}

fn uses_conditions(rule: &Rule, pointers: &[String]) -> bool {
    rule.is_extended
        && pointers
            .iter()
            .any(|pointer| first_token(pointer) == "conditions")
}

fn first_token(pointer: &str) -> &str {
    let rest = pointer.strip_prefix('/').unwrap_or(pointer);
    rest.split('/').next().unwrap_or_default()
}

fn add_expression(text: &str, pointers: &mut Vec<String>) {
    if let Ok(program) = Program::compile(text) {
        program.pointers(pointers);
    }
}

/// Returns whether an expression is only the variable with this name.
pub(super) fn is_variable(program: &Program, name: &str) -> bool {
    let mut pointers = Vec::new();
    program.pointers(&mut pointers);
    pointers == [format!("/{name}")]
}
