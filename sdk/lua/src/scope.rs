//! Variables, blocks and jumps of one function while it is compiled.

use crate::CompileError;
use crate::limits::LOCALS_MAX;
use crate::program::{Captured, Function, Op};

/// A local variable. Its slot is its position among the visible variables.
struct Local {
    name: String,
    /// Its position in [`FunctionScope::is_captured`].
    id: usize,
}

/// An instruction that refers to a local variable by its slot.
struct Reference {
    instruction: usize,
    local: usize,
}

struct Label {
    name: String,
    instruction: usize,
    locals: usize,
}

/// A `goto` whose label was not found yet: a cut of the stack, then a jump.
struct Goto {
    name: String,
    instruction: usize,
    locals: usize,
    line: u32,
}

#[derive(Default)]
struct Block {
    first_local: usize,
    is_loop: bool,
    breaks: Vec<usize>,
    labels: Vec<Label>,
    gotos: Vec<Goto>,
}

/// The function that is compiled.
#[derive(Default)]
pub(crate) struct FunctionScope {
    pub(crate) function: Function,
    locals: Vec<Local>,
    is_captured: Vec<bool>,
    references: Vec<Reference>,
    blocks: Vec<Block>,
    upvalues: Vec<String>,
}

impl FunctionScope {
    pub(crate) fn emit(&mut self, op: Op, line: u32) -> usize {
        self.function.code.push(op);
        self.function.lines.push(line);
        self.function.code.len() - 1
    }

    /// The position of the next instruction.
    pub(crate) fn next(&self) -> usize {
        self.function.code.len()
    }

    pub(crate) fn last(&mut self) -> Option<&mut Op> {
        self.function.code.last_mut()
    }

    /// Lets the jump at `instruction` go to the next instruction.
    pub(crate) fn land(&mut self, instruction: usize) {
        let next = position(self.next());
        self.aim(instruction, next);
    }

    fn aim(&mut self, instruction: usize, to: u32) {
        let Some(
            Op::Jump(target)
            | Op::JumpIfFalse(target)
            | Op::And(target)
            | Op::Or(target)
            | Op::ForNext(_, target)
            | Op::ForEach { exit: target, .. },
        ) = self.function.code.get_mut(instruction)
        else {
            return;
        };
        *target = to;
    }

    pub(crate) fn slots(&self) -> u16 {
        u16::try_from(self.locals.len()).unwrap_or(u16::MAX)
    }

    /// Makes a variable visible whose value is at the next slot.
    pub(crate) fn declare(&mut self, name: &str, line: u32) -> Result<(), CompileError> {
        if self.locals.len() >= LOCALS_MAX {
            let what = format!("more than {LOCALS_MAX} local variables in one function");
            return Err(CompileError { line, what });
        }
        let (id, slot) = (self.is_captured.len(), self.slots());
        self.is_captured.push(false);
        self.locals.push(Local {
            name: name.to_owned(),
            id,
        });
        let instruction = self.emit(Op::Capture(slot), line);
        self.refer(instruction, id);
        Ok(())
    }

    fn refer(&mut self, instruction: usize, local: usize) {
        self.references.push(Reference { instruction, local });
    }

    /// The slot of the innermost visible variable with this name.
    pub(crate) fn find(&self, name: &str) -> Option<u16> {
        let slot = self.locals.iter().rposition(|local| local.name == name)?;
        u16::try_from(slot).ok()
    }

    /// Emits an instruction on the variable in the slot.
    pub(crate) fn emit_local(&mut self, op: Op, slot: u16, line: u32) {
        let instruction = self.emit(op, line);
        if let Some(local) = self.locals.get(usize::from(slot)) {
            let id = local.id;
            self.refer(instruction, id);
        }
    }

    fn capture(&mut self, slot: u16) {
        let local = self.locals.get(usize::from(slot));
        let flag = local.and_then(|local| self.is_captured.get_mut(local.id));
        if let Some(flag) = flag {
            *flag = true;
        }
    }

    pub(crate) fn open_block(&mut self, is_loop: bool) {
        self.blocks.push(Block {
            first_local: self.locals.len(),
            is_loop,
            ..Block::default()
        });
    }

    /// Ends the block. Its variables leave the stack, and its `break`s land behind it.
    pub(crate) fn close_block(&mut self, line: u32) -> Result<(), CompileError> {
        let Some(block) = self.blocks.pop() else {
            return Ok(());
        };
        self.cut(&block, line);
        for instruction in block.breaks {
            self.land(instruction);
        }
        if block.is_loop {
            let slots = self.slots();
            self.emit(Op::Truncate(slots), line);
        }
        for mut goto in block.gotos {
            goto.locals = goto.locals.min(block.first_local);
            if let Some(outer) = self.blocks.last_mut() {
                outer.gotos.push(goto);
            } else {
                let what = format!("no visible label '{}' for goto", goto.name);
                return Err(CompileError {
                    line: goto.line,
                    what,
                });
            }
        }
        Ok(())
    }

    fn cut(&mut self, block: &Block, line: u32) {
        if self.locals.len() > block.first_local {
            self.locals.truncate(block.first_local);
            let slots = self.slots();
            self.emit(Op::Truncate(slots), line);
        }
    }

    /// Removes the variables of the innermost block, for a loop that jumps back.
    pub(crate) fn end_iteration(&mut self, line: u32) {
        let first = self.blocks.last().map_or(0, |block| block.first_local);
        let slots = u16::try_from(first).unwrap_or(u16::MAX);
        self.emit(Op::Truncate(slots), line);
    }

    pub(crate) fn emit_break(&mut self, line: u32) -> Result<(), CompileError> {
        let instruction = self.emit(Op::Jump(0), line);
        match self.blocks.iter_mut().rev().find(|block| block.is_loop) {
            Some(block) => {
                block.breaks.push(instruction);
                Ok(())
            }
            None => Err(CompileError {
                line,
                what: "no loop to break".to_owned(),
            }),
        }
    }

    /// Emits a `goto`, to a label that was defined before or will be.
    pub(crate) fn emit_goto(&mut self, name: &str, line: u32) {
        let labels = self.blocks.iter().rev().flat_map(|block| &block.labels);
        let known = labels
            .clone()
            .find(|label| label.name == name)
            .map(|label| (label.instruction, label.locals));
        let locals = known.map_or(self.locals.len(), |(_, locals)| locals);
        let slots = u16::try_from(locals).unwrap_or(u16::MAX);
        let instruction = self.emit(Op::Truncate(slots), line);
        let target = known.map_or(0, |(target, _)| position(target));
        self.emit(Op::Jump(target), line);
        if known.is_none()
            && let Some(block) = self.blocks.last_mut()
        {
            block.gotos.push(Goto {
                name: name.to_owned(),
                instruction,
                locals,
                line,
            });
        }
    }

    /// Defines a label. At the end of its block, the block's variables are not visible any more.
    pub(crate) fn label(
        &mut self,
        name: &str,
        is_last: bool,
        line: u32,
    ) -> Result<(), CompileError> {
        let error = |what: String| Err(CompileError { line, what });
        let all = self.locals.len();
        let instruction = self.next();
        let Some(block) = self.blocks.last_mut() else {
            return Ok(());
        };
        if block.labels.iter().any(|label| label.name == name) {
            return error(format!("label '{name}' already defined"));
        }
        let locals = if is_last { block.first_local } else { all };
        block.labels.push(Label {
            name: name.to_owned(),
            instruction,
            locals,
        });
        let (here, others): (Vec<Goto>, Vec<Goto>) = std::mem::take(&mut block.gotos)
            .into_iter()
            .partition(|goto| goto.name == name);
        block.gotos = others;
        for goto in here {
            if goto.locals < locals {
                return error(format!("<goto {name}> jumps into the scope of a local"));
            }
            let slots = u16::try_from(locals).unwrap_or(u16::MAX);
            if let Some(op) = self.function.code.get_mut(goto.instruction) {
                *op = Op::Truncate(slots);
            }
            self.aim(goto.instruction + 1, position(instruction));
        }
        Ok(())
    }

    /// Ends the function: instructions on captured variables get their final form.
    pub(crate) fn finish(mut self) -> Function {
        for Reference { instruction, local } in self.references {
            let is_captured = self.is_captured.get(local).copied().unwrap_or_default();
            let Some(op) = self.function.code.get_mut(instruction) else {
                continue;
            };
            *op = match *op {
                Op::Local(slot) if is_captured => Op::Shared(slot),
                Op::SetLocal(slot) if is_captured => Op::SetShared(slot),
                Op::Capture(_) if !is_captured => Op::Nothing,
                other => other,
            };
        }
        self.function
    }
}

fn position(instruction: usize) -> u32 {
    u32::try_from(instruction).unwrap_or(u32::MAX)
}

/// Finds a captured variable by its name in the functions around the last one, and captures it in
/// each function between.
pub(crate) fn upvalue(scopes: &mut [FunctionScope], name: &str) -> Option<u16> {
    let (inner, outer) = scopes.split_last_mut()?;
    if let Some(known) = inner.upvalues.iter().position(|upvalue| upvalue == name) {
        return u16::try_from(known).ok();
    }
    let around = outer.last_mut()?;
    let captured = match around.find(name) {
        Some(slot) => {
            around.capture(slot);
            Captured::Local(slot)
        }
        None => Captured::Upvalue(upvalue(outer, name)?),
    };
    inner.upvalues.push(name.to_owned());
    inner.function.captures.push(captured);
    u16::try_from(inner.upvalues.len() - 1).ok()
}
