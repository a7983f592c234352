//! Log lines of interpreters in the host's log.

use kindsight_model::InterpretedBy;

use crate::bindings::log::Level;

/// The target of log events that contain lines of interpreters, for programs that show them
/// separately from the log. Each event has the fields `interpreter.name` and `digest`.
pub const GUEST_LOG_TARGET: &str = module_path!();
/// The beginning of the message if the interpreter logged the line as an error. In the host's log,
/// it is a warning, because errors in that log are errors of the host.
pub const GUEST_ERROR: &str = "guest error: ";

/// Writes one line, which must be clean and counted.
pub(crate) fn write(level: Level, by: &InterpretedBy, message: &str) {
    let (name, digest) = (by.name.as_str(), by.digest.as_str());
    match level {
        Level::Debug => tracing::debug!(interpreter.name = name, digest, "{message}"),
        Level::Info => tracing::info!(interpreter.name = name, digest, "{message}"),
        Level::Warn => tracing::warn!(interpreter.name = name, digest, "{message}"),
        Level::Error => {
            tracing::warn!(interpreter.name = name, digest, "{GUEST_ERROR}{message}");
        }
    }
}
