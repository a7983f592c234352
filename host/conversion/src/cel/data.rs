//! The data that the template reads.

use kindsight_contract::State;
use serde_json::{Value, json};

use super::{GenerationCheck, Outcome, Rule, RuleSet, fields, related};

/// The rules as the JSON text that `sdk/templates/cel/src/rules.rs` reads.
pub(super) fn of(rules: &RuleSet) -> String {
    let states = rules.used_states().into_iter();
    let states = states.filter_map(|name| state(rules, name)).map(|state| {
        json!({
            "name": state.name,
            "phase": state.phase.as_str(),
            "summary": state.summary,
            "final": state.is_final,
        })
    });
    json!({
        "name": rules.name,
        "version": rules.version,
        "summary": rules.summary,
        "states": states.collect::<Vec<_>>(),
        "rules": rules.rules.iter().map(rule).collect::<Vec<_>>(),
        "fixtures": fixtures(rules),
    })
    .to_string()
}

/// The fixtures as the JSON text of the contract.
pub(super) fn fixtures(rules: &RuleSet) -> String {
    Value::from(rules.fixtures.clone()).to_string()
}

/// The declaration of a state. A shared state has its summary in the SDK.
pub(super) fn state(rules: &RuleSet, name: &str) -> Option<State> {
    let own = rules.states.iter().find(|own| own.name == name);
    let summary = own.map_or(name, |own| own.summary.as_str());
    Some(State {
        name: name.to_owned(),
        phase: rules.phase(name)?,
        summary: summary.to_owned(),
        is_final: own.map_or(name == "Succeeded", |own| own.is_final),
    })
}

fn rule(rule: &Rule) -> Value {
    let cases = rule.cases.iter().map(|case| {
        let mut outcome = outcome(&case.outcome);
        if let Some(members) = outcome.as_object_mut() {
            members.insert("if".to_owned(), case.condition.clone().into());
        }
        outcome
    });
    let variables = rule.variables.iter();
    let variables = variables.map(|one| json!({"name": one.name, "expression": one.expression}));
    json!({
        "group": rule.group,
        "version": rule.version,
        "kind": rule.kind,
        "when": rule.when,
        "fields": fields::of(rule),
        "deletion": rule.checks_deletion,
        "generation": match rule.generation {
            GenerationCheck::Off => "off",
            GenerationCheck::Older => "older",
            GenerationCheck::Differs => "differs",
        },
        "extended": rule.is_extended,
        "related": related::data(rule),
        "variables": variables.collect::<Vec<_>>(),
        "cases": cases.collect::<Vec<_>>(),
        "otherwise": outcome(&rule.otherwise),
    })
}

fn outcome(outcome: &Outcome) -> Value {
    json!({
        "state": outcome.state,
        "reason": outcome.reason,
        "message": outcome.message,
        "since": outcome.since,
    })
}
