//! The parts of the items of lists that an expression reads.

use std::collections::BTreeSet;

use kindsight_contract::escaped;

use crate::expression::{Comprehension, Expression, Literal, Operator};
use crate::functions::Function;

/// The relation of a value to lists that have a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// Any other value, or a value that is read completely already.
    Other,
    /// A map from names to lists.
    Lists,
    /// The list with this name, or a part of its items.
    List(String),
    /// The value at a JSON pointer of an item of the list with this name.
    Part(String, String),
}

/// Parts of items: the name of the list, and a JSON pointer in its items. The empty pointer means the complete item.
pub type ItemParts = BTreeSet<(String, String)>;

impl Shape {
    fn member(self, name: &str) -> Self {
        match self {
            Self::Lists => Self::List(name.to_owned()),
            Self::Part(list, pointer) => {
                let pointer = format!("{pointer}/{}", escaped(name));
                Self::Part(list, pointer)
            }
            Self::List(_) | Self::Other => Self::Other,
        }
    }

    fn item(self) -> Self {
        match self {
            Self::List(name) => Self::Part(name, String::new()),
            _ => Self::Other,
        }
    }

    /// Returns whether the value may be `null` or a scalar, which has no members. A reduced item contains such a value
    /// only if it is requested. The fields at the top are maps in every object.
    fn may_be_scalar(&self) -> bool {
        matches!(self, Self::Part(_, pointer) if pointer.matches('/').count() > 1)
    }
}

/// Returns whether the value of an expression is certainly an optional that has no value if a reduced item lacks it.
fn is_optional_value(expression: &Expression) -> bool {
    match expression {
        // A member of an optional is optional.
        Expression::Select {
            operand,
            is_optional,
            ..
        }
        | Expression::Index {
            operand,
            is_optional,
            ..
        } => *is_optional || is_optional_value(operand),
        Expression::Call { function, .. } => matches!(function, Function::First | Function::Last),
        _ => false,
    }
}

/// Follows the items of lists through an expression.
pub(crate) struct Follower<'f> {
    /// The shape of a variable.
    variables: &'f dyn Fn(&str) -> Shape,
    /// The shapes of the variables of the enclosing macros, outermost first.
    locals: Vec<Shape>,
    parts: &'f mut ItemParts,
}

impl<'f> Follower<'f> {
    pub(crate) fn new(variables: &'f dyn Fn(&str) -> Shape, parts: &'f mut ItemParts) -> Self {
        Self {
            variables,
            locals: Vec::new(),
            parts,
        }
    }

    /// Notes a value that is read completely.
    pub(crate) fn read(&mut self, shape: Shape) {
        match shape {
            Shape::Other | Shape::Lists => {}
            Shape::List(list) => drop(self.parts.insert((list, String::new()))),
            Shape::Part(list, pointer) => drop(self.parts.insert((list, pointer))),
        }
    }

    /// Notes that the value of an expression is read completely.
    fn used(&mut self, expression: &Expression) {
        let shape = self.shape(expression);
        self.read(shape);
    }

    /// The shape of the value of an expression. Notes the parts that its evaluation reads.
    pub(crate) fn shape(&mut self, expression: &Expression) -> Shape {
        match expression {
            Expression::Literal(_) => Shape::Other,
            Expression::Variable(name) => (self.variables)(name),
            Expression::Local(index) => self.locals.get(*index).cloned().unwrap_or(Shape::Other),
            Expression::Select {
                operand,
                field,
                is_optional,
            } => self.member(operand, field, *is_optional),
            Expression::Has { operand, field } => self.has(operand, field),
            Expression::Index {
                operand,
                index,
                is_optional,
            } => self.indexed(operand, index, *is_optional),
            Expression::Call {
                function,
                arguments,
                ..
            } => self.call(*function, arguments),
            Expression::Conditional(parts) => {
                let [condition, yes, no] = &**parts;
                self.used(condition);
                self.either(yes, no)
            }
            Expression::Binary { operator, operands } => {
                let [left, right] = &**operands;
                if *operator == Operator::Add {
                    return self.either(left, right);
                }
                self.used(left);
                self.used(right);
                Shape::Other
            }
            Expression::Comprehension {
                kind,
                range,
                filter,
                body,
            } => self.comprehension(*kind, range, filter.as_deref(), body),
            Expression::OptionalMap { operand, body, .. } => {
                let local = self.shape(operand);
                self.with_local(local, |follower| follower.shape(body))
            }
            Expression::Not(operand) | Expression::Negative(operand) => {
                self.used(operand);
                Shape::Other
            }
            Expression::All(parts) | Expression::Any(parts) => self.all_used(&mut parts.iter()),
            Expression::List(items) => self.all_used(&mut items.iter().map(|item| &item.value)),
            Expression::Map(entries) => {
                self.all_used(&mut entries.iter().flat_map(|entry| [&entry.key, &entry.value]))
            }
        }
    }

    fn all_used(&mut self, expressions: &mut dyn Iterator<Item = &Expression>) -> Shape {
        for expression in expressions {
            self.used(expression);
        }
        Shape::Other
    }

    /// The first optional step of a chain (`.?`, `[?]`) has no value if the operand is `null` or a scalar, so it reads
    /// the operand.
    fn member(&mut self, operand: &Expression, name: &str, is_optional: bool) -> Shape {
        let shape = self.shape(operand);
        if is_optional && shape.may_be_scalar() && !is_optional_value(operand) {
            self.read(shape);
            return Shape::Other;
        }
        shape.member(name)
    }

    fn has(&mut self, operand: &Expression, field: &str) -> Shape {
        let operand = self.shape(operand);
        let read = if operand.may_be_scalar() {
            operand
        } else {
            operand.member(field)
        };
        // Whether a list has a name says nothing about its items.
        if !matches!(read, Shape::List(_)) {
            self.read(read);
        }
        Shape::Other
    }

    fn indexed(&mut self, operand: &Expression, index: &Expression, is_optional: bool) -> Shape {
        if let Expression::Literal(Literal::String(key)) = index {
            return self.member(operand, key, is_optional);
        }
        let operand = self.shape(operand);
        self.used(index);
        match operand {
            list @ Shape::List(_) => list.item(),
            other => {
                self.read(other);
                Shape::Other
            }
        }
    }

    fn call(&mut self, function: Function, arguments: &[Expression]) -> Shape {
        match (function, arguments) {
            (Function::Or | Function::OrValue, [operand, alternative]) => {
                self.either(operand, alternative)
            }
            (Function::OptionalOf | Function::ValueOf | Function::Reverse, [operand]) => {
                self.shape(operand)
            }
            (Function::First | Function::Last, [operand]) => {
                let operand = self.shape(operand);
                if !matches!(operand, Shape::List(_)) {
                    self.read(operand.clone());
                }
                operand.item()
            }
            (Function::Size | Function::HasValue, [operand]) => {
                let operand = self.shape(operand);
                // The number of items does not depend on their content.
                if !matches!(operand, Shape::List(_)) {
                    self.read(operand);
                }
                Shape::Other
            }
            _ => self.all_used(&mut arguments.iter()),
        }
    }

    /// The shape of a value that is one of two, or the sum of both.
    fn either(&mut self, one: &Expression, other: &Expression) -> Shape {
        let (one, other) = (self.shape(one), self.shape(other));
        match (one, other) {
            (one, other) if one == other => one,
            (one, Shape::Other) => one,
            (Shape::Other, other) => other,
            (one, other) => {
                self.read(one);
                self.read(other);
                Shape::Other
            }
        }
    }

    fn comprehension(
        &mut self,
        kind: Comprehension,
        range: &Expression,
        filter: Option<&Expression>,
        body: &Expression,
    ) -> Shape {
        let range = self.shape(range);
        if !matches!(range, Shape::List(_)) {
            self.read(range.clone());
        }
        self.with_local(range.clone().item(), |follower| {
            if let Some(filter) = filter {
                follower.used(filter);
            }
            follower.used(body);
        });
        match (kind, range) {
            (Comprehension::Filter, list @ Shape::List(_)) => list,
            _ => Shape::Other,
        }
    }

    fn with_local<T>(&mut self, local: Shape, follow: impl FnOnce(&mut Self) -> T) -> T {
        self.locals.push(local);
        let followed = follow(self);
        self.locals.pop();
        followed
    }
}
