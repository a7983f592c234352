//! Lines of interpreters in the log of the host.

use kindsight_model::InterpretedBy;

use crate::bindings::log::Level;

/// Target of the log events that are lines of interpreters, for those who show them in another way than the
/// log does. Each has the fields `interpreter.name` and `digest`.
pub const GUEST_LOG_TARGET: &str = module_path!();
/// Begin of the message of such an event where the interpreter logged it as an error. In the log of the host
/// it is a warning: an error there is one of the host.
pub const GUEST_ERROR: &str = "guest error: ";

/// Writes one line, which is clean and counted.
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
