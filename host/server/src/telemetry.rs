//! Logging.

mod guest_lines;
mod text_format;

use std::io::Write;
use std::str::FromStr;

use kindsight_access::{CleanLines, LineFormat};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, fmt};

use crate::error::Error;
use guest_lines::GuestLines;
use text_format::TextFormat;

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

    /// The form of its lines.
    fn lines(self) -> LineFormat {
        match self {
            Self::Text => LineFormat::Text,
            Self::Json => LineFormat::Json,
        }
    }
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

/// Hides the warning of the Kubernetes client that a certificate is not checked. The kubeconfig disabled the check, and
/// the warning does not name the cluster.
const QUIET: &str = "kube_client::client::tls=error";

/// Target of the lines of the audit log.
const AUDIT: &str = "audit";

/// Target of warnings about insecure settings, which no filter hides.
pub(crate) const INSECURE: &str = "insecure";

/// The filter of an operator with the directives that do not depend on its level. Of several directives for one target,
/// the last one counts: so `audit` in the filter of the operator replaces the level of the audit log here.
///
/// # Errors
/// [`Error::LogFilter`] if the filter cannot be parsed.
fn filter(level: &str) -> Result<EnvFilter, Error> {
    // The span `request` has the id of the request, which the lines of the audit log need.
    let directives = format!("{QUIET},{AUDIT}=info,request=error,{level},{INSECURE}=warn");
    EnvFilter::try_new(directives).map_err(|error| Error::LogFilter {
        filter: level.to_owned(),
        why: error.to_string(),
    })
}

/// Starts logging at `level` (a tracing filter such as `info` or `kindsight=debug`).
///
/// Each line is written to a new value of `to`, such as standard error. The audit log and warnings about insecure
/// settings do not depend on the level. A filter that names the target `audit` changes the audit log.
///
/// A program calls it once, at its start. A program that embeds a server and has its own logging does not call it.
///
/// # Errors
/// [`Error::LogFilter`] if the filter cannot be parsed, [`Error::Logging`] if the process already has a logger.
pub fn start_logging<W: Write + 'static>(
    level: &str,
    format: LogFormat,
    to: fn() -> W,
) -> Result<(), Error> {
    let builder = fmt()
        .with_env_filter(filter(level)?)
        .with_ansi(false)
        .with_writer(move || CleanLines::new(to(), format.lines()));
    let started = match format {
        LogFormat::Text => builder.event_format(TextFormat::default()).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    started.map_err(Error::Logging)
}

/// Starts logging of an interactive program: errors of the host, and every line that an interpreter logs, as
/// `name: level: text`. Each line is written to a new value of `to`. A program calls it once, instead of
/// [`start_logging`].
///
/// # Errors
/// [`Error::Logging`] if the process already has a logger.
pub fn start_local_logging<W: Write + 'static>(to: fn() -> W) -> Result<(), Error> {
    let lines = move || CleanLines::new(to(), LineFormat::Text);
    let of_host = fmt::layer()
        .with_ansi(false)
        .with_target(false)
        .with_writer(lines)
        .with_filter(LevelFilter::ERROR);
    let of_guests = GuestLines { to: lines };
    let started = tracing_subscriber::registry()
        .with(of_host)
        .with(of_guests)
        .try_init();
    started.map_err(|error| Error::Logging(error.into()))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use kindsight_access::LOG_LINE_BYTES_MAX;
    use kindsight_store::chain;

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no panic").extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The log text of an event with this untrusted name.
    fn logged(format: LogFormat, name: &str) -> String {
        let lines = Lines::default();
        let to = lines.clone();
        let builder = fmt()
            .with_ansi(false)
            .with_writer(move || CleanLines::new(to.clone(), format.lines()));
        let log = || tracing::warn!(name, path = %name, "about {name}");
        match format {
            LogFormat::Text => tracing::subscriber::with_default(builder.finish(), log),
            LogFormat::Json => tracing::subscriber::with_default(builder.json().finish(), log),
        }
        let bytes = lines.0.lock().expect("no panic").clone();
        String::from_utf8(bytes).expect("UTF-8")
    }

    #[test]
    fn a_log_entry_is_one_line_without_control_characters() {
        let name = "a\u{202e}b\n2026 ERROR forged\r\u{1b}[31m\u{9b}2J\u{7f}\u{2028}";
        for format in [LogFormat::Text, LogFormat::Json] {
            let line = logged(format, name);
            let line = line.strip_suffix('\n').expect("a whole line");
            assert!(!line.contains(char::is_control), "{line:?}");
            assert!(!line.contains(['\u{202e}', '\u{2028}']), "{line:?}");
            if format == LogFormat::Json {
                let event: serde_json::Value = serde_json::from_str(line).expect("JSON");
                assert_eq!(event["fields"]["name"], name);
            }
        }
        assert!(logged(LogFormat::Text, &"x".repeat(100_000)).len() <= LOG_LINE_BYTES_MAX + 1);
    }

    #[test]
    fn a_log_line_contains_no_token() {
        let token = "kindsight.ci.i0NsTBFAabcdefghijklmnopqrstuvwxyz0123456789";
        for format in [LogFormat::Text, LogFormat::Json] {
            let line = logged(format, token);
            assert!(!line.contains("i0NsTBFA"), "{line}");
            assert!(line.contains("about [hidden token]"), "{line}");
        }
    }

    /// The log of a server that answers one request with this id. The executor has one thread, so the log of the
    /// thread has every line except the lines of blocking steps.
    async fn log_of_request(format: LogFormat, id: &'static str) -> String {
        let lines = Lines::default();
        let to = lines.clone();
        let builder = fmt().with_ansi(false).with_max_level(LevelFilter::DEBUG);
        let builder = builder.with_writer(move || CleanLines::new(to.clone(), format.lines()));
        let _log = match format {
            LogFormat::Text => tracing::subscriber::set_default(builder.finish()),
            LogFormat::Json => tracing::subscriber::set_default(builder.json().finish()),
        };
        let store = kindsight_store::RedbStore::in_memory().expect("a store");
        let settings = crate::Settings {
            cache: crate::cache_folder(),
            ..crate::Settings::new(Arc::new(store))
        };
        let server = crate::Server::start(settings).await.expect("a server");
        let url = format!("http://{}/healthz", server.address());
        let asked = tokio::task::spawn_blocking(move || {
            let answer = ureq::get(url).header("X-Request-Id", id).call();
            answer.expect("an answer").headers().clone()
        });
        let headers = asked.await.expect("an answer");
        assert_eq!(headers["x-request-id"], id);
        server.stop().await.expect("a stop");
        let bytes = lines.0.lock().expect("no panic").clone();
        String::from_utf8(bytes).expect("UTF-8")
    }

    #[tokio::test]
    async fn log_lines_of_a_request_have_its_id_in_both_formats() {
        let answered = "answered a request";
        let text = log_of_request(LogFormat::Text, "an-id.1").await;
        let line = text.lines().find(|line| line.contains(answered));
        let line = line.expect("a line");
        assert!(line.contains("request{id=\"an-id.1\"}: "), "{line}");
        let text = log_of_request(LogFormat::Json, "an-id.2").await;
        let line = text.lines().find(|line| line.contains(answered));
        let line: serde_json::Value = serde_json::from_str(line.expect("a line")).expect("JSON");
        assert_eq!(line["span"]["id"], "an-id.2", "{line}");
    }

    /// The lines with this filter: an error, a warning about an insecure setting, and a line of the audit log.
    fn filtered(level: &str, format: LogFormat) -> String {
        let lines = Lines::default();
        let to = lines.clone();
        let builder = fmt().with_env_filter(filter(level).expect("a filter"));
        let builder = builder.with_ansi(false).with_writer(move || to.clone());
        let log = || {
            let _request =
                tracing::error_span!(target: "request", "request", id = "an-id").entered();
            tracing::error!("a failure");
            tracing::warn!(target: INSECURE, "no TLS");
            tracing::info!(target: AUDIT, user = "ann", "command");
        };
        match format {
            LogFormat::Text => {
                let builder = builder.event_format(TextFormat::default());
                tracing::subscriber::with_default(builder.finish(), log);
            }
            LogFormat::Json => tracing::subscriber::with_default(builder.json().finish(), log),
        }
        let bytes = lines.0.lock().expect("no panic").clone();
        String::from_utf8(bytes).expect("UTF-8")
    }

    #[test]
    fn no_level_hides_the_audit_log_or_a_warning_about_an_insecure_setting() {
        for level in [
            "off",
            "error",
            "warn",
            "kindsight_store=debug",
            "insecure=off",
        ] {
            for format in [LogFormat::Text, LogFormat::Json] {
                let text = filtered(level, format);
                assert!(text.contains("no TLS"), "{level}: {text}");
                let audit = text.lines().find(|line| line.contains("command"));
                let audit = audit.expect("the line of the audit log");
                assert!(audit.contains("an-id"), "{level}: {audit}");
                assert!(audit.contains("audit"), "{level}: {audit}");
            }
        }
        assert!(!filtered("off", LogFormat::Text).contains("a failure"));
    }

    #[test]
    fn a_filter_that_names_the_audit_log_changes_it() {
        for level in ["info,audit=off", "audit=warn,info"] {
            let text = filtered(level, LogFormat::Text);
            assert!(!text.contains("command"), "{text}");
            assert!(text.contains("a failure"), "{text}");
        }
    }

    #[test]
    fn a_wrong_filter_is_reported_once_with_its_reason() {
        let error = start_logging("nonsense===", LogFormat::Text, io::sink).expect_err("no filter");
        let text = chain(&error);
        assert!(
            text.starts_with("invalid log filter `nonsense===`: "),
            "{text}"
        );
        assert_eq!(text.matches("error parsing").count(), 1, "{text}");
    }
}
