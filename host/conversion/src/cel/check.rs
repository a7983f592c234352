//! Checks of rules before they become a component.

use kindsight_cel::{CompileError, Program, Template};
use kindsight_contract::{Description, Fixture, HandledKind, KindPattern};

use super::{Outcome, PARTS_MAX, Rule, RuleSet, data, fields, related};

/// Names that a variable cannot have, because they are variables already.
const TAKEN: [&str; 6] = [
    "apiVersion",
    "conditions",
    "kind",
    "metadata",
    "spec",
    "status",
];

/// The problems of the rules, each with its place.
pub(super) fn problems(rules: &RuleSet) -> Vec<String> {
    let mut problems = Vec::new();
    if rules.rules.is_empty() {
        problems.push("there is no rule".to_owned());
    }
    for rule in &rules.rules {
        let place = format!("{} ({})", rule.place, rule.kind_name());
        of_rule(rules, rule, &mut |at: &str, what: &str| {
            problems.push(format!("{place}: {at}: {what}"));
        });
    }
    if problems.is_empty() {
        problems.extend(of_contract(rules));
    }
    problems
}

fn of_rule(rules: &RuleSet, rule: &Rule, problem: &mut impl FnMut(&str, &str)) {
    for (name, count) in [
        ("cases", rule.cases.len()),
        ("variables", rule.variables.len()),
    ] {
        if count > PARTS_MAX {
            problem(name, &format!("{count} are over the limit of {PARTS_MAX}"));
        }
    }
    for (index, variable) in rule.variables.iter().enumerate() {
        let place = format!("variables[{index}]");
        let name = variable.name.as_str();
        let is_repeated = rule
            .variables
            .iter()
            .take(index)
            .any(|other| other.name == name);
        let is_of_related = !rule.related.is_empty() && related::VARIABLES.contains(&name);
        if TAKEN.contains(&name) || is_repeated || is_of_related {
            problem(
                &place,
                &format!("the name `{name}` is taken: choose another one"),
            );
        } else if !is_identifier(name) {
            problem(
                &place,
                &format!("`{name}` is not a name: use letters, digits and _"),
            );
        }
        expression(&place, "expression", &variable.expression, problem);
    }
    for (index, case) in rule.cases.iter().enumerate() {
        expression(&format!("cases[{index}]"), "if", &case.condition, problem);
    }
    for (place, outcome) in rule.outcomes() {
        of_outcome(rules, &place, outcome, problem);
    }
    related::problems(rules, rule, problem);
}

/// Returns whether a text is the name of a variable in CEL.
pub(super) fn is_identifier(name: &str) -> bool {
    matches!(Program::compile(name), Ok(program) if fields::is_variable(&program, name))
}

fn expression(place: &str, member: &str, text: &str, problem: &mut impl FnMut(&str, &str)) {
    if let Err(error) = Program::compile(text) {
        problem(&format!("{place}.{member}"), &invalid(&error, text));
    }
}

fn invalid(error: &CompileError, text: &str) -> String {
    /// Maximum length of the part of an expression that an error repeats, in bytes.
    const SHOWN_MAX: usize = 200;
    let end = text.floor_char_boundary(SHOWN_MAX);
    let shown = text.get(..end).unwrap_or_default();
    let more = if end < text.len() { "…" } else { "" };
    format!("{error} in `{shown}{more}`")
}

fn of_outcome(
    rules: &RuleSet,
    place: &str,
    outcome: &Outcome,
    problem: &mut impl FnMut(&str, &str),
) {
    if rules.phase(&outcome.state).is_none() {
        let what = format!(
            "`{}` is not a state: use Ready, Succeeded, Present, Suspended, Degraded, Pending, Terminating, Failed or Unknown, or declare it in `states`",
            outcome.state
        );
        problem(&format!("{place}.state"), &what);
    }
    for (member, text) in [("reason", &outcome.reason), ("message", &outcome.message)] {
        if let Err(error) = Template::compile(text) {
            problem(&format!("{place}.{member}"), &invalid(&error, text));
        }
    }
    if !outcome.reason.contains("${") && outcome.reason.contains(char::is_whitespace) {
        let what = format!(
            "`{}` is not a reason: write one word in CamelCase",
            outcome.reason
        );
        problem(&format!("{place}.reason"), &what);
    }
    if let Some(since) = &outcome.since {
        expression(place, "since", since, problem);
    }
}

/// The problems that the host would find in the description and the fixtures.
fn of_contract(rules: &RuleSet) -> Vec<String> {
    let kinds = rules.rules.iter().map(|rule| HandledKind {
        pattern: KindPattern {
            group: rule.group.clone(),
            version: rule.version.clone(),
            kind: rule.kind.clone(),
        },
        when: rule.when.clone(),
        fields: fields::of(rule),
        uses_now: rule.checks_deletion,
        related: related::requests(rule),
    });
    let states = rules.used_states().into_iter();
    let states = states.filter_map(|name| data::state(rules, name));
    let description = Description {
        name: rules.name.clone(),
        version: rules.version.clone(),
        summary: rules.summary.clone(),
        kinds: kinds.collect(),
        states: states.collect(),
        ..Description::default()
    };
    let described = Description::parse(&description.to_json()).err();
    let mut problems = described.unwrap_or_default();
    for problem in &mut problems {
        if let Some(rest) = problem.strip_prefix("kinds[") {
            *problem = format!("rules[{rest}");
        }
    }
    let fixtures = Fixture::parse_all(&data::fixtures(rules)).err();
    let fixtures = fixtures.unwrap_or_default().into_iter();
    problems.extend(fixtures.map(|problem| format!("fixtures{problem}")));
    problems
}
