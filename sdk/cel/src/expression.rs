//! Expressions after parsing. Macros are resolved, and local variables are numbered.

use std::cell::OnceCell;

use crate::functions::Function;

/// An expression.
#[derive(Debug)]
pub(crate) enum Expression {
    Literal(Literal),
    /// A variable of the caller, by name.
    Variable(String),
    /// A variable of a macro, numbered from the outermost.
    Local(usize),
    Select {
        operand: Box<Expression>,
        field: String,
        is_optional: bool,
    },
    Has {
        operand: Box<Expression>,
        field: String,
    },
    Index {
        operand: Box<Expression>,
        index: Box<Expression>,
        is_optional: bool,
    },
    Call {
        function: Function,
        arguments: Vec<Expression>,
        /// The compiled pattern of `matches`, if it is a literal.
        pattern: Pattern,
    },
    List(Vec<ListItem>),
    Map(Vec<MapEntry>),
    All(Vec<Expression>),
    Any(Vec<Expression>),
    Not(Box<Expression>),
    Negative(Box<Expression>),
    Conditional(Box<[Expression; 3]>),
    Binary {
        operator: Operator,
        operands: Box<[Expression; 2]>,
    },
    /// A macro over the items of a list or the keys of a map.
    Comprehension {
        kind: Comprehension,
        range: Box<Expression>,
        /// The filter of a `map` with three arguments.
        filter: Option<Box<Expression>>,
        body: Box<Expression>,
    },
    /// `optMap`, or `optFlatMap` if it is flat.
    OptionalMap {
        operand: Box<Expression>,
        body: Box<Expression>,
        is_flat: bool,
    },
}

/// A pattern that is compiled at its first use.
#[derive(Debug, Default)]
pub(crate) struct Pattern(pub(crate) OnceCell<Option<regex_lite::Regex>>);

#[derive(Debug)]
pub(crate) struct ListItem {
    pub(crate) value: Expression,
    pub(crate) is_optional: bool,
}

#[derive(Debug)]
pub(crate) struct MapEntry {
    pub(crate) key: Expression,
    pub(crate) value: Expression,
    pub(crate) is_optional: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
    /// The name of a type.
    Type(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
}

impl Operator {
    /// How it is written.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::In => "in",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comprehension {
    All,
    Exists,
    ExistsOne,
    Map,
    Filter,
}
