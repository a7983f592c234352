//! Operators, and access to tables with their metatables.

use std::cmp::Ordering;

use super::{Machine, is_true};
use crate::error::Failure;
use crate::number;
use crate::program::{Arithmetic, Op};
use crate::value::Value;

/// Maximum number of metatables that one access passes.
const METATABLES_MAX: usize = 32;

impl Machine<'_> {
    /// The metamethod of a value, or `nil`.
    pub(crate) fn metamethod(&mut self, value: Value, name: &str) -> Result<Value, Failure> {
        let Value::Table(table) = value else {
            return Ok(Value::Nil);
        };
        match self.heap.metatable(table) {
            Some(metatable) => Ok(self.heap.field(metatable, name)?),
            None => Ok(Value::Nil),
        }
    }

    /// The value under a key, with metatables.
    pub(crate) fn index(&mut self, value: Value, key: Value) -> Result<Value, Failure> {
        let mut value = value;
        for _ in 0..METATABLES_MAX {
            let handler = match value {
                Value::Table(table) => {
                    let found = self.heap.get(table, key)?;
                    if found != Value::Nil || self.heap.metatable(table).is_none() {
                        return Ok(found);
                    }
                    self.metamethod(value, "__index")?
                }
                Value::String(_) if self.libraries.has_string() => self.string_library()?,
                _ => {
                    let key = self.shown_key(key);
                    let what = type_name(value);
                    return Failure::text(format!(
                        "attempt to index a non-table object({what}) with key '{key}'"
                    ));
                }
            };
            value = match handler {
                Value::Nil => return Ok(Value::Nil),
                Value::Function(_) | Value::Builtin(_) => {
                    return self.call_for_one(handler, &[value, key]);
                }
                other => other,
            };
        }
        Failure::text("too many recursions in gettable")
    }

    fn shown_key(&mut self, key: Value) -> String {
        match key {
            Value::String(text) => String::from_utf8_lossy(self.heap.text(text)).into_owned(),
            Value::Number(value) => number::print(value),
            other => type_name(other).to_owned(),
        }
    }

    pub(crate) fn set_index(
        &mut self,
        target: Value,
        key: Value,
        value: Value,
    ) -> Result<(), Failure> {
        let mut target = target;
        for _ in 0..METATABLES_MAX {
            let Value::Table(table) = target else {
                let key = self.shown_key(key);
                let what = type_name(target);
                return Failure::text(format!(
                    "attempt to index a non-table object({what}) with key '{key}'"
                ));
            };
            let handler = match self.heap.metatable(table) {
                Some(_) if self.heap.get(table, key)? == Value::Nil => {
                    self.metamethod(target, "__newindex")?
                }
                _ => Value::Nil,
            };
            match handler {
                Value::Nil => return self.raw_set(target, key, value),
                Value::Function(_) | Value::Builtin(_) => {
                    return self
                        .call_for_one(handler, &[target, key, value])
                        .map(|_| ());
                }
                other => target = other,
            }
        }
        Failure::text("too many recursions in settable")
    }

    /// Sets a value without metatables.
    pub(crate) fn raw_set(
        &mut self,
        table: Value,
        key: Value,
        value: Value,
    ) -> Result<(), Failure> {
        match (table, key) {
            (_, Value::Nil) => Failure::text("table index is nil"),
            (_, Value::Number(key)) if key.is_nan() => Failure::text("table index is NaN"),
            (Value::Table(table), key) => Ok(self.heap.set(table, key, value)?),
            _ => Failure::text("not a table"),
        }
    }

    pub(super) fn operator(&mut self, op: Op) -> Result<(), Failure> {
        let value = match op {
            Op::Not => Value::Bool(!is_true(self.pop())),
            Op::Negate => self.negate()?,
            Op::Length => {
                let value = self.pop();
                self.length(value)?
            }
            Op::Concat(count) => self.concat(usize::from(count))?,
            Op::Arithmetic(operation) => {
                let right = self.pop();
                let left = self.pop();
                self.arithmetic(operation, left, right)?
            }
            _ => {
                let right = self.pop();
                let left = self.pop();
                Value::Bool(match op {
                    Op::Equal => self.equal(left, right)?,
                    Op::NotEqual => !self.equal(left, right)?,
                    Op::Less => self.less(left, right)?,
                    Op::LessOrEqual => self.less_or_equal(left, right)?,
                    Op::Greater => self.less(right, left)?,
                    _ => self.less_or_equal(right, left)?,
                })
            }
        };
        self.push(value);
        Ok(())
    }

    fn negate(&mut self) -> Result<Value, Failure> {
        let value = self.pop();
        if let Some(number) = self.to_number(value) {
            return Ok(Value::Number(-number));
        }
        match self.metamethod(value, "__unm")? {
            Value::Nil => {
                let what = type_name(value);
                Failure::text(format!("__unm undefined for a {what} value"))
            }
            method => self.call_for_one(method, &[value]),
        }
    }

    pub(crate) fn length(&mut self, value: Value) -> Result<Value, Failure> {
        match value {
            Value::String(text) => Ok(Value::Number(number::of(self.heap.text(text).len()))),
            Value::Table(table) => match self.metamethod(value, "__len")? {
                Value::Nil => {
                    let length = self.heap.opened(table)?.length();
                    Ok(Value::Number(number::of(length)))
                }
                method => self.call_for_one(method, &[value]),
            },
            _ => {
                let what = type_name(value);
                Failure::text(format!("__len undefined for a {what} value"))
            }
        }
    }

    fn arithmetic(
        &mut self,
        operation: Arithmetic,
        left: Value,
        right: Value,
    ) -> Result<Value, Failure> {
        if let (Some(left), Some(right)) = (self.to_number(left), self.to_number(right)) {
            return Ok(Value::Number(match operation {
                Arithmetic::Add => left + right,
                Arithmetic::Subtract => left - right,
                Arithmetic::Multiply => left * right,
                Arithmetic::Divide => left / right,
                Arithmetic::Modulo => modulo(left, right),
                Arithmetic::Power => left.powf(right),
            }));
        }
        let name = match operation {
            Arithmetic::Add => "__add",
            Arithmetic::Subtract => "__sub",
            Arithmetic::Multiply => "__mul",
            Arithmetic::Divide => "__div",
            Arithmetic::Modulo => "__mod",
            Arithmetic::Power => "__pow",
        };
        if let Some(value) = self.binary_metamethod(name, left, right)? {
            return Ok(value);
        }
        let (first, second) = (type_name(left), type_name(right));
        let operation = name.trim_start_matches('_');
        Failure::text(format!(
            "cannot perform {operation} operation between {first} and {second}"
        ))
    }

    fn binary_metamethod(
        &mut self,
        name: &str,
        left: Value,
        right: Value,
    ) -> Result<Option<Value>, Failure> {
        let mut method = self.metamethod(left, name)?;
        if method == Value::Nil {
            method = self.metamethod(right, name)?;
        }
        match method {
            Value::Nil => Ok(None),
            method => Ok(Some(self.call_for_one(method, &[left, right])?)),
        }
    }

    /// Joins the last values of the stack.
    fn concat(&mut self, count: usize) -> Result<Value, Failure> {
        let from = self.stack.len().saturating_sub(count);
        let parts = self.stack.get(from..).unwrap_or_default();
        let is_text = |part: &Value| matches!(part, Value::String(_) | Value::Number(_));
        if !parts.iter().all(is_text) {
            return self.concat_pairs(from);
        }
        let mut text = Vec::new();
        for part in parts {
            match part {
                Value::String(part) => text.extend_from_slice(self.heap.text(*part)),
                Value::Number(part) => text.extend_from_slice(number::print(*part).as_bytes()),
                _ => {}
            }
        }
        self.stack.truncate(from);
        self.work(text.len())?;
        Ok(self.heap.string(text)?)
    }

    /// The same from right to left, with metamethods.
    fn concat_pairs(&mut self, from: usize) -> Result<Value, Failure> {
        let mut right = self.pop();
        while self.stack.len() > from {
            let left = self.pop();
            right = match (self.as_text(left), self.as_text(right)) {
                (Some(left), Some(right)) => {
                    self.work(left.len() + right.len())?;
                    self.heap.string([left, right].concat())?
                }
                _ => {
                    if let Some(value) = self.binary_metamethod("__concat", left, right)? {
                        value
                    } else {
                        let (left, right) = (type_name(left), type_name(right));
                        return Failure::text(format!(
                            "cannot perform concat operation between {left} and {right}"
                        ));
                    }
                }
            };
        }
        Ok(right)
    }

    /// The bytes of a text or a number.
    pub(crate) fn as_text(&self, value: Value) -> Option<Vec<u8>> {
        match value {
            Value::String(text) => Some(self.heap.text(text).to_vec()),
            Value::Number(value) => Some(number::print(value).into_bytes()),
            _ => None,
        }
    }

    fn equal(&mut self, left: Value, right: Value) -> Result<bool, Failure> {
        if self.heap.same(left, right) {
            return Ok(true);
        }
        if !matches!((left, right), (Value::Table(_), Value::Table(_))) {
            return Ok(false);
        }
        let value = self.binary_metamethod("__eq", left, right)?;
        Ok(value.is_some_and(is_true))
    }

    pub(crate) fn less(&mut self, left: Value, right: Value) -> Result<bool, Failure> {
        self.compare(left, right, "__lt", |order| order == Some(Ordering::Less))
    }

    fn less_or_equal(&mut self, left: Value, right: Value) -> Result<bool, Failure> {
        self.compare(left, right, "__le", |order| {
            matches!(order, Some(Ordering::Less | Ordering::Equal))
        })
    }

    fn compare(
        &mut self,
        left: Value,
        right: Value,
        name: &str,
        holds: impl Fn(Option<Ordering>) -> bool,
    ) -> Result<bool, Failure> {
        match (left, right) {
            (Value::Number(left), Value::Number(right)) => Ok(holds(left.partial_cmp(&right))),
            (Value::String(left), Value::String(right)) => {
                let (left, right) = (self.heap.text(left), self.heap.text(right));
                let (order, length) = (left.cmp(right), left.len().min(right.len()));
                self.work(length)?;
                Ok(holds(Some(order)))
            }
            _ => {
                if let Some(value) = self.binary_metamethod(name, left, right)? {
                    return Ok(is_true(value));
                }
                let (left, right) = (type_name(left), type_name(right));
                Failure::text(format!("attempt to compare {left} with {right}"))
            }
        }
    }
}

/// The remainder with the sign of the divisor.
pub(crate) fn modulo(left: f64, right: f64) -> f64 {
    let remainder = left % right;
    if remainder != 0.0 && (remainder < 0.0) != (right < 0.0) {
        remainder + right
    } else {
        remainder
    }
}

/// The name of the type of a value.
pub(crate) fn type_name(value: Value) -> &'static str {
    match value {
        Value::Nil => "nil",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Table(_) => "table",
        Value::Function(_) | Value::Builtin(_) => "function",
        Value::Cell(_) => "variable",
    }
}
