//! The number of parts of a component, against the limit that an operator sets.

use std::sync::Arc;

use crate::bounded_store::{begin, store};
use crate::instance_context::InstanceContext;
use crate::interpreter::Interpreter;
use crate::limits::{LOAD_DEADLINE, Limits};
use crate::load_error::LoadError;

/// Part of wasmtime's text where a limit on parts is met. It does not export the type of this error.
pub(crate) const TOO_HIGH: &str = "count too high";

/// Refuses a component that was loaded and has more parts than [`Limits::parts_max`].
///
/// Makes one instance to see: how many parts it has is known when they are linked, not from its bytes,
/// since a component may instantiate another one many times. It has as many at every call.
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
        // Any other error would have ended the load before, and ends a call as a fault.
        _ => Ok(()),
    }
}
