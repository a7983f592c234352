//! Related objects of a rule: the requests to the host, and checks of the expressions that read them.

use std::collections::BTreeSet;

use kindsight_cel::{ItemParts, Program, Shape, Template, without_parts};
use kindsight_contract::limits::FIELDS_MAX;
use kindsight_contract::{Phase, RelatedRule};
use serde_json::{Value, json};

use super::{Outcome, Rule, RuleSet};

/// The variable with the lists of related objects.
const RELATED: &str = "related";
/// The variable with the coverage of each list.
const COVERAGE: &str = "coverage";
/// Both variables, which only rules with related objects have.
pub(super) const VARIABLES: [&str; 2] = [RELATED, COVERAGE];

/// A list of related objects, under its name in expressions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedList {
    /// The name: `pods` is `related.pods` in expressions.
    pub name: String,
    /// The request to the host. Its fields are empty here: they follow from the expressions.
    pub request: RelatedRule,
}

/// The requests of a rule with the fields that its expressions read, in the order of the lists.
pub(super) fn requests(rule: &Rule) -> Vec<RelatedRule> {
    let parts = parts(rule);
    let lists = rule.related.iter();
    let requests = lists.map(|list| {
        let own = parts.iter().filter(|(name, _)| *name == list.name);
        let mut fields: Vec<String> = own.map(|(_, pointer)| pointer.clone()).collect();
        // The complete object. It has no token in common with the other pointers.
        if fields.iter().any(String::is_empty) || fields.len() > FIELDS_MAX {
            fields = vec![String::new()];
        }
        without_parts(&mut fields);
        RelatedRule {
            fields,
            ..list.request.clone()
        }
    });
    requests.collect()
}

/// The data of the lists for the template.
pub(super) fn data(rule: &Rule) -> Vec<Value> {
    let lists = rule.related.iter().zip(requests(rule));
    let lists = lists.map(|(list, request)| {
        json!({
            "name": list.name,
            "group": request.pattern.group,
            "kind": request.pattern.kind,
            "relation": request.relation.as_str(),
            "by": request.relation.by(),
            "fields": request.fields,
            "limit": request.limit,
        })
    });
    lists.collect()
}

/// The parts of related objects that the expressions of a rule read.
fn parts(rule: &Rule) -> ItemParts {
    let mut parts = ItemParts::new();
    let mut shapes: Vec<(&str, Shape)> = vec![(RELATED, Shape::Lists)];
    for variable in &rule.variables {
        if let Ok(program) = Program::compile(&variable.expression) {
            let shape = program.item_parts(&|name| shape_of(&shapes, name), &mut parts);
            shapes.push((&variable.name, shape));
        }
    }
    let shape = |name: &str| shape_of(&shapes, name);
    for case in &rule.cases {
        read(&case.condition, &shape, &mut parts);
    }
    for (_, outcome) in rule.outcomes() {
        for text in [&outcome.reason, &outcome.message] {
            if let Ok(template) = Template::compile(text) {
                template.read_item_parts(&shape, &mut parts);
            }
        }
        if let Some(since) = &outcome.since {
            read(since, &shape, &mut parts);
        }
    }
    parts
}

fn shape_of(shapes: &[(&str, Shape)], name: &str) -> Shape {
    let mut shapes = shapes.iter();
    let known = shapes.find(|(known, _)| *known == name);
    known.map_or(Shape::Other, |(_, shape)| shape.clone())
}

fn read(expression: &str, shape: &dyn Fn(&str) -> Shape, parts: &mut ItemParts) {
    if let Ok(program) = Program::compile(expression) {
        program.read_item_parts(shape, parts);
    }
}

/// The problems of the related objects of a rule.
pub(super) fn problems(rules: &RuleSet, rule: &Rule, problem: &mut impl FnMut(&str, &str)) {
    if rule.related.is_empty() {
        return;
    }
    for (index, list) in rule.related.iter().enumerate() {
        let place = format!("related[{index}].name");
        let is_repeated = rule
            .related
            .iter()
            .take(index)
            .any(|other| other.name == list.name);
        if is_repeated {
            let what = format!("the name `{}` is taken: choose another one", list.name);
            problem(&place, &what);
        } else if !super::check::is_identifier(&list.name) {
            let what = format!("`{}` is not a name: use letters, digits and _", list.name);
            problem(&place, &what);
        }
    }
    let mut pointers = BTreeSet::new();
    for (index, variable) in rule.variables.iter().enumerate() {
        let place = format!("variables[{index}].expression");
        let used = pointers_of(&variable.expression);
        undeclared(rule, &place, &used, problem);
        pointers.extend(used);
    }
    for (index, case) in rule.cases.iter().enumerate() {
        let place = format!("cases[{index}]");
        let used = pointers_of(&case.condition);
        undeclared(rule, &format!("{place}.if"), &used, problem);
        green_by_absence(rules, rule, &case.outcome, (&place, &used), problem);
        pointers.extend(used);
    }
    for (place, outcome) in rule.outcomes() {
        let used = pointers_of_outcome(outcome);
        undeclared(rule, &place, &used, problem);
        pointers.extend(used);
    }
    for (index, list) in rule.related.iter().enumerate() {
        let is_used = VARIABLES.iter().any(|variable| {
            pointers
                .iter()
                .any(|used| names(used, variable, &list.name))
        });
        if !is_used {
            let what = format!("no expression reads `related.{}`: remove it", list.name);
            problem(&format!("related[{index}]"), &what);
        }
    }
}

/// Returns whether a pointer is of a member of a variable, or of a part of it.
fn names(pointer: &str, variable: &str, member: &str) -> bool {
    let mut tokens = pointer.split('/').skip(1);
    tokens.next() == Some(variable) && tokens.next() == Some(member)
}

fn pointers_of(expression: &str) -> BTreeSet<String> {
    let mut pointers = Vec::new();
    if let Ok(program) = Program::compile(expression) {
        program.pointers(&mut pointers);
    }
    pointers.into_iter().collect()
}

fn pointers_of_outcome(outcome: &Outcome) -> BTreeSet<String> {
    let mut pointers = Vec::new();
    for text in [&outcome.reason, &outcome.message] {
        if let Ok(template) = Template::compile(text) {
            template.pointers(&mut pointers);
        }
    }
    let since = outcome.since.as_deref().map(pointers_of);
    pointers
        .into_iter()
        .chain(since.unwrap_or_default())
        .collect()
}

/// A list that is not declared, or whose name is computed, so that its fields cannot be found.
fn undeclared(
    rule: &Rule,
    place: &str,
    pointers: &BTreeSet<String>,
    problem: &mut impl FnMut(&str, &str),
) {
    for pointer in pointers {
        let mut tokens = pointer.split('/').skip(1);
        let Some(variable) = tokens.next().filter(|token| VARIABLES.contains(token)) else {
            continue;
        };
        match tokens.next() {
            None => {
                let what = format!("write `{variable}.` and the name of a list in `related`");
                problem(place, &what);
            }
            Some(name) if rule.related.iter().any(|list| list.name == name) => {}
            Some(name) => {
                let known = rule.related.iter().map(|list| list.name.as_str());
                let known = known.collect::<Vec<_>>().join(", ");
                let what = format!("`{name}` is not a name in `related`, which has {known}");
                problem(place, &what);
            }
        }
    }
}

/// A green case must not follow from the absence of objects that the host may not know.
fn green_by_absence(
    rules: &RuleSet,
    rule: &Rule,
    outcome: &Outcome,
    (place, condition): (&str, &BTreeSet<String>),
    problem: &mut impl FnMut(&str, &str),
) {
    let phase = rules.phase(&outcome.state);
    if !matches!(phase, Some(Phase::Ready | Phase::Present)) {
        return;
    }
    let read = with_variables(rule, condition);
    for list in &rule.related {
        let reads = |variable: &str| {
            read.iter()
                .any(|pointer| names(pointer, variable, &list.name))
        };
        if reads(RELATED) && !reads(COVERAGE) {
            let (name, state) = (&list.name, &outcome.state);
            let what = format!(
                "{state} depends on `related.{name}`, which may lack objects: put a case for the problem before this one, or test `coverage.{name} == 'complete'` too"
            );
            problem(&format!("{place}.if"), &what);
        }
    }
}

/// The pointers of an expression, and of the variables of the rule that it reads.
fn with_variables(rule: &Rule, pointers: &BTreeSet<String>) -> BTreeSet<String> {
    let mut all = pointers.clone();
    // A variable can read only those before it.
    for variable in rule.variables.iter().rev() {
        let own = format!("/{}", variable.name);
        let is_read = all.iter().any(|pointer| {
            let rest = pointer.strip_prefix(&own);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        if is_read {
            all.extend(pointers_of(&variable.expression));
        }
    }
    all
}
