//! Calls of functions.

use super::{Flow, Frame, Machine, type_name};
use crate::error::Failure;
use crate::libraries;
use crate::limits::{CALLS_MAX, NATIVE_CALLS_MAX};
use crate::program::{ALL, Captured};
use crate::value::{CellId, Closure, FunctionId, Value};

impl Machine<'_> {
    pub(super) fn call_op(
        &mut self,
        frame: &mut Frame,
        arguments: u16,
        open: bool,
        results: u16,
    ) -> Result<Flow, Failure> {
        let count = usize::from(arguments) + if open { self.open } else { 0 };
        let bottom = self.stack.len().saturating_sub(count + 1);
        // Lines of errors, and the place to continue after the call.
        if let Some(active) = self.frames.last_mut() {
            active.next = frame.next;
        }
        self.begin(bottom, results)
    }

    /// Begins the call of the function at `bottom` with the arguments above it.
    fn begin(&mut self, bottom: usize, results: u16) -> Result<Flow, Failure> {
        let callee = self.stack.get(bottom).copied().unwrap_or(Value::Nil);
        match callee {
            Value::Function(id) => {
                let function = self.heap.function(id).map_or(0, |closure| closure.function);
                let arguments = self.stack.len() - bottom - 1;
                self.enter(function, Some(id), bottom, arguments, results)?;
                Ok(Flow::Changed)
            }
            Value::Builtin(builtin) => {
                let from = libraries::call(self, builtin, bottom + 1)?;
                self.finish(bottom, from, results);
                Ok(Flow::Next)
            }
            other => {
                let method = self.metamethod(other, "__call")?;
                if method == Value::Nil {
                    let what = type_name(other);
                    return Failure::text(format!("attempt to call a {what} value"));
                }
                self.check_stack(1)?;
                self.stack.insert(bottom, method);
                self.spend(1)?;
                self.begin(bottom, results)
            }
        }
    }

    /// Makes a frame for a function whose arguments are the last values of the stack.
    pub(super) fn enter(
        &mut self,
        function: usize,
        closure: Option<FunctionId>,
        bottom: usize,
        arguments: usize,
        results: u16,
    ) -> Result<(), Failure> {
        if self.frames.len() >= CALLS_MAX {
            return Failure::text("stack overflow");
        }
        self.check_stack(256)?;
        let callee = self.program.functions.get(function);
        let (parameters, is_vararg) = callee.map_or((0, false), |callee| {
            (usize::from(callee.parameters), callee.is_vararg)
        });
        let mut varargs = 0;
        let first = bottom + 1;
        if is_vararg && arguments > parameters {
            // The parameters move behind the other arguments.
            varargs = arguments - parameters;
            if let Some(arguments) = self.stack.get_mut(first..) {
                arguments.rotate_left(parameters);
            }
        } else {
            self.stack.resize(first + parameters, Value::Nil);
        }
        self.frames.push(Frame {
            function,
            closure,
            next: 0,
            bottom,
            base: first + varargs,
            varargs,
            results,
        });
        Ok(())
    }

    pub(super) fn return_op(&mut self, frame: &Frame, results: u16, open: bool) {
        let count = usize::from(results) + if open { self.open } else { 0 };
        let from = self.stack.len().saturating_sub(count);
        self.frames.pop();
        self.finish(frame.bottom, from, frame.results);
    }

    /// Moves the results, which begin at `from`, to the place of the function.
    fn finish(&mut self, bottom: usize, from: usize, results: u16) {
        let count = self.stack.len().saturating_sub(from);
        self.stack.drain(bottom..from);
        if results == ALL {
            self.open = count;
        } else {
            self.stack.resize(bottom + usize::from(results), Value::Nil);
        }
    }

    /// Calls a function from a library. Its results are the last values of the stack; returns their
    /// number.
    pub(crate) fn call_native(
        &mut self,
        callee: Value,
        arguments: &[Value],
    ) -> Result<usize, Failure> {
        if self.native_calls >= NATIVE_CALLS_MAX {
            return Failure::text("stack overflow");
        }
        self.check_stack(arguments.len() + 1)?;
        let bottom = self.stack.len();
        self.push(callee);
        self.stack.extend_from_slice(arguments);
        self.native_calls += 1;
        let depth = self.frames.len();
        let result = match self.begin(bottom, ALL) {
            Ok(Flow::Changed) => self.run(depth),
            Ok(Flow::Next) => Ok(()),
            Err(failure) => Err(failure),
        };
        self.native_calls -= 1;
        result?;
        Ok(self.stack.len() - bottom)
    }

    /// The first result of a call from a library.
    pub(crate) fn call_for_one(
        &mut self,
        callee: Value,
        arguments: &[Value],
    ) -> Result<Value, Failure> {
        let bottom = self.stack.len();
        self.call_native(callee, arguments)?;
        let value = self.stack.get(bottom).copied().unwrap_or(Value::Nil);
        self.stack.truncate(bottom);
        Ok(value)
    }

    /// Calls a function and catches its errors, but not a limit of the run. The results of the call
    /// are the last values of the stack.
    pub(crate) fn protected(
        &mut self,
        callee: Value,
        arguments: &[Value],
    ) -> Result<Result<usize, Value>, Failure> {
        let (length, depth) = (self.stack.len(), self.frames.len());
        let failure = match self.call_native(callee, arguments) {
            Ok(count) => return Ok(Ok(count)),
            Err(failure) => failure,
        };
        self.stack.truncate(length);
        self.frames.truncate(depth);
        match failure {
            Failure::Limit(_) => Err(failure),
            Failure::Raised(value) => Ok(Err(value)),
            Failure::Text(what) => Ok(Err(self.heap.string(what.into_bytes())?)),
        }
    }

    /// The shared variable that the running function captured.
    pub(super) fn captured(&self, frame: &Frame, position: u16) -> Option<CellId> {
        let closure = self.heap.function(frame.closure?)?;
        closure.captures.get(usize::from(position)).copied()
    }

    pub(super) fn make_function(&mut self, frame: &Frame, function: u32) -> Result<(), Failure> {
        let function = function as usize;
        let captures = self.program.functions.get(function);
        let captures = captures.map_or(&[][..], |function| &function.captures);
        let mut cells = Vec::with_capacity(captures.len());
        for captured in captures {
            let cell = match *captured {
                Captured::Local(slot) => match self.slot(frame, slot) {
                    Value::Cell(cell) => Some(cell),
                    _ => None,
                },
                Captured::Upvalue(position) => self.captured(frame, position),
            };
            let missing = || self.heap.cell(Value::Nil);
            cells.push(cell.map_or_else(missing, Ok)?);
        }
        let closure = Closure {
            function,
            captures: cells.into_boxed_slice(),
        };
        let value = self.heap.closure(closure)?;
        self.push(value);
        Ok(())
    }
}
