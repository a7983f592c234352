//! Expressions.

use super::{Compiler, Constant, index};
use crate::CompileError;
use crate::lexer::Token;
use crate::program::{ALL, Arithmetic, Op};
use crate::scope::{FunctionScope, upvalue};

/// An expression that may still become the target of an assignment. Its parts are on the stack.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Prefix {
    Local(u16),
    Upvalue(u16),
    Global(u32),
    /// The table is on the stack.
    Field(u32),
    /// Table and key are on the stack.
    Index,
    /// The last instruction is a call.
    Call,
    /// Its value is on the stack.
    Value,
}

/// The expression that was compiled last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// One value.
    One,
    /// The last instruction is a call or `...`, which can give more values.
    Open,
}

/// Precedence of a binary operator, to the left and to the right.
fn precedence(word: &str) -> Option<(u8, u8)> {
    Some(match word {
        "or" => (1, 1),
        "and" => (2, 2),
        "<" | ">" | "<=" | ">=" | "~=" | "==" => (3, 3),
        ".." => (CONCAT, CONCAT),
        "+" | "-" => (6, 6),
        "*" | "/" | "%" => (7, 7),
        "^" => (10, 9),
        _ => return None,
    })
}

const UNARY: u8 = 8;
const CONCAT: u8 = 5;

impl Compiler<'_> {
    /// An expression with one value.
    pub(super) fn expression(&mut self) -> Result<(), CompileError> {
        self.operation(0).map(|_| ())
    }

    /// Expressions with commas between them: their number, and whether the last one is open, so that
    /// it gives all its values.
    pub(super) fn expressions(&mut self) -> Result<(u16, bool), CompileError> {
        let mut count: u16 = 0;
        loop {
            let kind = self.operation(0)?;
            count = count.saturating_add(1);
            if !self.accept(",")? {
                if kind == Kind::Open {
                    self.open_last(ALL);
                    return Ok((count - 1, true));
                }
                return Ok((count, false));
            }
        }
    }

    /// Expressions that give exactly this number of values.
    pub(super) fn adjusted(&mut self, wanted: u16) -> Result<(), CompileError> {
        let (count, open) = self.expressions()?;
        if open {
            self.open_last(wanted.saturating_sub(count));
        }
        let given = if open { count.max(wanted) } else { count };
        match given.cmp(&wanted) {
            std::cmp::Ordering::Less => {
                self.emit(Op::Nil(wanted - given));
            }
            std::cmp::Ordering::Greater => {
                self.emit(Op::Pop(given - wanted));
            }
            std::cmp::Ordering::Equal => {}
        }
        Ok(())
    }

    /// Sets the number of values of the call or `...` that was compiled last.
    pub(super) fn open_last(&mut self, wanted: u16) {
        if let Some(Op::Call { results, .. } | Op::Vararg(results)) = self.scope().last() {
            *results = wanted;
        }
    }

    fn operation(&mut self, limit: u8) -> Result<Kind, CompileError> {
        self.nested(|compiler| {
            let mut kind = compiler.operand()?;
            while let Token::Word(word) = compiler.token
                && let Some((left, right)) = precedence(word)
                && left > limit
            {
                compiler.advance()?;
                kind = compiler.binary(word, right)?;
            }
            Ok(kind)
        })
    }

    fn operand(&mut self) -> Result<Kind, CompileError> {
        let op = match self.token {
            Token::Word("not") => Op::Not,
            Token::Word("-") => Op::Negate,
            Token::Word("#") => Op::Length,
            _ => return self.simple(),
        };
        self.advance()?;
        let line = self.last_line;
        if let (Op::Negate, Token::Number(value)) = (op, &self.token) {
            let value = *value;
            if !matches!(self.peek()?, Token::Word("^")) {
                self.advance()?;
                let constant = self.constant(Constant::Number((-value).to_bits()));
                self.emit(Op::Constant(constant));
                return Ok(Kind::One);
            }
        }
        self.operation(UNARY)?;
        self.scope().emit(op, line);
        Ok(Kind::One)
    }

    fn binary(&mut self, word: &str, right: u8) -> Result<Kind, CompileError> {
        let line = self.last_line;
        let jump = match word {
            "and" => Some(Op::And(0)),
            "or" => Some(Op::Or(0)),
            _ => None,
        };
        if let Some(jump) = jump {
            let jump = self.emit(jump);
            self.operation(right)?;
            self.scope().land(jump);
            return Ok(Kind::One);
        }
        self.operation(right)?;
        let op = match word {
            "+" => Op::Arithmetic(Arithmetic::Add),
            "-" => Op::Arithmetic(Arithmetic::Subtract),
            "*" => Op::Arithmetic(Arithmetic::Multiply),
            "/" => Op::Arithmetic(Arithmetic::Divide),
            "%" => Op::Arithmetic(Arithmetic::Modulo),
            "^" => Op::Arithmetic(Arithmetic::Power),
            "==" => Op::Equal,
            "~=" => Op::NotEqual,
            "<" => Op::Less,
            "<=" => Op::LessOrEqual,
            ">" => Op::Greater,
            ">=" => Op::GreaterOrEqual,
            // It associates to the right, so all operands are joined at once.
            _ => {
                let mut operands = 2;
                while self.accept("..")? {
                    self.operation(right)?;
                    operands += 1;
                }
                Op::Concat(operands)
            }
        };
        self.scope().emit(op, line);
        Ok(Kind::One)
    }

    fn simple(&mut self) -> Result<Kind, CompileError> {
        let op = match &self.token {
            Token::Number(value) => {
                let constant = Constant::Number(value.to_bits());
                Op::Constant(self.constant(constant))
            }
            Token::String(text) => {
                let text = text.clone();
                Op::Constant(self.string(&text))
            }
            Token::Word("nil") => Op::Nil(1),
            Token::Word("true") => Op::Bool(true),
            Token::Word("false") => Op::Bool(false),
            Token::Word("...") => {
                if !self.scope().function.is_vararg {
                    return Err(self.error("cannot use '...' outside a vararg function"));
                }
                self.advance()?;
                self.emit(Op::Vararg(1));
                return Ok(Kind::Open);
            }
            Token::Word("{") => {
                self.table()?;
                return Ok(Kind::One);
            }
            Token::Word("function") => {
                self.advance()?;
                self.function_body(false)?;
                return Ok(Kind::One);
            }
            _ => {
                let prefix = self.suffixed()?;
                self.push(prefix);
                let is_call = prefix == Prefix::Call;
                return Ok(if is_call { Kind::Open } else { Kind::One });
            }
        };
        self.advance()?;
        self.emit(op);
        Ok(Kind::One)
    }

    /// A name or an expression in parentheses, with fields and calls.
    pub(super) fn suffixed(&mut self) -> Result<Prefix, CompileError> {
        let mut prefix = if self.accept("(")? {
            self.expression()?;
            self.expect(")")?;
            Prefix::Value
        } else {
            let name = self.name()?;
            self.variable(&name)
        };
        loop {
            prefix = match &self.token {
                Token::Word(".") => {
                    self.advance()?;
                    self.push(prefix);
                    let name = self.name()?;
                    Prefix::Field(self.string(name.as_bytes()))
                }
                Token::Word("[") => {
                    self.advance()?;
                    self.push(prefix);
                    self.expression()?;
                    self.expect("]")?;
                    Prefix::Index
                }
                Token::Word(":") => {
                    self.advance()?;
                    self.push(prefix);
                    let name = self.name()?;
                    let name = self.string(name.as_bytes());
                    self.emit(Op::Method(name));
                    self.call(1)?
                }
                Token::Word("(" | "{") | Token::String(_) => {
                    self.push(prefix);
                    self.call(0)?
                }
                _ => return Ok(prefix),
            };
        }
    }

    /// The arguments of a call, behind `before` values that are arguments already.
    fn call(&mut self, before: u16) -> Result<Prefix, CompileError> {
        let line = self.line;
        let (count, open) = match &self.token {
            Token::String(text) => {
                let text = text.clone();
                let constant = self.string(&text);
                self.advance()?;
                self.emit(Op::Constant(constant));
                (1, false)
            }
            Token::Word("{") => {
                self.table()?;
                (1, false)
            }
            _ => {
                self.expect("(")?;
                let arguments = if self.is(")") {
                    (0, false)
                } else {
                    self.expressions()?
                };
                self.expect(")")?;
                arguments
            }
        };
        let call = Op::Call {
            arguments: before.saturating_add(count),
            open,
            results: 1,
        };
        self.scope().emit(call, line);
        Ok(Prefix::Call)
    }

    pub(super) fn variable(&mut self, name: &str) -> Prefix {
        if let Some(slot) = self.scope().find(name) {
            return Prefix::Local(slot);
        }
        match upvalue(&mut self.scopes, name) {
            Some(position) => Prefix::Upvalue(position),
            None => Prefix::Global(self.global(name)),
        }
    }

    /// Pushes the value of the expression.
    pub(super) fn push(&mut self, prefix: Prefix) {
        let line = self.last_line;
        match prefix {
            Prefix::Local(slot) => self.scope().emit_local(Op::Local(slot), slot, line),
            Prefix::Upvalue(position) => {
                self.emit(Op::Upvalue(position));
            }
            Prefix::Global(global) => {
                self.emit(Op::Global(global));
            }
            Prefix::Field(name) => {
                self.emit(Op::Field(name));
            }
            Prefix::Index => {
                self.emit(Op::Index);
            }
            Prefix::Call | Prefix::Value => {}
        }
    }

    fn table(&mut self) -> Result<(), CompileError> {
        /// Number of items that are collected on the stack before they are appended, as in Lua: an item
        /// replaces the value of an explicit key that is written before the end of its batch.
        const BATCH: u16 = 50;
        self.expect("{")?;
        self.emit(Op::Table);
        let (mut first, mut waiting) = (0_u32, 0_u16);
        while !self.is("}") {
            let is_named =
                matches!(self.token, Token::Name(_)) && *self.peek()? == Token::Word("=");
            if is_named {
                let name = self.name()?;
                let name = self.string(name.as_bytes());
                self.expect("=")?;
                self.expression()?;
                let above = waiting;
                self.emit(Op::InitField { name, above });
            } else if self.accept("[")? {
                self.expression()?;
                self.expect("]")?;
                self.expect("=")?;
                self.expression()?;
                self.emit(Op::InitIndex(waiting));
            } else {
                let kind = self.operation(0)?;
                waiting += 1;
                let is_last = self.is("}")
                    || (matches!(self.token, Token::Word("," | ";"))
                        && *self.peek()? == Token::Word("}"));
                if kind == Kind::Open && is_last {
                    // All values of the last expression: the machine knows their number.
                    self.open_last(ALL);
                    self.emit(Op::Append {
                        first,
                        items: waiting - 1,
                        open: true,
                    });
                    waiting = 0;
                } else if waiting == BATCH {
                    self.append(&mut first, &mut waiting);
                }
            }
            if !self.accept(",")? && !self.accept(";")? {
                break;
            }
        }
        self.append(&mut first, &mut waiting);
        self.expect("}")
    }

    /// Appends the waiting items behind the first ones.
    fn append(&mut self, first: &mut u32, waiting: &mut u16) {
        if *waiting > 0 {
            self.emit(Op::Append {
                first: *first,
                items: *waiting,
                open: false,
            });
            *first += u32::from(*waiting);
            *waiting = 0;
        }
    }

    /// Parameters and body of a function, behind `function` and its name.
    pub(super) fn function_body(&mut self, is_method: bool) -> Result<(), CompileError> {
        let line = self.line;
        let function = self.nested(|compiler| {
            compiler.scopes.push(FunctionScope::default());
            compiler.scope().open_block(false);
            compiler.parameters(is_method)?;
            compiler.block()?;
            let function = compiler.end_function()?;
            compiler.expect("end")?;
            Ok(function)
        })?;
        let id = index(self.program.functions.len());
        self.program.functions.push(function);
        self.scope().emit(Op::Function(id), line);
        Ok(())
    }

    fn parameters(&mut self, is_method: bool) -> Result<(), CompileError> {
        let mut names = Vec::new();
        if is_method {
            names.push("self".to_owned());
        }
        self.expect("(")?;
        while !self.is(")") {
            if self.accept("...")? {
                self.scope().function.is_vararg = true;
                break;
            }
            names.push(self.name()?);
            if !self.accept(",")? {
                break;
            }
        }
        self.expect(")")?;
        let line = self.last_line;
        self.scope().function.parameters = u16::try_from(names.len()).unwrap_or(u16::MAX);
        for name in &names {
            self.scope().declare(name, line)?;
        }
        Ok(())
    }
}
