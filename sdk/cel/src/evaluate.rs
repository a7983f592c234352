//! Evaluation of expressions.

use std::rc::Rc;

use crate::error::Evaluated;
use crate::expression::{Comprehension, Expression, ListItem, Literal, MapEntry, Operator};
use crate::functions::{Function, has_item};
use crate::time::Timestamp;
use crate::{Budget, EvaluationError, List, Map, Value};

/// The variables of an expression.
pub trait Variables<'a> {
    /// The value of the variable with this name, or `None` if it does not exist.
    ///
    /// # Errors
    /// If the variable is an expression that has no value.
    fn variable(&self, name: &str) -> Result<Option<Value<'a>>, EvaluationError>;
}

pub(crate) fn evaluate<'a>(
    expression: &'a Expression,
    variables: &dyn Variables<'a>,
    budget: &Budget,
) -> Evaluated<Value<'a>> {
    let mut evaluation = Evaluation {
        variables,
        budget,
        locals: Vec::new(),
    };
    evaluation.value(expression)
}

struct Evaluation<'a, 'v> {
    variables: &'v dyn Variables<'a>,
    budget: &'v Budget,
    /// The values of the variables of the enclosing macros, outermost first.
    locals: Vec<Value<'a>>,
}

impl<'a> Evaluation<'a, '_> {
    fn value(&mut self, expression: &'a Expression) -> Evaluated<Value<'a>> {
        self.budget.step()?;
        match expression {
            Expression::Literal(literal) => Ok(literal_value(literal)),
            Expression::Variable(name) => {
                let value = self.variables.variable(name)?;
                value.ok_or_else(|| EvaluationError::NoSuchVariable(name.clone()))
            }
            Expression::Local(index) => {
                let local = self.locals.get(*index).cloned();
                local.ok_or_else(|| EvaluationError::NoSuchVariable(index.to_string()))
            }
            Expression::Select {
                operand,
                field,
                is_optional,
            } => select(&self.value(operand)?, field, *is_optional),
            Expression::Has { operand, field } => Ok(has(&self.value(operand)?, field)),
            Expression::Index {
                operand,
                index,
                is_optional,
            } => {
                let (operand, index) = (self.value(operand)?, self.value(index)?);
                indexed(&operand, &index, *is_optional)
            }
            Expression::Call {
                function: function @ (Function::Or | Function::OrValue),
                arguments,
                ..
            } => self.alternative(*function, arguments),
            Expression::Call {
                function,
                arguments,
                pattern,
            } => {
                let values = self.values(arguments)?;
                function.call(&values, pattern, self.budget)
            }
            Expression::List(items) => self.list(items),
            Expression::Map(entries) => self.map(entries),
            Expression::All(parts) => self.logical(parts, false),
            Expression::Any(parts) => self.logical(parts, true),
            Expression::Not(operand) => negated(&self.value(operand)?),
            Expression::Negative(operand) => negative(&self.value(operand)?),
            Expression::Conditional(parts) => self.conditional(parts),
            Expression::Binary { operator, operands } => {
                let [left, right] = &**operands;
                let (left, right) = (self.value(left)?, self.value(right)?);
                binary(*operator, &left, &right, self.budget)
            }
            Expression::Comprehension {
                kind,
                range,
                filter,
                body,
            } => {
                let items = items_of(&self.value(range)?)?;
                self.comprehension(*kind, items, filter.as_deref(), body)
            }
            Expression::OptionalMap {
                operand,
                body,
                is_flat,
            } => self.optional_map(operand, body, *is_flat),
        }
    }

    fn values(&mut self, expressions: &'a [Expression]) -> Evaluated<Vec<Value<'a>>> {
        let values = expressions.iter();
        values.map(|expression| self.value(expression)).collect()
    }

    fn conditional(&mut self, parts: &'a [Expression; 3]) -> Evaluated<Value<'a>> {
        let [condition, yes, no] = parts;
        match self.value(condition)? {
            Value::Bool(true) => self.value(yes),
            Value::Bool(false) => self.value(no),
            other => Err(EvaluationError::no_overload("?:", &[other.type_name()])),
        }
    }

    /// A chain of `||`, whose result is true as soon as one part is true, or of `&&`. An error counts
    /// only if no part determines the result.
    fn logical(&mut self, parts: &'a [Expression], decisive: bool) -> Evaluated<Value<'a>> {
        let mut outcome = Outcome::new(decisive);
        for part in parts {
            let value = self.value(part);
            if outcome.is_decided_by(value)? {
                return Ok(Value::Bool(decisive));
            }
        }
        outcome.end()
    }

    fn comprehension(
        &mut self,
        kind: Comprehension,
        items: Vec<Value<'a>>,
        filter: Option<&'a Expression>,
        body: &'a Expression,
    ) -> Evaluated<Value<'a>> {
        match kind {
            Comprehension::All | Comprehension::Exists => {
                let decisive = kind == Comprehension::Exists;
                let mut outcome = Outcome::new(decisive);
                for item in items {
                    let value = self.with_local(item, body);
                    if outcome.is_decided_by(value)? {
                        return Ok(Value::Bool(decisive));
                    }
                }
                outcome.end()
            }
            Comprehension::ExistsOne => {
                let mut matching = 0_usize;
                for item in items {
                    matching += usize::from(self.holds(item, body)?);
                }
                Ok(Value::Bool(matching == 1))
            }
            Comprehension::Filter => {
                let mut kept = Vec::new();
                for item in items {
                    if self.holds(item.clone(), body)? {
                        kept.push(item);
                    }
                }
                Ok(Value::from(kept))
            }
            Comprehension::Map => {
                let mut mapped = Vec::new();
                for item in items {
                    if let Some(filter) = filter
                        && !self.holds(item.clone(), filter)?
                    {
                        continue;
                    }
                    mapped.push(self.with_local(item, body)?);
                }
                Ok(Value::from(mapped))
            }
        }
    }

    /// The value of the body of a macro, with the value of its variable.
    fn with_local(&mut self, local: Value<'a>, body: &'a Expression) -> Evaluated<Value<'a>> {
        self.locals.push(local);
        let value = self.value(body);
        self.locals.pop();
        value
    }

    /// The value of the body of a macro as a condition.
    fn holds(&mut self, local: Value<'a>, body: &'a Expression) -> Evaluated<bool> {
        match self.with_local(local, body)? {
            Value::Bool(flag) => Ok(flag),
            other => Err(EvaluationError::NotABool(other.type_name())),
        }
    }

    /// `or` and `orValue`, which evaluate their argument only if the operand has no value.
    fn alternative(
        &mut self,
        function: Function,
        arguments: &'a [Expression],
    ) -> Evaluated<Value<'a>> {
        let [operand, other] = arguments else {
            return Err(EvaluationError::no_overload(function.name(), &[]));
        };
        match (self.value(operand)?, function) {
            (value @ Value::Optional(Some(_)), Function::Or) => Ok(value),
            (Value::Optional(Some(value)), _) => Ok(Value::clone(&value)),
            (Value::Optional(None), Function::Or) => match self.value(other)? {
                value @ Value::Optional(_) => Ok(value),
                value => Err(EvaluationError::no_overload(
                    "or",
                    &["optional_type", value.type_name()],
                )),
            },
            (Value::Optional(None), _) => self.value(other),
            (value, _) => Err(EvaluationError::no_overload(
                function.name(),
                &[value.type_name()],
            )),
        }
    }

    fn optional_map(
        &mut self,
        operand: &'a Expression,
        body: &'a Expression,
        is_flat: bool,
    ) -> Evaluated<Value<'a>> {
        let name = if is_flat { "optFlatMap" } else { "optMap" };
        let value = match self.value(operand)? {
            Value::Optional(Some(value)) => Value::clone(&value),
            Value::Optional(None) => return Ok(Value::Optional(None)),
            other => return Err(EvaluationError::no_overload(name, &[other.type_name()])),
        };
        match self.with_local(value, body)? {
            mapped if !is_flat => Ok(Value::optional(Some(mapped))),
            mapped @ Value::Optional(_) => Ok(mapped),
            other => Err(EvaluationError::no_overload(name, &[other.type_name()])),
        }
    }

    fn list(&mut self, items: &'a [ListItem]) -> Evaluated<Value<'a>> {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            let value = self.value(&item.value)?;
            if item.is_optional {
                values.extend(optional_of(&value)?);
            } else {
                values.push(value);
            }
        }
        Ok(Value::from(values))
    }

    fn map(&mut self, entries: &'a [MapEntry]) -> Evaluated<Value<'a>> {
        let mut pairs: Vec<(Value<'a>, Value<'a>)> = Vec::with_capacity(entries.len());
        for entry in entries {
            let key = self.value(&entry.key)?;
            let value = self.value(&entry.value)?;
            let is_key = matches!(
                key,
                Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::String(_)
            );
            if !is_key {
                return Err(EvaluationError::no_overload("{}", &[key.type_name()]));
            }
            let value = if entry.is_optional {
                optional_of(&value)?
            } else {
                Some(value)
            };
            // As in cel-go, the last value of a key counts.
            self.budget.steps(pairs.len())?;
            pairs.retain(|(known, _)| !known.is_same_scalar(&key));
            pairs.extend(value.map(|value| (key, value)));
        }
        Ok(Value::Map(Map::Shared(pairs.into())))
    }
}

/// The result of a chain of conditions so far.
struct Outcome {
    /// The value that determines the result.
    decisive: bool,
    error: Option<EvaluationError>,
}

impl Outcome {
    fn new(decisive: bool) -> Self {
        Self {
            decisive,
            error: None,
        }
    }

    /// Returns whether the next value determines the result. Keeps the first error.
    fn is_decided_by(&mut self, value: Evaluated<Value<'_>>) -> Evaluated<bool> {
        let error = match value {
            Ok(Value::Bool(flag)) => return Ok(flag == self.decisive),
            Ok(other) => EvaluationError::NotABool(other.type_name()),
            Err(EvaluationError::BudgetSpent) => return Err(EvaluationError::BudgetSpent),
            Err(error) => error,
        };
        self.error.get_or_insert(error);
        Ok(false)
    }

    /// The result if no value determined it.
    fn end<'a>(self) -> Evaluated<Value<'a>> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(Value::Bool(!self.decisive)),
        }
    }
}

fn literal_value(literal: &Literal) -> Value<'_> {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(flag) => Value::Bool(*flag),
        Literal::Int(number) => Value::Int(*number),
        Literal::Uint(number) => Value::Uint(*number),
        Literal::Double(float) => Value::Double(*float),
        Literal::String(text) => Value::from(text.as_str()),
        Literal::Bytes(bytes) => Value::Bytes(bytes.as_slice().into()),
        Literal::Type(name) => Value::Type(name),
    }
}

/// The value of an optional, for an element or an entry with `?`.
fn optional_of<'a>(value: &Value<'a>) -> Evaluated<Option<Value<'a>>> {
    match value {
        Value::Optional(value) => Ok(value.as_deref().cloned()),
        other => Err(EvaluationError::no_overload("?", &[other.type_name()])),
    }
}

/// The items of a list, or the keys of a map.
fn items_of<'a>(range: &Value<'a>) -> Evaluated<Vec<Value<'a>>> {
    match range {
        Value::List(list) => Ok(list.items()),
        Value::Map(map) => Ok(map.keys()),
        other => Err(EvaluationError::no_overload(
            "a macro",
            &[other.type_name()],
        )),
    }
}

/// The value of a field. An optional field that is `null` is absent: an API server removes such a
/// field, and reports and tests of other tools have it.
fn select<'a>(operand: &Value<'a>, field: &str, is_optional: bool) -> Evaluated<Value<'a>> {
    match operand {
        Value::Map(map) => match (map.field(field), is_optional) {
            (Some(Value::Null), true) => Ok(Value::Optional(None)),
            (value, true) => Ok(Value::optional(value)),
            (Some(value), false) => Ok(value),
            (None, false) => Err(EvaluationError::NoSuchKey(field.to_owned())),
        },
        // A field of an optional is optional.
        Value::Optional(None) => Ok(Value::Optional(None)),
        Value::Optional(Some(value)) => select(value, field, true),
        _ if is_optional => Ok(Value::Optional(None)),
        other => Err(EvaluationError::no_overload(
            "a field",
            &[other.type_name()],
        )),
    }
}

/// Returns whether a value has a field. As in cel-go, only a map has one, and no other value is an
/// error.
fn has<'a>(operand: &Value<'a>, field: &str) -> Value<'a> {
    match operand {
        Value::Map(map) => Value::Bool(map.field(field).is_some()),
        Value::Optional(Some(value)) => has(value, field),
        _ => Value::Bool(false),
    }
}

fn indexed<'a>(operand: &Value<'a>, index: &Value<'a>, is_optional: bool) -> Evaluated<Value<'a>> {
    let found = match operand {
        Value::Optional(None) => return Ok(Value::Optional(None)),
        Value::Optional(Some(value)) => return indexed(value, index, true),
        Value::List(list) => {
            let at = whole(index)
                .ok_or_else(|| EvaluationError::no_overload("[]", &["list", index.type_name()]))?;
            list.get(at).ok_or(EvaluationError::OutOfRange(at))
        }
        Value::Map(map) => map.get(index).ok_or_else(|| {
            EvaluationError::NoSuchKey(index.as_str().unwrap_or(index.type_name()).to_owned())
        }),
        // As in cel-go, `null` and a scalar have no members.
        _ if is_optional => return Ok(Value::Optional(None)),
        other => {
            return Err(EvaluationError::no_overload(
                "[]",
                &[other.type_name(), index.type_name()],
            ));
        }
    };
    if is_optional {
        return Ok(Value::optional(found.ok()));
    }
    found
}

/// Converts a whole number to an index.
fn whole(index: &Value<'_>) -> Option<i64> {
    match index {
        Value::Int(at) => Some(*at),
        Value::Uint(at) => i64::try_from(*at).ok(),
        Value::Double(float) if float.fract() == 0.0 && float.abs() < 4_503_599_627_370_496.0 =>
        {
            #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
            Some(*float as i64)
        }
        _ => None,
    }
}

fn negated<'a>(operand: &Value<'a>) -> Evaluated<Value<'a>> {
    match operand {
        Value::Bool(flag) => Ok(Value::Bool(!flag)),
        other => Err(EvaluationError::no_overload("!", &[other.type_name()])),
    }
}

fn negative<'a>(operand: &Value<'a>) -> Evaluated<Value<'a>> {
    match operand {
        Value::Int(number) => number.checked_neg().map(Value::Int),
        Value::Double(float) => Some(Value::Double(-float)),
        Value::Duration(nanoseconds) => nanoseconds.checked_neg().map(Value::Duration),
        other => return Err(EvaluationError::no_overload("-", &[other.type_name()])),
    }
    .ok_or(EvaluationError::Overflow("int"))
}

fn binary<'a>(
    operator: Operator,
    left: &Value<'a>,
    right: &Value<'a>,
    budget: &Budget,
) -> Evaluated<Value<'a>> {
    match operator {
        Operator::Equal => left.is_same(right, budget).map(Value::Bool),
        Operator::NotEqual => left.is_same(right, budget).map(|same| Value::Bool(!same)),
        Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => {
            let order = left.compare(operator.symbol(), right)?;
            Ok(Value::Bool(order.is_some_and(|order| match operator {
                Operator::Less => order.is_lt(),
                Operator::LessOrEqual => order.is_le(),
                Operator::Greater => order.is_gt(),
                _ => order.is_ge(),
            })))
        }
        Operator::In => contains(left, right, budget),
        _ => arithmetic(operator, left, right, budget),
    }
}

fn contains<'a>(item: &Value<'a>, range: &Value<'a>, budget: &Budget) -> Evaluated<Value<'a>> {
    match range {
        Value::List(list) => has_item(&list.items(), item, budget).map(Value::Bool),
        Value::Map(map) => Ok(Value::Bool(map.get(item).is_some())),
        other => Err(EvaluationError::no_overload(
            "in",
            &[item.type_name(), other.type_name()],
        )),
    }
}

fn arithmetic<'a>(
    operator: Operator,
    left: &Value<'a>,
    right: &Value<'a>,
    budget: &Budget,
) -> Evaluated<Value<'a>> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => ints(operator, *left, *right).map(Value::Int),
        (Value::Uint(left), Value::Uint(right)) => uints(operator, *left, *right).map(Value::Uint),
        (Value::Double(one), Value::Double(other)) => match operator {
            Operator::Add => Ok(Value::Double(one + other)),
            Operator::Subtract => Ok(Value::Double(one - other)),
            Operator::Multiply => Ok(Value::Double(one * other)),
            Operator::Divide => Ok(Value::Double(one / other)),
            _ => Err(no_overload(operator, left, right)),
        },
        (Value::Timestamp(_) | Value::Duration(_), _) | (_, Value::Timestamp(_)) => {
            times(operator, left, right)
        }
        _ if operator == Operator::Add => concatenated(left, right, budget),
        _ => Err(no_overload(operator, left, right)),
    }
}

fn no_overload(operator: Operator, left: &Value<'_>, right: &Value<'_>) -> EvaluationError {
    EvaluationError::no_overload(operator.symbol(), &[left.type_name(), right.type_name()])
}

fn ints(operator: Operator, left: i64, right: i64) -> Evaluated<i64> {
    let is_division = matches!(operator, Operator::Divide | Operator::Modulo);
    if is_division && right == 0 {
        return Err(EvaluationError::DivisionByZero);
    }
    let result = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide => left.checked_div(right),
        _ => left.checked_rem(right),
    };
    result.ok_or(EvaluationError::Overflow("int"))
}

fn uints(operator: Operator, left: u64, right: u64) -> Evaluated<u64> {
    let is_division = matches!(operator, Operator::Divide | Operator::Modulo);
    if is_division && right == 0 {
        return Err(EvaluationError::DivisionByZero);
    }
    let result = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide => left.checked_div(right),
        _ => left.checked_rem(right),
    };
    result.ok_or(EvaluationError::Overflow("uint"))
}

/// Sums and differences of times and durations.
fn times<'a>(operator: Operator, left: &Value<'a>, right: &Value<'a>) -> Evaluated<Value<'a>> {
    let at = |time: Option<Timestamp>| time.map(Value::Timestamp);
    let result = match (operator, left, right) {
        (Operator::Add, Value::Timestamp(time), Value::Duration(by))
        | (Operator::Add, Value::Duration(by), Value::Timestamp(time)) => at(time.plus(*by)),
        (Operator::Add, Value::Duration(one), Value::Duration(other)) => {
            one.checked_add(*other).map(Value::Duration)
        }
        (Operator::Subtract, Value::Timestamp(time), Value::Duration(by)) => {
            at(by.checked_neg().and_then(|by| time.plus(by)))
        }
        (Operator::Subtract, Value::Timestamp(one), Value::Timestamp(other)) => {
            one.minus(*other).map(Value::Duration)
        }
        (Operator::Subtract, Value::Duration(one), Value::Duration(other)) => {
            one.checked_sub(*other).map(Value::Duration)
        }
        _ => return Err(no_overload(operator, left, right)),
    };
    result.ok_or(EvaluationError::Overflow("time"))
}

fn concatenated<'a>(left: &Value<'a>, right: &Value<'a>, budget: &Budget) -> Evaluated<Value<'a>> {
    match (left, right) {
        (Value::String(one), Value::String(other)) => {
            let (one, other) = (one.as_str(), other.as_str());
            budget.bytes(one.len() + other.len())?;
            Ok([one, other].concat().into())
        }
        (Value::Bytes(one), Value::Bytes(other)) => {
            budget.bytes(one.len() + other.len())?;
            Ok(Value::Bytes(Rc::from([&**one, &**other].concat())))
        }
        (Value::List(one), Value::List(other)) => {
            budget.steps(one.len() + other.len())?;
            let mut items = one.items();
            items.extend(other.items());
            Ok(Value::List(List::Shared(items.into())))
        }
        _ => Err(no_overload(Operator::Add, left, right)),
    }
}
