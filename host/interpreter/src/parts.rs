//! The number of parts of a component, compared with the limit that an operator sets.

use std::sync::Arc;

use crate::bounded_store::{begin, store};
use crate::instance_context::InstanceContext;
use crate::interpreter::Interpreter;
use crate::limits::{LOAD_DEADLINE, Limits};
use crate::load_error::LoadError;

/// The part of wasmtime's text that shows that a limit on parts was reached. wasmtime does not
/// export the type of this error.
pub(crate) const TOO_HIGH: &str = "count too high";

/// Refuses a loaded component that has more parts than [`Limits::parts_max`].
///
/// Makes one instance to find out. The number of parts is known when they are linked, but cannot be
/// read from the bytes, because a component may instantiate another one many times. The number is
/// the same at every call.
pub(crate) fn check(interpreter: &Interpreter, limits: &Limits) -> Result<(), LoadError> {
    let by = Arc::clone(interpreter.by());
    let context = InstanceContext::new(by, Arc::default(), limits.memory_bytes_max);
    let pre = interpreter.pre();
    let mut store = store(pre.engine(), context.with_parts_max(limits.parts_max));
    begin(&mut store, LOAD_DEADLINE);
    match pre.instantiate(&mut store) {
        Err(error) if format!("{error:#}").contains(TOO_HIGH) => {
            Err(LoadError::TooManyParts(limits.parts_max))
        }
        // Any other error would have stopped the load earlier, and is a fault during a call.
        _ => Ok(()),
    }
}
