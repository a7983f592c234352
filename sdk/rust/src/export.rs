//! Export of an interpreter as a component.

use std::marker::PhantomData;

use kindsight_contract::limits::REASON_BYTES_MAX;

use crate::bindings::exports::kindsight::interpreter::{description, interpreter};
use crate::bindings::kindsight::interpreter::log as host_log;
use crate::{Failure, Input, Interpreter, Object, Verdict};

/// Adapter from an [`Interpreter`] to the generated bindings; used by [`crate::export!`].
pub struct Adapter<I>(PhantomData<I>);

impl<I: Interpreter> description::Guest for Adapter<I> {
    fn describe() -> String {
        install_panic_hook();
        I::describe().to_json()
    }

    fn fixtures() -> String {
        install_panic_hook();
        I::fixtures().into_json().into_owned()
    }
}

impl<I: Interpreter> interpreter::Guest for Adapter<I> {
    fn interpret(input: interpreter::Input) -> Result<interpreter::Verdict, interpreter::Failure> {
        install_panic_hook();
        interpret::<I>(&input)
    }
}

/// One call, from the contract's types to the contract's types.
fn interpret<I: Interpreter>(
    input: &interpreter::Input,
) -> Result<interpreter::Verdict, interpreter::Failure> {
    match judge::<I>(input) {
        Ok(verdict) => Ok(interpreter::Verdict {
            state: verdict.state.name().to_owned(),
            reason: verdict.reason.into_owned(),
            message: verdict.message.into_owned(),
            recheck_at_ms: verdict.recheck_at_ms,
            extras: None,
        }),
        Err(Failure::Unsupported) => Err(interpreter::Failure::Unsupported),
        Err(Failure::InvalidInput(what)) => Err(interpreter::Failure::InvalidInput(what)),
        Err(Failure::Internal(what)) => Err(interpreter::Failure::Internal(what)),
    }
}

/// One call; the harness makes it natively.
pub(crate) fn judge<I: Interpreter>(input: &interpreter::Input) -> Result<Verdict, Failure> {
    let verdict = Object::read(&input.object, |object| {
        I::interpret(object, &Input::new(input))
    })?;
    Ok(Verdict {
        reason: clipped(verdict.reason.into_owned(), REASON_BYTES_MAX).into(),
        message: clipped(verdict.message.into_owned(), MESSAGE_BYTES_MAX).into(),
        ..verdict
    })
}

/// The longest message that hosts show. They take over little more from one call, and a controller
/// may have written much more.
const MESSAGE_BYTES_MAX: usize = 4096;

/// Cuts a text to the length the contract allows. Most are a controller's own, and the API conventions
/// allow reasons eight times as long.
fn clipped(mut text: String, bytes_max: usize) -> String {
    text.truncate(text.floor_char_boundary(bytes_max));
    text
}

/// Writes one line into the host's log. Outside a component it is dropped.
pub fn log(level: LogLevel, message: &str) {
    if cfg!(target_arch = "wasm32") {
        host_log::emit(level, message);
    }
}

pub use host_log::Level as LogLevel;

/// On `wasm32-unknown-unknown` a panic is a bare trap; this sends its message to the host's log first.
fn install_panic_hook() {
    #[cfg(target_arch = "wasm32")]
    {
        use std::sync::Once;
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            std::panic::set_hook(Box::new(|panic| {
                host_log::emit(LogLevel::Error, &panic.to_string());
            }));
        });
    }
}

/// Makes a component of a type that implements [`crate::Interpreter`].
///
/// Also sets the component's allocator: talc, which is made for Wasm and for the small short-lived
/// values that are all an interpreter makes.
#[macro_export]
macro_rules! export {
    ($interpreter:ty) => {
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            #[global_allocator]
            static ALLOCATOR: $crate::talc::wasm::WasmDynamicTalc =
                $crate::talc::wasm::new_wasm_dynamic_allocator();

            type Component = $crate::Adapter<$interpreter>;
    $crate::bindings::export!(Component with_types_in $crate::bindings);
        };
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_cut_to_what_the_contract_allows() {
        let clipped = |text: String| clipped(text, REASON_BYTES_MAX);
        assert_eq!(clipped("Ready".to_owned()), "Ready");
        assert_eq!(clipped("x".repeat(1024)).len(), REASON_BYTES_MAX);
        assert_eq!(
            clipped("ä€".repeat(64)).len(),
            127,
            "no character is cut in two"
        );
    }
}
