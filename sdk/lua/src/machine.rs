//! Runs compiled scripts.
//!
//! Calls between functions of a script use frames of this machine and not the stack of the guest, so
//! deep recursion is an error of the script.

mod calls;
mod operations;
mod tables;

use crate::error::{Failure, OUT_OF_STEPS};
use crate::limits::{BYTES_PER_STEP, STACK_VALUES_MAX, STEPS_MAX};
use crate::program::{ALL, Op, Program};
use crate::value::{Builtin, Heap, Value};
use crate::{Libraries, libraries, number};

/// An active call of a function of the script.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    function: usize,
    /// Position of the closure. `None` for the script itself.
    closure: Option<crate::value::FunctionId>,
    next: usize,
    /// The place of the function's value on the stack, where its results go.
    bottom: usize,
    /// The place of the first slot.
    base: usize,
    /// Number of values of `...`, which are below the base.
    varargs: usize,
    /// Number of results that the caller wants.
    results: u16,
}

/// A machine for one run of one script.
pub(crate) struct Machine<'a> {
    program: &'a Program,
    pub(crate) heap: Heap<'a>,
    pub(crate) libraries: Libraries,
    /// The time in Unix seconds for `os.time` and `os.date`.
    pub(crate) now_s: i64,
    globals: Vec<Value>,
    pub(crate) stack: Vec<Value>,
    frames: Vec<Frame>,
    /// Number of values that the last open call or `...` gave.
    open: usize,
    steps: u32,
    native_calls: usize,
    /// The table of the library `string`, which is also the index of all texts.
    string_library: Option<Value>,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(program: &'a Program, libraries: Libraries, now_s: i64) -> Self {
        let mut heap = Heap::default();
        for text in &program.strings {
            heap.borrowed(text);
        }
        Self {
            program,
            heap,
            libraries,
            now_s,
            globals: Vec::with_capacity(program.globals.len()),
            stack: Vec::with_capacity(64),
            frames: Vec::with_capacity(8),
            open: 0,
            steps: STEPS_MAX,
            native_calls: 0,
            string_library: None,
        }
    }

    /// Gives the script's global variables their first values: `given`, or functions and libraries.
    pub(crate) fn set_globals(&mut self, given: &[(&str, Value)]) -> Result<(), Failure> {
        let program = self.program;
        for name in &program.globals {
            let value = given.iter().find(|(given, _)| given == name);
            let value = match value {
                Some((_, value)) => *value,
                None => libraries::global(self, name)?,
            };
            self.globals.push(value);
        }
        Ok(())
    }

    /// The value of a global variable after a run. `nil` if the script does not name it.
    pub(crate) fn global(&self, name: &str) -> Value {
        let position = self
            .program
            .globals
            .iter()
            .position(|global| global == name);
        let value = position.and_then(|position| self.globals.get(position));
        value.copied().unwrap_or(Value::Nil)
    }

    /// The table of the library `string`.
    pub(crate) fn string_library(&mut self) -> Result<Value, Failure> {
        if let Some(library) = self.string_library {
            return Ok(library);
        }
        let library = libraries::string_table(self)?;
        self.string_library = Some(library);
        Ok(library)
    }

    /// Runs the script itself, and returns its last result. Argo CD reads no other result.
    pub(crate) fn run_script(&mut self) -> Result<Value, Failure> {
        self.stack.push(Value::Nil);
        self.enter(0, None, 0, 0, ALL)?;
        self.run(0)?;
        let result = self.stack.last().copied().unwrap_or(Value::Nil);
        self.stack.clear();
        Ok(result)
    }

    /// Counts the work on so many bytes.
    pub(crate) fn work(&mut self, bytes: usize) -> Result<(), Failure> {
        let steps = u32::try_from(bytes / BYTES_PER_STEP).unwrap_or(u32::MAX);
        self.spend(steps.saturating_add(1))
    }

    pub(crate) fn spend(&mut self, steps: u32) -> Result<(), Failure> {
        if let Some(rest) = self.steps.checked_sub(steps) {
            self.steps = rest;
            Ok(())
        } else {
            self.steps = 0;
            Err(Failure::Limit(OUT_OF_STEPS))
        }
    }

    /// The number of instructions that the run may still take.
    pub(crate) fn steps_left(&self) -> u32 {
        self.steps
    }

    pub(crate) fn pop(&mut self) -> Value {
        self.stack.pop().unwrap_or(Value::Nil)
    }

    pub(crate) fn push(&mut self, value: Value) {
        self.stack.push(value);
    }

    /// The value this many places below the top.
    fn below(&self, depth: usize) -> Value {
        let position = self.stack.len().checked_sub(depth + 1);
        let value = position.and_then(|position| self.stack.get(position));
        value.copied().unwrap_or(Value::Nil)
    }

    fn slot(&self, frame: &Frame, slot: u16) -> Value {
        let value = self.stack.get(frame.base + usize::from(slot));
        value.copied().unwrap_or(Value::Nil)
    }

    fn set_slot(&mut self, frame: &Frame, slot: u16, value: Value) {
        if let Some(place) = self.stack.get_mut(frame.base + usize::from(slot)) {
            *place = value;
        }
    }

    /// Runs until only `depth` frames are left.
    fn run(&mut self, depth: usize) -> Result<(), Failure> {
        let program = self.program;
        while self.frames.len() > depth
            && let Some(mut frame) = self.frames.last().copied()
        {
            let Some(function) = program.functions.get(frame.function) else {
                return Ok(());
            };
            loop {
                let Some(op) = function.code.get(frame.next).copied() else {
                    return Ok(());
                };
                frame.next += 1;
                let work = self.heap.take_work() / BYTES_PER_STEP;
                self.spend(u32::try_from(work).unwrap_or(u32::MAX).saturating_add(1))?;
                match self.step(&mut frame, op) {
                    Ok(Flow::Next) => {}
                    Ok(Flow::Changed) => break,
                    Err(failure) => {
                        let line = function.lines.get(frame.next - 1).copied();
                        return Err(self.located(failure, line));
                    }
                }
            }
        }
        Ok(())
    }

    /// The failure as an error with the line where it happened.
    fn located(&mut self, failure: Failure, line: Option<u32>) -> Failure {
        let Failure::Text(what) = failure else {
            return failure;
        };
        let text = match line {
            Some(line) => format!("<string>:{line}: {what}"),
            None => what,
        };
        match self.heap.string(text.into_bytes()) {
            Ok(value) => Failure::Raised(value),
            Err(full) => full.into(),
        }
    }

    fn constant(&self, position: u32) -> Value {
        let position = usize::try_from(position).unwrap_or(usize::MAX);
        let value = self.program.constants.get(position);
        value.copied().unwrap_or(Value::Nil)
    }

    fn step(&mut self, frame: &mut Frame, op: Op) -> Result<Flow, Failure> {
        match op {
            Op::Nothing => {}
            Op::Constant(position) => self.push(self.constant(position)),
            Op::Local(slot) => self.push(self.slot(frame, slot)),
            Op::SetLocal(slot) => {
                let value = self.pop();
                self.set_slot(frame, slot, value);
            }
            Op::Field(name) => {
                let table = self.pop();
                let value = self.index(table, self.constant(name))?;
                self.push(value);
            }
            Op::Index => {
                let key = self.pop();
                let table = self.pop();
                let value = self.index(table, key)?;
                self.push(value);
            }
            Op::Jump(to) => jump(frame, to),
            Op::JumpIfFalse(to) => {
                if !is_true(self.pop()) {
                    jump(frame, to);
                }
            }
            Op::And(to) => {
                if is_true(self.below(0)) {
                    self.pop();
                } else {
                    jump(frame, to);
                }
            }
            Op::Or(to) => {
                if is_true(self.below(0)) {
                    jump(frame, to);
                } else {
                    self.pop();
                }
            }
            Op::Truncate(slot) => self.stack.truncate(frame.base + usize::from(slot)),
            Op::Pop(count) => {
                let length = self.stack.len().saturating_sub(usize::from(count));
                self.stack.truncate(length);
            }
            Op::Global(position) => {
                let value = self.globals.get(position as usize).copied();
                self.push(value.unwrap_or(Value::Nil));
            }
            Op::Call {
                arguments,
                open,
                results,
            } => return self.call_op(frame, arguments, open, results),
            Op::Return { results, open } => {
                self.return_op(frame, results, open);
                return Ok(Flow::Changed);
            }
            Op::ForNext(slot, exit) => self.for_next(frame, slot, exit),
            Op::ForEach {
                slot,
                variables,
                exit,
            } => self.for_each(frame, slot, variables, exit)?,
            _ => return self.rare_step(frame, op),
        }
        Ok(Flow::Next)
    }

    /// Instructions that are not among the most frequent.
    fn rare_step(&mut self, frame: &mut Frame, op: Op) -> Result<Flow, Failure> {
        match op {
            Op::Nil(count) => {
                let length = self.stack.len() + usize::from(count);
                self.stack.resize(length, Value::Nil);
            }
            Op::Bool(value) => self.push(Value::Bool(value)),
            Op::SetGlobal(position) => {
                let value = self.pop();
                if let Some(global) = self.globals.get_mut(position as usize) {
                    *global = value;
                }
            }
            Op::Capture(slot) => {
                let cell = self.heap.cell(self.slot(frame, slot))?;
                self.set_slot(frame, slot, Value::Cell(cell));
            }
            Op::Shared(slot) => {
                let value = match self.slot(frame, slot) {
                    Value::Cell(cell) => self.heap.shared(cell),
                    other => other,
                };
                self.push(value);
            }
            Op::SetShared(slot) => {
                let value = self.pop();
                if let Value::Cell(cell) = self.slot(frame, slot) {
                    self.heap.set_shared(cell, value);
                }
            }
            Op::Upvalue(position) => {
                let value = self.captured(frame, position);
                self.push(value.map_or(Value::Nil, |cell| self.heap.shared(cell)));
            }
            Op::SetUpvalue(position) => {
                let value = self.pop();
                if let Some(cell) = self.captured(frame, position) {
                    self.heap.set_shared(cell, value);
                }
            }
            Op::Function(function) => self.make_function(frame, function)?,
            Op::Method(name) => {
                let object = self.pop();
                let method = self.index(object, self.constant(name))?;
                self.push(method);
                self.push(object);
            }
            Op::Vararg(results) => self.vararg(frame, results)?,
            Op::ForPrepare(slot) => self.for_prepare(frame, slot)?,
            Op::Table
            | Op::SetIndex(_)
            | Op::InitField { .. }
            | Op::InitIndex(_)
            | Op::Append { .. } => self.table_op(op)?,
            _ => self.operator(op)?,
        }
        Ok(Flow::Next)
    }

    fn for_prepare(&mut self, frame: &Frame, slot: u16) -> Result<(), Failure> {
        // As in gopher-lua, a text with a number is an error.
        for (offset, what) in [(0, "init"), (2, "step"), (1, "limit")] {
            if !matches!(self.slot(frame, slot + offset), Value::Number(_)) {
                return Failure::text(format!("for statement {what} must be a number"));
            }
        }
        let (from, step) = (self.slot(frame, slot), self.slot(frame, slot + 2));
        if let (Value::Number(from), Value::Number(step)) = (from, step) {
            self.set_slot(frame, slot, Value::Number(from - step));
        }
        Ok(())
    }

    fn for_next(&mut self, frame: &mut Frame, slot: u16, exit: u32) {
        let values = [slot, slot + 1, slot + 2].map(|slot| self.slot(frame, slot));
        let [Value::Number(at), Value::Number(limit), Value::Number(step)] = values else {
            return jump(frame, exit);
        };
        let at = at + step;
        let goes_on = if step > 0.0 { at <= limit } else { at >= limit };
        if goes_on {
            self.set_slot(frame, slot, Value::Number(at));
            self.push(Value::Number(at));
        } else {
            jump(frame, exit);
        }
    }

    fn for_each(
        &mut self,
        frame: &mut Frame,
        slot: u16,
        variables: u8,
        exit: u32,
    ) -> Result<(), Failure> {
        let [iterator, state, control] =
            [slot, slot + 1, slot + 2].map(|slot| self.slot(frame, slot));
        let from = self.stack.len();
        match (iterator, state, control) {
            (Value::Builtin(Builtin::Next), Value::Table(table), _) => {
                let Some((key, value)) = self.heap.next(table, control)? else {
                    return Failure::text("invalid key to 'next'");
                };
                self.push(key);
                self.push(value);
            }
            (Value::Builtin(Builtin::IpairsNext), Value::Table(table), Value::Number(at)) => {
                let at = Value::Number(at + 1.0);
                let value = self.heap.get(table, at)?;
                self.push(if value == Value::Nil { value } else { at });
                self.push(value);
            }
            _ => {
                // The line of an error in the iterator is known through the frame.
                if let Some(active) = self.frames.last_mut() {
                    active.next = frame.next;
                }
                self.call_native(iterator, &[state, control])?;
            }
        }
        self.stack.resize(from + usize::from(variables), Value::Nil);
        let first = self.stack.get(from).copied().unwrap_or(Value::Nil);
        if first == Value::Nil {
            jump(frame, exit);
        } else {
            self.set_slot(frame, slot + 2, first);
        }
        Ok(())
    }

    fn vararg(&mut self, frame: &Frame, results: u16) -> Result<(), Failure> {
        let first = frame.base - frame.varargs;
        let count = if results == ALL {
            self.open = frame.varargs;
            frame.varargs
        } else {
            usize::from(results)
        };
        self.check_stack(count)?;
        for position in 0..count {
            let value = if position < frame.varargs {
                self.stack.get(first + position).copied()
            } else {
                None
            };
            self.push(value.unwrap_or(Value::Nil));
        }
        Ok(())
    }

    pub(crate) fn check_stack(&self, more: usize) -> Result<(), Failure> {
        if self.stack.len().saturating_add(more) > STACK_VALUES_MAX {
            return Failure::text("stack overflow");
        }
        Ok(())
    }

    /// The value as a number, also from a text.
    pub(crate) fn to_number(&self, value: Value) -> Option<f64> {
        match value {
            Value::Number(value) => Some(value),
            Value::String(text) => number::parse(self.heap.text(text)),
            _ => None,
        }
    }
}

/// The step after an instruction.
enum Flow {
    Next,
    /// Another frame runs.
    Changed,
}

fn jump(frame: &mut Frame, to: u32) {
    frame.next = to as usize;
}

/// `nil` and `false` are false.
pub(crate) use operations::{modulo, type_name};

pub(crate) fn is_true(value: Value) -> bool {
    !matches!(value, Value::Nil | Value::Bool(false))
}
