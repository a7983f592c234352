//! A compiled script.

use crate::value::Value;

/// Number of results or arguments that is known only in the run: all that the last call or `...`
/// gave.
pub(crate) const ALL: u16 = u16::MAX;

/// One instruction. `push` and `pop` refer to the stack; a slot is a place above the base of the
/// function's frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Op {
    /// Does nothing; the place of a possible [`Op::Capture`].
    Nothing,
    /// Push `nil` this many times.
    Nil(u16),
    Bool(bool),
    Constant(u32),
    Local(u16),
    SetLocal(u16),
    /// Turn the variable in the slot into one that functions share.
    Capture(u16),
    Shared(u16),
    SetShared(u16),
    Upvalue(u16),
    SetUpvalue(u16),
    Global(u32),
    SetGlobal(u32),
    Table,
    /// Pop key and table, push the value.
    Index,
    /// Pop the table, push the value of the constant key.
    Field(u32),
    /// Pop the value; table and key are this many values below, and stay.
    SetIndex(u16),
    /// Pop the value and set it under the constant key of the table that is `above` values below, and
    /// stays.
    InitField {
        name: u32,
        above: u16,
    },
    /// Pop value and key; the table is this many values below, and stays.
    InitIndex(u16),
    /// Pop this many items, and the values of an open expression, and set them in the table below them,
    /// at the positions behind `first`.
    Append {
        first: u32,
        items: u16,
        open: bool,
    },
    /// Pop an object, push its method and the object.
    Method(u32),
    Call {
        arguments: u16,
        /// Whether the last expression gave further arguments.
        open: bool,
        results: u16,
    },
    Return {
        results: u16,
        open: bool,
    },
    Vararg(u16),
    Function(u32),
    Jump(u32),
    JumpIfFalse(u32),
    /// Jump and keep the value if it is false, else pop it.
    And(u32),
    /// Jump and keep the value if it is true, else pop it.
    Or(u32),
    Not,
    Negate,
    Length,
    Arithmetic(Arithmetic),
    Concat(u16),
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Pop(u16),
    /// Cut the stack to this slot.
    Truncate(u16),
    ForPrepare(u16),
    /// Advance the loop whose three values begin at the slot, push its variable, or jump.
    ForNext(u16, u32),
    /// Call the iterator at the slot, push the variables, or jump.
    ForEach {
        slot: u16,
        variables: u8,
        exit: u32,
    },
}

/// An operation on two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Power,
}

/// The place of a variable that a new function captures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Captured {
    /// A slot of the function around it.
    Local(u16),
    /// A captured variable of the function around it.
    Upvalue(u16),
}

/// A compiled function.
#[derive(Debug, Default)]
pub(crate) struct Function {
    pub(crate) code: Vec<Op>,
    /// The line of each instruction.
    pub(crate) lines: Vec<u32>,
    pub(crate) parameters: u16,
    pub(crate) is_vararg: bool,
    pub(crate) captures: Vec<Captured>,
}

/// A compiled script: its functions, of which the first is the script itself.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) functions: Vec<Function>,
    /// Constants. Strings are positions in `strings`.
    pub(crate) constants: Vec<Value>,
    pub(crate) strings: Vec<Box<[u8]>>,
    /// The names of the global variables that the script uses, by position.
    pub(crate) globals: Vec<String>,
}
