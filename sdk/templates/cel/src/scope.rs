//! The variables of a rule's expressions.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use kindsight_cel::{Budget, EvaluationError, Map, Program, Value, Variables};
use kindsight_sdk::prelude::*;

use crate::related;
use crate::rule::{Rule, program};

/// An expression with a name.
pub(crate) struct Named {
    name: String,
    program: Program,
}

impl Named {
    pub(crate) fn of_node(node: Node<'_>) -> Result<Self, String> {
        Ok(Self {
            name: node.get("name").text_or_empty().to_owned(),
            program: program(node.get("expression"))?,
        })
    }
}

/// The variables of one call: the named expressions of the rule, `conditions`, `related` and `coverage` if the rule
/// declares them, and the top-level fields of the object.
pub(crate) struct Scope<'a, 'c> {
    rule: &'a Rule,
    object: Node<'a>,
    object_conditions: Conditions<'a>,
    input: &'c Input<'a>,
    budget: &'c Budget,
    /// Number of visible named expressions: all before the expression that is evaluated.
    visible: Cell<usize>,
    /// The values of the named expressions so far.
    values: Vec<OnceCell<Result<Value<'a>, EvaluationError>>>,
    conditions: OnceCell<Value<'a>>,
    related: OnceCell<Value<'a>>,
}

impl<'a, 'c> Scope<'a, 'c> {
    pub(crate) fn new(
        rule: &'a Rule,
        object: Node<'a>,
        object_conditions: Conditions<'a>,
        input: &'c Input<'a>,
        budget: &'c Budget,
    ) -> Self {
        let variables = rule.variables();
        Self {
            rule,
            object,
            object_conditions,
            input,
            budget,
            visible: Cell::new(variables.len()),
            values: variables.iter().map(|_| OnceCell::new()).collect(),
            conditions: OnceCell::new(),
            related: OnceCell::new(),
        }
    }

    /// The named expression at this position, evaluated at its first use.
    fn named(&self, index: usize, named: &'a Named) -> Result<Value<'a>, EvaluationError> {
        let evaluate = || {
            let visible = self.visible.replace(index);
            let value = named.program.evaluate(self, self.budget);
            self.visible.set(visible);
            value
        };
        match self.values.get(index) {
            Some(value) => value.get_or_init(evaluate).clone(),
            None => evaluate(),
        }
    }

    /// The conditions of the present generation by their type.
    fn conditions(&self) -> Value<'a> {
        let conditions = || {
            let conditions = self.object_conditions.iter();
            let entries = conditions.filter(|condition| !condition.name().is_empty());
            let entries = entries.map(|condition| {
                (
                    Value::from(condition.name()),
                    Value::of_node(condition.node()),
                )
            });
            Value::Map(Map::Shared(entries.collect::<Rc<[_]>>()))
        };
        self.conditions.get_or_init(conditions).clone()
    }

    fn related(&self) -> Value<'a> {
        let related = || related::objects(self.rule.related(), self.input);
        self.related.get_or_init(related).clone()
    }
}

impl<'a> Variables<'a> for Scope<'a, '_> {
    fn variable(&self, name: &str) -> Result<Option<Value<'a>>, EvaluationError> {
        let variables = self
            .rule
            .variables()
            .iter()
            .enumerate()
            .take(self.visible.get());
        let mut named = variables.filter(|(_, named)| named.name == name);
        if let Some((index, named)) = named.next_back() {
            return self.named(index, named).map(Some);
        }
        let field = || Value::of_member(self.object.get(name));
        let has_related = !self.rule.related().is_empty();
        let is_extended = self.rule.is_extended();
        Ok(match name {
            "related" if has_related => Some(self.related()),
            "coverage" if has_related => Some(related::coverage(self.rule.related(), self.input)),
            "conditions" if is_extended => Some(self.conditions()),
            "metadata" | "spec" | "status" if is_extended => {
                let field = field().filter(|field| matches!(field, Value::Map(_)));
                Some(field.unwrap_or_else(|| Value::Map(Map::Shared(Rc::new([])))))
            }
            _ => field(),
        })
    }
}
