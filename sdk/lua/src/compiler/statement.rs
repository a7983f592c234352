//! Statements.

use super::Compiler;
use super::expression::Prefix;
use crate::CompileError;
use crate::lexer::Token;
use crate::program::Op;

impl Compiler<'_> {
    /// Statements up to the end of their block.
    pub(super) fn block(&mut self) -> Result<(), CompileError> {
        self.nested(|compiler| {
            while !compiler.is_at_end() {
                if compiler.is("return") {
                    return compiler.return_statement();
                }
                compiler.statement()?;
            }
            Ok(())
        })
    }

    fn is_at_end(&self) -> bool {
        matches!(
            self.token,
            Token::End | Token::Word("end" | "else" | "elseif" | "until")
        )
    }

    fn scoped_block(&mut self) -> Result<(), CompileError> {
        self.scope().open_block(false);
        self.block()?;
        let line = self.last_line;
        self.scope().close_block(line)
    }

    fn statement(&mut self) -> Result<(), CompileError> {
        let Token::Word(word) = self.token else {
            return self.call_or_assignment();
        };
        match word {
            ";" => self.advance().map(|_| ()),
            "if" => self.if_statement(),
            "while" => self.while_statement(),
            "do" => {
                self.advance()?;
                self.scoped_block()?;
                self.expect("end")
            }
            "for" => self.for_statement(),
            "repeat" => self.repeat_statement(),
            "function" => self.function_statement(),
            "local" => self.local_statement(),
            "::" => self.label_statement(),
            "break" => {
                self.advance()?;
                let line = self.last_line;
                self.scope().emit_break(line)
            }
            "goto" => {
                self.advance()?;
                let name = self.name()?;
                let line = self.last_line;
                self.scope().emit_goto(&name, line);
                Ok(())
            }
            _ => self.call_or_assignment(),
        }
    }

    fn return_statement(&mut self) -> Result<(), CompileError> {
        self.advance()?;
        let (results, open) = if self.is_at_end() || self.is(";") {
            (0, false)
        } else {
            self.expressions()?
        };
        self.emit(Op::Return { results, open });
        self.accept(";")?;
        if self.is_at_end() {
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }

    fn if_statement(&mut self) -> Result<(), CompileError> {
        let mut ends = Vec::new();
        loop {
            self.advance()?;
            self.expression()?;
            self.expect("then")?;
            let skip = self.emit(Op::JumpIfFalse(0));
            self.scoped_block()?;
            if !self.is("end") {
                ends.push(self.emit(Op::Jump(0)));
            }
            self.scope().land(skip);
            if self.is("elseif") {
                continue;
            }
            if self.accept("else")? {
                self.scoped_block()?;
            }
            self.expect("end")?;
            break;
        }
        for end in ends {
            self.scope().land(end);
        }
        Ok(())
    }

    fn while_statement(&mut self) -> Result<(), CompileError> {
        self.advance()?;
        let start = self.scope().next();
        self.expression()?;
        self.expect("do")?;
        let exit = self.emit(Op::JumpIfFalse(0));
        self.scope().open_block(true);
        self.scoped_block()?;
        self.jump_back(start);
        self.expect("end")?;
        let line = self.last_line;
        self.scope().land(exit);
        self.scope().close_block(line)
    }

    fn jump_back(&mut self, to: usize) {
        self.emit(Op::Jump(super::index(to)));
    }

    /// The condition of `until` sees the variables of the body.
    fn repeat_statement(&mut self) -> Result<(), CompileError> {
        self.advance()?;
        let start = self.scope().next();
        self.scope().open_block(true);
        self.scope().open_block(false);
        self.block()?;
        self.expect("until")?;
        self.expression()?;
        let again = self.emit(Op::JumpIfFalse(0));
        let done = self.emit(Op::Jump(0));
        self.scope().land(again);
        let line = self.last_line;
        self.scope().end_iteration(line);
        self.jump_back(start);
        self.scope().land(done);
        self.scope().close_block(line)?;
        self.scope().close_block(line)
    }

    fn for_statement(&mut self) -> Result<(), CompileError> {
        self.advance()?;
        let first = self.name()?;
        self.scope().open_block(true);
        if self.is("=") {
            self.count(&first)?;
        } else {
            self.each(first)?;
        }
        self.expect("end")?;
        let line = self.last_line;
        self.scope().close_block(line)
    }

    /// Declares the three hidden variables of a loop, which are on the stack.
    fn hidden(&mut self) -> Result<u16, CompileError> {
        let line = self.last_line;
        let slot = self.scope().slots();
        for name in ["(loop)", "(limit)", "(step)"] {
            self.scope().declare(name, line)?;
        }
        Ok(slot)
    }

    fn count(&mut self, variable: &str) -> Result<(), CompileError> {
        self.advance()?;
        self.expression()?;
        self.expect(",")?;
        self.expression()?;
        if self.accept(",")? {
            self.expression()?;
        } else {
            let one = self.constant(super::Constant::Number(1f64.to_bits()));
            self.emit(Op::Constant(one));
        }
        self.expect("do")?;
        let slot = self.hidden()?;
        self.emit(Op::ForPrepare(slot));
        let top = self.emit(Op::ForNext(slot, 0));
        self.loop_body(&[variable.to_owned()], top)
    }

    fn each(&mut self, first: String) -> Result<(), CompileError> {
        let mut names = vec![first];
        while self.accept(",")? {
            names.push(self.name()?);
        }
        let Ok(variables) = u8::try_from(names.len()) else {
            return Err(self.error("more than 255 variables of a loop"));
        };
        self.expect("in")?;
        self.adjusted(3)?;
        self.expect("do")?;
        let slot = self.hidden()?;
        let top = self.emit(Op::ForEach {
            slot,
            variables,
            exit: 0,
        });
        self.loop_body(&names, top)
    }

    fn loop_body(&mut self, names: &[String], top: usize) -> Result<(), CompileError> {
        let line = self.last_line;
        self.scope().open_block(false);
        for name in names {
            self.scope().declare(name, line)?;
        }
        self.scoped_block()?;
        let line = self.last_line;
        self.scope().close_block(line)?;
        self.jump_back(top);
        self.scope().land(top);
        Ok(())
    }

    fn function_statement(&mut self) -> Result<(), CompileError> {
        self.advance()?;
        let name = self.name()?;
        let mut prefix = self.variable(&name);
        let mut is_method = false;
        while !is_method && (self.is(".") || self.is(":")) {
            is_method = self.is(":");
            self.advance()?;
            self.push(prefix);
            let name = self.name()?;
            prefix = Prefix::Field(self.string(name.as_bytes()));
        }
        self.complete_target(&mut prefix);
        self.function_body(is_method)?;
        self.assign(prefix, 0);
        self.drop_target(prefix);
        Ok(())
    }

    fn local_statement(&mut self) -> Result<(), CompileError> {
        self.advance()?;
        if self.accept("function")? {
            let name = self.name()?;
            // The function sees its own name, so the variable is there before its value.
            let line = self.last_line;
            self.emit(Op::Nil(1));
            let slot = self.scope().slots();
            self.scope().declare(&name, line)?;
            self.function_body(false)?;
            self.assign(Prefix::Local(slot), 0);
            return Ok(());
        }
        let mut names = vec![self.name()?];
        while self.accept(",")? {
            names.push(self.name()?);
        }
        let count = u16::try_from(names.len()).unwrap_or(u16::MAX);
        if self.accept("=")? {
            self.adjusted(count)?;
        } else {
            self.emit(Op::Nil(count));
        }
        let line = self.last_line;
        for name in &names {
            self.scope().declare(name, line)?;
        }
        Ok(())
    }

    fn label_statement(&mut self) -> Result<(), CompileError> {
        self.advance()?;
        let name = self.name()?;
        self.expect("::")?;
        while self.accept(";")? {}
        let is_last = matches!(
            self.token,
            Token::End | Token::Word("end" | "else" | "elseif")
        );
        let line = self.last_line;
        self.scope().label(&name, is_last, line)
    }

    fn call_or_assignment(&mut self) -> Result<(), CompileError> {
        let mut prefix = self.suffixed()?;
        if prefix == Prefix::Call {
            self.open_last(0);
            return Ok(());
        }
        if !self.is("=") && !self.is(",") || prefix == Prefix::Value {
            return Err(self.unexpected());
        }
        self.complete_target(&mut prefix);
        let mut targets = vec![prefix];
        while self.accept(",")? {
            let mut prefix = self.suffixed()?;
            if matches!(prefix, Prefix::Call | Prefix::Value) {
                return Err(self.unexpected());
            }
            self.complete_target(&mut prefix);
            targets.push(prefix);
        }
        self.expect("=")?;
        self.adjusted(u16::try_from(targets.len()).unwrap_or(u16::MAX))?;
        // From the last target to the first. Above the parts of a target are the parts of those
        // behind it, and the values that are not assigned yet.
        let mut above = 0;
        for (position, target) in targets.iter().enumerate().rev() {
            let values = u16::try_from(position).unwrap_or(u16::MAX);
            self.assign(*target, above + values);
            above += if *target == Prefix::Index { 2 } else { 0 };
        }
        if above > 0 {
            self.emit(Op::Pop(above));
        }
        Ok(())
    }

    /// Turns a field into table and key on the stack, so that all targets have one form.
    fn complete_target(&mut self, prefix: &mut Prefix) {
        if let Prefix::Field(name) = *prefix {
            self.emit(Op::Constant(name));
            *prefix = Prefix::Index;
        }
    }

    /// Pops the value on the top and assigns it. `above` is the number of values between the parts of
    /// the target and this value.
    fn assign(&mut self, prefix: Prefix, above: u16) {
        let line = self.last_line;
        match prefix {
            Prefix::Local(slot) => self.scope().emit_local(Op::SetLocal(slot), slot, line),
            Prefix::Upvalue(position) => {
                self.emit(Op::SetUpvalue(position));
            }
            Prefix::Global(global) => {
                self.emit(Op::SetGlobal(global));
            }
            _ => {
                self.emit(Op::SetIndex(above));
            }
        }
    }

    fn drop_target(&mut self, prefix: Prefix) {
        if prefix == Prefix::Index {
            self.emit(Op::Pop(2));
        }
    }
}
