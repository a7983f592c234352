//! Logging to standard error.

use std::io;
use std::str::FromStr;

use tracing_subscriber::EnvFilter;

use crate::error::Error;

/// Format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Plain text.
    Text,
    /// One JSON object per line.
    Json,
}

impl LogFormat {
    /// The names that are parsed.
    pub const NAMES: [&str; 2] = ["text", "json"];
}

impl FromStr for LogFormat {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err(Error::LogFormat(text.to_owned())),
        }
    }
}

/// Starts logging at `level` (a tracing filter such as `info` or `kindsight=debug`).
///
/// Called once by a program, before anything else. Who embeds a server and logs its own way leaves it
/// out.
///
/// # Errors
/// [`Error::LogFilter`] where the filter cannot be parsed, [`Error::Logging`] where the process already
/// logs.
pub fn start_logging(level: &str, format: LogFormat) -> Result<(), Error> {
    let filter = EnvFilter::try_new(level).map_err(|error| Error::LogFilter {
        filter: level.to_owned(),
        why: error.to_string(),
    })?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr);
    let started = match format {
        LogFormat::Text => builder.with_target(false).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    started.map_err(Error::Logging)
}

#[cfg(test)]
mod tests {
    use kindsight_store::chain;

    use super::*;

    #[test]
    fn a_wrong_filter_is_named_and_its_reason_told_once() {
        let error = start_logging("nonsense===", LogFormat::Text).expect_err("no filter");
        let text = chain(&error);
        assert!(
            text.starts_with("invalid log filter `nonsense===`: "),
            "{text}"
        );
        assert_eq!(text.matches("error parsing").count(), 1, "{text}");
    }
}
