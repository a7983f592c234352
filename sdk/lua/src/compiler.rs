//! From the tokens of a script to its instructions, in one pass.

mod expression;
mod statement;

use std::collections::HashMap;

use crate::CompileError;
use crate::lexer::{Lexer, Token};
use crate::limits::{NESTING_MAX, SCRIPT_BYTES_MAX};
use crate::program::{Function, Op, Program};
use crate::scope::FunctionScope;
use crate::value::{StringId, Value};

/// Compiles a script.
///
/// # Errors
/// The first error with its line.
pub(crate) fn compile(source: &[u8]) -> Result<Program, CompileError> {
    if source.len() > SCRIPT_BYTES_MAX {
        let what = format!(
            "the script has {} bytes, over the limit of {SCRIPT_BYTES_MAX}",
            source.len()
        );
        return Err(CompileError { line: 1, what });
    }
    let mut lexer = Lexer::new(source);
    let (token, line) = lexer.next()?;
    let mut compiler = Compiler {
        lexer,
        token,
        line,
        ahead: None,
        last_line: 1,
        scopes: Vec::new(),
        program: Program::default(),
        constants: HashMap::new(),
        depth: 0,
    };
    compiler.program.functions.push(Function::default());
    compiler.scopes.push(FunctionScope::default());
    compiler.scope().function.is_vararg = true;
    compiler.scope().open_block(false);
    compiler.block()?;
    if compiler.token != Token::End {
        return Err(compiler.unexpected());
    }
    let main = compiler.end_function()?;
    if let Some(first) = compiler.program.functions.first_mut() {
        *first = main;
    }
    Ok(compiler.program)
}

/// A constant by its content, for a search.
#[derive(PartialEq, Eq, Hash)]
enum Constant {
    String(Vec<u8>),
    Number(u64),
}

struct Compiler<'s> {
    lexer: Lexer<'s>,
    token: Token,
    line: u32,
    ahead: Option<(Token, u32)>,
    /// The line of the token before.
    last_line: u32,
    scopes: Vec<FunctionScope>,
    program: Program,
    constants: HashMap<Constant, u32>,
    depth: usize,
}

impl Compiler<'_> {
    #[expect(
        clippy::expect_used,
        reason = "the scope of the script is there until the end"
    )]
    fn scope(&mut self) -> &mut FunctionScope {
        self.scopes.last_mut().expect("the script's own scope")
    }

    fn emit(&mut self, op: Op) -> usize {
        let line = self.last_line;
        self.scope().emit(op, line)
    }

    fn error(&self, what: impl Into<String>) -> CompileError {
        CompileError {
            line: self.line,
            what: what.into(),
        }
    }

    fn unexpected(&self) -> CompileError {
        let near = match &self.token {
            Token::Name(name) => format!("'{name}'"),
            Token::String(_) => "a string".to_owned(),
            Token::Number(_) => "a number".to_owned(),
            Token::Word(word) => format!("'{word}'"),
            Token::End => "the end of the script".to_owned(),
        };
        self.error(format!("syntax error near {near}"))
    }

    fn advance(&mut self) -> Result<Token, CompileError> {
        let (next, line) = match self.ahead.take() {
            Some(ahead) => ahead,
            None => self.lexer.next()?,
        };
        self.last_line = self.line;
        self.line = line;
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn peek(&mut self) -> Result<&Token, CompileError> {
        if self.ahead.is_none() {
            self.ahead = Some(self.lexer.next()?);
        }
        Ok(self.ahead.as_ref().map_or(&Token::End, |(token, _)| token))
    }

    fn is(&self, word: &str) -> bool {
        matches!(self.token, Token::Word(this) if this == word)
    }

    fn accept(&mut self, word: &str) -> Result<bool, CompileError> {
        let accepted = self.is(word);
        if accepted {
            self.advance()?;
        }
        Ok(accepted)
    }

    fn expect(&mut self, word: &str) -> Result<(), CompileError> {
        if self.accept(word)? {
            return Ok(());
        }
        let error = self.unexpected();
        Err(CompileError {
            what: format!("{}: '{word}' expected", error.what),
            ..error
        })
    }

    fn name(&mut self) -> Result<String, CompileError> {
        match &self.token {
            Token::Name(_) => match self.advance()? {
                Token::Name(name) => Ok(name),
                _ => Err(self.unexpected()),
            },
            _ => Err(self.unexpected()),
        }
    }

    /// Runs a recursive part of the compiler, to a limited depth.
    fn nested<T>(
        &mut self,
        part: impl FnOnce(&mut Self) -> Result<T, CompileError>,
    ) -> Result<T, CompileError> {
        if self.depth >= NESTING_MAX {
            return Err(self.error(format!("more than {NESTING_MAX} levels of nesting")));
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    fn constant(&mut self, constant: Constant) -> u32 {
        if let Some(known) = self.constants.get(&constant) {
            return *known;
        }
        let value = match &constant {
            Constant::Number(bits) => Value::Number(f64::from_bits(*bits)),
            Constant::String(text) => {
                let id = index(self.program.strings.len());
                self.program.strings.push(text.as_slice().into());
                Value::String(StringId(id))
            }
        };
        let id = index(self.program.constants.len());
        self.program.constants.push(value);
        self.constants.insert(constant, id);
        id
    }

    fn string(&mut self, text: &[u8]) -> u32 {
        self.constant(Constant::String(text.to_vec()))
    }

    fn global(&mut self, name: &str) -> u32 {
        let globals = &mut self.program.globals;
        let known = globals.iter().position(|global| global == name);
        index(known.unwrap_or_else(|| {
            globals.push(name.to_owned());
            globals.len() - 1
        }))
    }

    fn end_function(&mut self) -> Result<Function, CompileError> {
        let line = self.line;
        self.emit(Op::Return {
            results: 0,
            open: false,
        });
        self.scope().close_block(line)?;
        let scope = self.scopes.pop();
        Ok(scope.map(FunctionScope::finish).unwrap_or_default())
    }
}

fn index(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
