//! The fields that a rule reads.

use kindsight_cel::{Program, Template, without_parts};
use kindsight_contract::limits::{FIELDS_MAX, POINTER_BYTES_MAX};

use super::{GenerationCheck, Rule, Variable, related};

/// Fields that every object has, whether they are requested or not.
const ALWAYS: [&str; 2] = ["/apiVersion", "/kind"];

/// The fields that a rule reads, as JSON pointers.
///
/// They follow from the expressions, so that the host keeps a verdict while none of them changes.
pub(super) fn of(rule: &Rule) -> Vec<String> {
    let mut pointers = of_variables(&rule.variables);
    pointers.extend(without_variables(of_verdict(rule), &rule.variables));
    pointers.retain(|pointer| !ALWAYS.contains(&pointer.as_str()));
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
    pointers.extend(rule.when.as_deref().map(up_to_index));
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

/// The fields that the variables of a rule read. A variable sees only the variables before it, so each other name in
/// its expression is a field, also the name of the variable itself.
fn of_variables(variables: &[Variable]) -> Vec<String> {
    let mut pointers = Vec::new();
    for (index, variable) in variables.iter().enumerate() {
        let mut read = Vec::new();
        add_expression(&variable.expression, &mut read);
        let visible = variables.get(..index).unwrap_or_default();
        pointers.extend(without_variables(read, visible));
    }
    pointers
}

/// The pointers that the cases and the verdicts of a rule read, also those of variables.
fn of_verdict(rule: &Rule) -> Vec<String> {
    let mut pointers = Vec::new();
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
    pointers
}

/// The pointers that do not begin with one of these variables.
fn without_variables(
    pointers: Vec<String>,
    variables: &[Variable],
) -> impl Iterator<Item = String> {
    pointers.into_iter().filter(move |pointer| {
        let mut variables = variables.iter();
        !variables.any(|variable| first_token(pointer) == variable.name)
    })
}

/// A pointer up to its first index. The pointer `when` may lead through the items of a list, but a requested pointer
/// may not, so the rule requests the complete list.
fn up_to_index(pointer: &str) -> String {
    let tokens = pointer.split('/').skip(1);
    let tokens = tokens.take_while(|token| token.parse::<usize>().is_err());
    tokens.fold(String::new(), |pointer, token| pointer + "/" + token)
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
