//! Export of an interpreter as a component.

use std::borrow::Cow;
use std::marker::PhantomData;

use kindsight_contract::limits::{MESSAGE_BYTES_MAX, REASON_BYTES_MAX};
use kindsight_contract::{Document, member};

use crate::bindings::exports::kindsight::interpreter::{description, view};
use crate::bindings::kindsight::interpreter::{log as host_log, types};
use crate::{Failure, Input, Interpreter, Object, Verdict};

/// The adapter from an [`Interpreter`] to the generated bindings, used by [`crate::export!`].
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

impl<I: Interpreter> view::Guest for Adapter<I> {
    fn judge_view(input: Vec<u8>, now_ms: Option<i64>) -> Result<types::Verdict, types::Failure> {
        install_panic_hook();
        match judge::<I>(&input, now_ms) {
            Ok(verdict) => Ok(types::Verdict {
                state: verdict.state.name().to_owned(),
                reason: verdict.reason.into_owned(),
                message: verdict.message.into_owned(),
                since_ms: verdict.since_ms,
                recheck_at_ms: verdict.recheck_at_ms,
            }),
            Err(failure) => Err(failure.into()),
        }
    }
}

/// One call with the view and, for Kinds that requested it, the time. The harness calls it
/// natively.
pub(crate) fn judge<I: Interpreter>(view: &[u8], now_ms: Option<i64>) -> Result<Verdict, Failure> {
    let document = Document::view(view).map_err(|error| Failure::Internal(error.to_string()))?;
    judge_document::<I>(&document, now_ms)
}

/// The same as [`judge`], with a parsed view.
pub(crate) fn judge_document<I: Interpreter>(
    document: &Document<'_>,
    now_ms: Option<i64>,
) -> Result<Verdict, Failure> {
    let root = document.root();
    let object = root.get(member::OBJECT);
    if !object.is_object() {
        return Err(Failure::InvalidObject("not a JSON object".to_owned()));
    }
    let input = Input::new(root, now_ms);
    let verdict = I::judge(&Object::new(object), &input)?;
    if input.has_missed_time() {
        let what = "the rule reads the time, which its Kind does not request: declare it with `.uses_now()`";
        return Err(Failure::Internal(what.to_owned()));
    }
    Ok(Verdict {
        reason: clipped(verdict.reason, REASON_BYTES_MAX),
        message: clipped(verdict.message, MESSAGE_BYTES_MAX),
        ..verdict
    })
}

impl From<Failure> for types::Failure {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Unsupported(why) => Self::Unsupported(why.into_owned()),
            Failure::InvalidObject(why) => Self::InvalidObject(why),
            Failure::InvalidSettings(why) => Self::InvalidSettings(why),
            Failure::Internal(why) => Self::Internal(why),
        }
    }
}

/// Truncates a text to the length that the contract permits. Most texts are written by a
/// controller. The API conventions permit reasons eight times as long, and hosts accept little more
/// from one call.
fn clipped(mut text: Cow<'static, str>, bytes_max: usize) -> Cow<'static, str> {
    if text.len() > bytes_max {
        let end = text.floor_char_boundary(bytes_max);
        text.to_mut().truncate(end);
    }
    text
}

/// Writes one line to the host's log. Outside a component, for example in `cargo test`, it writes
/// to standard error.
pub fn log(level: LogLevel, message: &str) {
    if cfg!(target_arch = "wasm32") {
        host_log::emit(level, message);
    } else {
        let level = match level {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Warn => "warn",
            LogLevel::Error => "error",
        };
        eprintln!("{level}: {message}");
    }
}

pub use host_log::Level as LogLevel;

/// On `wasm32-unknown-unknown`, a panic is a trap without a message, so this writes the message to
/// the host's log first.
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

/// Makes a component from a type that implements [`crate::Interpreter`].
///
/// Also sets the component's allocator: talc, which is designed for Wasm and for small, short-lived
/// values. An interpreter makes only such values.
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
    fn a_reason_is_truncated_to_the_limit_of_the_contract() {
        let clipped = |text: String| clipped(text.into(), REASON_BYTES_MAX);
        assert_eq!(clipped("Ready".to_owned()), "Ready");
        assert_eq!(clipped("x".repeat(1024)).len(), REASON_BYTES_MAX);
        assert_eq!(clipped("ä€".repeat(64)).len(), 127, "no character is split");
    }
}
