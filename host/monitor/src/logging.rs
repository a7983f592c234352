//! The log of the process.

use std::io;

use clap::ValueEnum;
use kindsight_access::{CleanLines, LineFormat};
use tracing_subscriber::{EnvFilter, fmt};

/// Hides the warning of the Kubernetes client that a certificate is not checked. The kubeconfig disabled the check.
const QUIET: &str = "kube_client::client::tls=error";

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Plain text.
    Text,
    /// One JSON object per line.
    Json,
}

/// The reason why logging cannot start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LogError {
    #[error("invalid log filter `{filter}`: {why}; write a level such as `info`")]
    Filter { filter: String, why: String },
    #[error("logging cannot start: {0}")]
    Start(String),
}

/// Starts logging to standard error.
///
/// # Errors
/// [`LogError`].
pub(crate) fn start(level: &str, format: LogFormat) -> Result<(), LogError> {
    let filter = EnvFilter::try_new(format!("{QUIET},{level}"));
    let filter = filter.map_err(|error| LogError::Filter {
        filter: level.to_owned(),
        why: error.to_string(),
    })?;
    let lines = match format {
        LogFormat::Text => LineFormat::Text,
        LogFormat::Json => LineFormat::Json,
    };
    let builder = fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_target(false)
        .with_writer(move || CleanLines::new(io::stderr(), lines));
    let started = match format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    started.map_err(|error| LogError::Start(error.to_string()))
}
