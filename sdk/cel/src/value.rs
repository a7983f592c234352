//! Values of expressions.

use std::cmp::Ordering;
use std::rc::Rc;

use kindsight_contract::Node;

use crate::error::Evaluated;
use crate::{Budget, EvaluationError, Timestamp};

/// A value.
///
/// Objects and arrays of a document stay nodes, and strings refer to its text, so that reading a
/// value copies nothing.
#[derive(Clone)]
pub enum Value<'a> {
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A signed whole number.
    Int(i64),
    /// A whole number without a sign.
    Uint(u64),
    /// A float.
    Double(f64),
    /// A string.
    String(Text<'a>),
    /// Bytes.
    Bytes(Rc<[u8]>),
    /// A list.
    List(List<'a>),
    /// A map.
    Map(Map<'a>),
    /// A time.
    Timestamp(Timestamp),
    /// A duration in nanoseconds.
    Duration(i64),
    /// A type, by its name.
    Type(&'static str),
    /// A value that may be missing.
    Optional(Option<Rc<Value<'a>>>),
}

/// A string: part of a document or a program, or made by an expression.
#[derive(Clone)]
pub enum Text<'a> {
    /// Part of a document or a program.
    Borrowed(&'a str),
    /// Made by an expression.
    Shared(Rc<str>),
}

/// A list: an array of a document, or made by an expression.
#[derive(Clone)]
pub enum List<'a> {
    /// An array of a document.
    Node(Node<'a>),
    /// Made by an expression.
    Shared(Rc<[Value<'a>]>),
}

/// A map: an object of a document, or made by an expression. Keys are unique.
#[derive(Clone)]
pub enum Map<'a> {
    /// An object of a document.
    Node(Node<'a>),
    /// Made by an expression.
    Shared(Rc<[(Value<'a>, Value<'a>)]>),
}

impl Text<'_> {
    /// The characters.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Shared(text) => text,
        }
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::String(Text::Shared(text.into()))
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::String(Text::Borrowed(text))
    }
}

impl<'a> From<Vec<Value<'a>>> for Value<'a> {
    fn from(items: Vec<Value<'a>>) -> Self {
        Self::List(List::Shared(items.into()))
    }
}

/// Converts a length to the number that expressions see.
pub(crate) fn count(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

impl<'a> List<'a> {
    /// Number of items.
    pub fn len(&self) -> usize {
        match self {
            Self::Node(node) => node.items().len(),
            Self::Shared(items) => items.len(),
        }
    }

    /// Returns whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item at an index.
    pub fn get(&self, index: i64) -> Option<Value<'a>> {
        let index = usize::try_from(index).ok()?;
        match self {
            Self::Node(node) => node.items().nth(index).map(Value::of_node),
            Self::Shared(items) => items.get(index).cloned(),
        }
    }

    /// The items, in order.
    pub fn items(&self) -> Vec<Value<'a>> {
        match self {
            Self::Node(node) => node.items().map(Value::of_node).collect(),
            Self::Shared(items) => items.to_vec(),
        }
    }
}

impl<'a> Map<'a> {
    /// Number of entries.
    pub fn len(&self) -> usize {
        match self {
            Self::Node(node) => node.members().count(),
            Self::Shared(entries) => entries.len(),
        }
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a field.
    pub fn field(&self, name: &str) -> Option<Value<'a>> {
        match self {
            Self::Node(node) => Value::of_member(node.get(name)),
            Self::Shared(entries) => {
                let is_named =
                    |key: &Value<'_>| matches!(key, Value::String(key) if key.as_str() == name);
                let mut entries = entries.iter();
                let entry = entries.find(|(key, _)| is_named(key));
                entry.map(|(_, value)| value.clone())
            }
        }
    }

    /// The value of a key. Numbers of different types with the same value are the same key.
    pub fn get(&self, key: &Value<'_>) -> Option<Value<'a>> {
        match (self, key) {
            (_, Value::String(name)) => self.field(name.as_str()),
            (Self::Node(_), _) => None,
            (Self::Shared(entries), key) => {
                let mut entries = entries.iter();
                let entry = entries.find(|(known, _)| known.is_same_scalar(key));
                entry.map(|(_, value)| value.clone())
            }
        }
    }

    /// The keys, in order.
    pub fn keys(&self) -> Vec<Value<'a>> {
        match self {
            Self::Node(node) => node.members().map(|(key, _)| Value::from(key)).collect(),
            Self::Shared(entries) => entries.iter().map(|(key, _)| key.clone()).collect(),
        }
    }
}

impl<'a> Value<'a> {
    /// The value of a node. An absent node is `null`.
    ///
    /// A number without a fraction or an exponent is an int, as Kubernetes reads JSON. A number that
    /// an int cannot hold is a double.
    pub fn of_node(node: Node<'a>) -> Self {
        if let Some(text) = node.text() {
            Self::from(text)
        } else if node.is_object() {
            Self::Map(Map::Node(node))
        } else if node.is_array() {
            Self::List(List::Node(node))
        } else if let Some(digits) = node.number() {
            let whole = digits.parse().map(Self::Int);
            whole.unwrap_or_else(|_| Self::Double(digits.parse().unwrap_or(f64::NAN)))
        } else {
            node.flag().map_or(Self::Null, Self::Bool)
        }
    }

    /// The value of a member, or `None` if the member is absent.
    pub fn of_member(node: Node<'a>) -> Option<Self> {
        (node.is_present() || node.is_null()).then(|| Self::of_node(node))
    }

    /// A list of strings.
    pub(crate) fn of_texts(texts: impl Iterator<Item = String>) -> Self {
        Self::from(texts.map(Self::from).collect::<Vec<_>>())
    }

    /// An optional with this value.
    pub(crate) fn optional(value: Option<Self>) -> Self {
        Self::Optional(value.map(Rc::new))
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// The name of its type, as `type` gives it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::Type(_) => "type",
            Self::Optional(_) => "optional_type",
        }
    }

    /// Returns whether two scalars are equal: the same number even with different types, or the same
    /// value of the same type. Lists, maps and optionals are not scalars.
    pub(crate) fn is_same_scalar(&self, other: &Value<'_>) -> bool {
        match (self, other) {
            (Self::Null, Value::Null) => true,
            (Self::Bool(one), Value::Bool(other)) => one == other,
            (Self::String(one), Value::String(other)) => one.as_str() == other.as_str(),
            (Self::Bytes(one), Value::Bytes(other)) => one == other,
            (Self::Timestamp(one), Value::Timestamp(other)) => one == other,
            (Self::Duration(one), Value::Duration(other)) => one == other,
            (Self::Type(one), Value::Type(other)) => one == other,
            _ => compare_numbers(self, other) == Some(Ordering::Equal),
        }
    }

    /// Returns whether two values are equal. Values of different types are not, except numbers.
    pub(crate) fn is_same(&self, other: &Value<'_>, budget: &Budget) -> Evaluated<bool> {
        match (self, other) {
            (Self::List(one), Value::List(other)) => {
                budget.steps(one.len())?;
                if one.len() != other.len() {
                    return Ok(false);
                }
                for (one, other) in one.items().iter().zip(other.items()) {
                    if !one.is_same(&other, budget)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Self::Map(one), Value::Map(other)) => one.is_same(other, budget),
            (Self::Optional(one), Value::Optional(other)) => match (one, other) {
                (Some(one), Some(other)) => one.is_same(other, budget),
                (one, other) => Ok(one.is_none() && other.is_none()),
            },
            (Self::String(one), Value::String(_)) => {
                budget.bytes(one.as_str().len())?;
                Ok(self.is_same_scalar(other))
            }
            _ => Ok(self.is_same_scalar(other)),
        }
    }

    /// The order of two values, or an error if values of these types have none.
    pub(crate) fn compare(
        &self,
        operator: &'static str,
        other: &Self,
    ) -> Evaluated<Option<Ordering>> {
        match (self, other) {
            (Self::Bool(one), Self::Bool(other)) => Ok(Some(one.cmp(other))),
            (Self::String(one), Self::String(other)) => Ok(Some(one.as_str().cmp(other.as_str()))),
            (Self::Bytes(one), Self::Bytes(other)) => Ok(Some(one.cmp(other))),
            (Self::Timestamp(one), Self::Timestamp(other)) => Ok(Some(one.cmp(other))),
            (Self::Duration(one), Self::Duration(other)) => Ok(Some(one.cmp(other))),
            (
                Self::Int(_) | Self::Uint(_) | Self::Double(_),
                Self::Int(_) | Self::Uint(_) | Self::Double(_),
            ) => Ok(compare_numbers(self, other)),
            _ => {
                let types = [self.type_name(), other.type_name()];
                Err(EvaluationError::no_overload(operator, &types))
            }
        }
    }

    /// Returns whether this is the zero of its type: empty, 0, false or `null`.
    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(flag) => !flag,
            Self::Int(number) | Self::Duration(number) => *number == 0,
            Self::Uint(number) => *number == 0,
            Self::Double(number) => *number == 0.0,
            Self::String(text) => text.as_str().is_empty(),
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::List(list) => list.is_empty(),
            Self::Map(map) => map.is_empty(),
            Self::Timestamp(time) => time.is_zero(),
            Self::Type(_) => false,
            Self::Optional(value) => value.is_none(),
        }
    }
}

impl Map<'_> {
    fn is_same(&self, other: &Map<'_>, budget: &Budget) -> Evaluated<bool> {
        budget.steps(self.len())?;
        if self.len() != other.len() {
            return Ok(false);
        }
        for key in self.keys() {
            let (Some(one), Some(other)) = (self.get(&key), other.get(&key)) else {
                return Ok(false);
            };
            if !one.is_same(&other, budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The order of two numbers, even of different types. `None` if one is no number or is NaN.
fn compare_numbers(one: &Value<'_>, other: &Value<'_>) -> Option<Ordering> {
    match (one, other) {
        (Value::Int(one), Value::Int(other)) => Some(one.cmp(other)),
        (Value::Uint(one), Value::Uint(other)) => Some(one.cmp(other)),
        (Value::Double(one), Value::Double(other)) => one.partial_cmp(other),
        (Value::Int(one), Value::Uint(other)) => Some(i128::from(*one).cmp(&i128::from(*other))),
        (Value::Uint(one), Value::Int(other)) => Some(i128::from(*one).cmp(&i128::from(*other))),
        (Value::Int(whole), Value::Double(float)) => compare_whole(i128::from(*whole), *float),
        (Value::Uint(whole), Value::Double(float)) => compare_whole(i128::from(*whole), *float),
        (Value::Double(float), Value::Int(whole)) => {
            compare_whole(i128::from(*whole), *float).map(Ordering::reverse)
        }
        (Value::Double(float), Value::Uint(whole)) => {
            compare_whole(i128::from(*whole), *float).map(Ordering::reverse)
        }
        _ => None,
    }
}

/// Compares a whole number of at most 65 bits with a float.
fn compare_whole(whole: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float outside the range of i128 becomes the nearest i128, which is outside the range of 65 bits too"
    )]
    let floor = float.floor() as i128;
    Some(whole.cmp(&floor).then(if float.fract() == 0.0 {
        Ordering::Equal
    } else {
        Ordering::Less
    }))
}
