//! What an operator may set, and where: flags, then environment, then file, then defaults.
//!
//! There is one list of settings: the flags of `serve`. The configuration file holds the same names
//! and fills in those that neither the command line nor the environment gives.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser};
use kindsight_catalog::CatalogLimits;
use kindsight_clusters::ClusterSource;
use kindsight_interpreter::{Isolation, Limits};

use crate::cli::Cli;
use crate::telemetry::LogFormat;

/// The largest configuration file, in bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// `kindsight serve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Every setting can be given as a flag, as the environment variable shown with it, or in the file named
by --config (TOML, with the flags' names without the leading dashes; a flag that may be repeated is a
list). A flag beats the environment, which beats the file, which beats the default.

Example:
  kindsight serve --data-dir /var/lib/kindsight \\
    --cluster vfw-cluster-provider+edge01=/var/lib/kindsight/clusters/edge01")]
pub(crate) struct ServeArgs {
    /// Configuration file (TOML).
    #[arg(long, env = "KINDSIGHT_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Folder for the store and for compiled interpreters; made when it is not there.
    #[arg(
        long,
        env = "KINDSIGHT_DATA_DIR",
        value_name = "DIR",
        default_value = "kindsight-data"
    )]
    pub(crate) data_dir: PathBuf,
    /// A folder of ResourceBundleState files as a cluster; may be repeated.
    #[arg(
        long = "cluster",
        env = "KINDSIGHT_CLUSTER",
        value_name = "PROVIDER+NAME=DIR",
        value_delimiter = ','
    )]
    pub(crate) clusters: Vec<ClusterSource>,
    /// A folder of interpreters (`*.wasm`) that is watched: what is put there goes live, what is
    /// taken away goes. One of the same name as a built-in takes its place; one that was uploaded
    /// takes the place of both.
    #[arg(long, env = "KINDSIGHT_INTERPRETERS", value_name = "DIR")]
    pub(crate) interpreters: Option<PathBuf>,
    /// Address to serve on; port 0 takes a free one.
    #[arg(long, env = "KINDSIGHT_LISTEN", default_value = "127.0.0.1:9015")]
    pub(crate) listen: SocketAddr,
    /// What is logged: `error`, `warn`, `info`, `debug`, or a filter by module.
    #[arg(long, env = "KINDSIGHT_LOG", default_value = "info")]
    pub(crate) log: String,
    /// How log lines look.
    #[arg(long, env = "KINDSIGHT_LOG_FORMAT", value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log_format: LogFormat,
    #[command(flatten)]
    pub(crate) interpreter_limits: InterpreterArgs,
    #[command(flatten)]
    pub(crate) rest_limits: RestArgs,
}

/// Limits of the interpreters.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits of interpreters")]
pub(crate) struct InterpreterArgs {
    /// Processor time one verdict may take, in milliseconds.
    #[arg(long, env = "KINDSIGHT_CALL_DEADLINE_MS", default_value_t = 50)]
    call_deadline_ms: u64,
    /// Memory of one instance, in bytes.
    #[arg(long, env = "KINDSIGHT_MEMORY_BYTES_MAX", default_value_t = 64 * 1024 * 1024)]
    memory_bytes_max: usize,
    /// Largest component, in bytes.
    #[arg(long, env = "KINDSIGHT_COMPONENT_BYTES_MAX", default_value_t = 32 * 1024 * 1024)]
    component_bytes_max: usize,
    /// Calls after which an instance is replaced by a fresh one.
    #[arg(long, env = "KINDSIGHT_CALLS_MAX", default_value_t = 1000)]
    calls_max: u32,
    /// Memory above which an instance is replaced after its call, in bytes.
    #[arg(long, env = "KINDSIGHT_MEMORY_HIGH_WATER_BYTES", default_value_t = 16 * 1024 * 1024)]
    memory_high_water_bytes: usize,
    /// Seconds after which an unused instance is given up.
    #[arg(long, env = "KINDSIGHT_IDLE_SECONDS_MAX", default_value_t = 60)]
    idle_seconds_max: u64,
    /// Bytes of inputs whose verdicts are remembered.
    #[arg(long, env = "KINDSIGHT_MEMO_BYTES_MAX", default_value_t = 32 * 1024 * 1024)]
    memo_bytes_max: usize,
    /// Threads that run interpreters; 0 for one a processor.
    #[arg(long, env = "KINDSIGHT_WORKERS", default_value_t = 0)]
    workers: usize,
    /// Batches of up to 64 objects that wait for a thread.
    #[arg(long, env = "KINDSIGHT_QUEUE_MAX", default_value_t = 256)]
    queue_max: usize,
    /// Versions of each interpreter, from the folder and uploaded, that can be gone back to.
    #[arg(long, env = "KINDSIGHT_VERSIONS_KEPT_MAX", default_value_t = 5)]
    versions_kept_max: usize,
    /// Faults among a hundred calls of the last minute at which the version before comes back; 0
    /// for never.
    #[arg(long, env = "KINDSIGHT_BREAKER_FAULT_PERCENT", default_value_t = 50)]
    breaker_fault_percent: u64,
    /// Calls within the last minute below which that is not decided.
    #[arg(long, env = "KINDSIGHT_BREAKER_CALLS_MIN", default_value_t = 10)]
    breaker_calls_min: u64,
    /// Give every verdict an instance of its own: slower, and nothing can be carried from one
    /// object to the next.
    #[arg(long, env = "KINDSIGHT_ISOLATE_CALLS")]
    isolate_calls: bool,
}

/// Limits of the REST API.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits of the REST API")]
#[expect(
    clippy::struct_field_names,
    reason = "the names are those of the flags, and every limit ends in `max`"
)]
pub(crate) struct RestArgs {
    /// Largest body of `POST /v2/interpret`, in bytes.
    #[arg(long, env = "KINDSIGHT_INTERPRET_BYTES_MAX", default_value_t = kindsight_rest::INTERPRET_BYTES_MAX)]
    interpret_bytes_max: usize,
    /// Most objects in one `POST /v2/interpret`.
    #[arg(long, env = "KINDSIGHT_INTERPRET_OBJECTS_MAX", default_value_t = kindsight_rest::INTERPRET_OBJECTS_MAX)]
    interpret_objects_max: usize,
    /// Most `POST /v2/interpret` at a time.
    #[arg(long, env = "KINDSIGHT_INTERPRET_REQUESTS_MAX", default_value_t = kindsight_rest::INTERPRET_REQUESTS_MAX)]
    interpret_requests_max: usize,
    /// Largest JSON body of a command about interpreters, in bytes.
    #[arg(long, env = "KINDSIGHT_CATALOG_JSON_BYTES_MAX", default_value_t = kindsight_rest::CATALOG_JSON_BYTES_MAX)]
    catalog_json_bytes_max: usize,
    /// Most commands about interpreters at a time.
    #[arg(long, env = "KINDSIGHT_CATALOG_REQUESTS_MAX", default_value_t = kindsight_rest::CATALOG_REQUESTS_MAX)]
    catalog_requests_max: usize,
    /// Longest time a command about interpreters is waited for, in seconds.
    #[arg(long, env = "KINDSIGHT_CATALOG_SECONDS_MAX", default_value_t = kindsight_rest::CATALOG_TIME_MAX.as_secs())]
    catalog_seconds_max: u64,
    /// Longest path and query, in bytes.
    #[arg(long, env = "KINDSIGHT_URI_BYTES_MAX", default_value_t = kindsight_rest::URI_BYTES_MAX)]
    uri_bytes_max: usize,
    /// Most requests at a time.
    #[arg(long, env = "KINDSIGHT_REQUESTS_MAX", default_value_t = kindsight_rest::REQUESTS_MAX)]
    requests_max: usize,
    /// Longest time until an answer begins, in seconds.
    #[arg(long, env = "KINDSIGHT_REQUEST_SECONDS_MAX", default_value_t = kindsight_rest::REQUEST_TIME_MAX.as_secs())]
    request_seconds_max: u64,
    /// Most connections at a time.
    #[arg(long, env = "KINDSIGHT_CONNECTIONS_MAX", default_value_t = kindsight_rest::CONNECTIONS_MAX)]
    connections_max: usize,
    /// Longest time a connection may be silent, in seconds.
    #[arg(long, env = "KINDSIGHT_CONNECTION_IDLE_SECONDS_MAX", default_value_t = kindsight_rest::IDLE_MAX.as_secs())]
    connection_idle_seconds_max: u64,
    /// Longest time that requests in progress are waited for at the end, in seconds.
    #[arg(long, env = "KINDSIGHT_DRAIN_SECONDS_MAX", default_value_t = kindsight_rest::DRAIN_MAX.as_secs())]
    drain_seconds_max: u64,
}

impl InterpreterArgs {
    pub(crate) fn limits(&self) -> Limits {
        let default = Limits::default();
        Limits {
            call_deadline: Duration::from_millis(self.call_deadline_ms),
            memory_bytes_max: self.memory_bytes_max,
            component_bytes_max: self.component_bytes_max,
            calls_max: self.calls_max,
            memory_high_water_bytes: self.memory_high_water_bytes,
            idle_max: Duration::from_secs(self.idle_seconds_max),
            memo_bytes_max: self.memo_bytes_max,
            workers: if self.workers == 0 {
                default.workers
            } else {
                self.workers
            },
            queue_max: self.queue_max,
            isolation: if self.isolate_calls {
                Isolation::PerCall
            } else {
                Isolation::Pooled
            },
        }
    }
}

impl InterpreterArgs {
    pub(crate) fn catalog_limits(&self) -> CatalogLimits {
        CatalogLimits {
            versions_kept_max: self.versions_kept_max,
            breaker_calls_min: self.breaker_calls_min,
            breaker_fault_percent: self.breaker_fault_percent,
        }
    }
}

impl RestArgs {
    /// The largest component has one limit, which is that of the interpreters.
    pub(crate) fn limits(&self, interpreters: &Limits) -> kindsight_rest::Limits {
        kindsight_rest::Limits {
            component_bytes_max: interpreters.component_bytes_max,
            catalog_json_bytes_max: self.catalog_json_bytes_max,
            catalog_requests_max: self.catalog_requests_max,
            catalog_time_max: Duration::from_secs(self.catalog_seconds_max),
            interpret_bytes_max: self.interpret_bytes_max,
            interpret_objects_max: self.interpret_objects_max,
            uri_bytes_max: self.uri_bytes_max,
            requests_max: self.requests_max,
            interpret_requests_max: self.interpret_requests_max,
            request_time_max: Duration::from_secs(self.request_seconds_max),
            connections_max: self.connections_max,
            idle_max: Duration::from_secs(self.connection_idle_seconds_max),
            drain_max: Duration::from_secs(self.drain_seconds_max),
        }
    }
}

/// Reads the command line, and the configuration file where it names one.
///
/// # Errors
/// When the file cannot be read, or holds what no flag is called. A wrong command line ends the
/// process with code 2.
pub(crate) fn read(argv: Vec<OsString>) -> anyhow::Result<Cli> {
    let matches = Cli::command().get_matches_from(&argv);
    let serve = matches.subcommand_matches("serve");
    let file = serve.and_then(|serve| Some((serve, serve.get_one::<PathBuf>("config")?)));
    let Some((serve, file)) = file else {
        return Ok(Cli::from_arg_matches(&matches)?);
    };
    let name = file.display();
    let flags = flags(file, serve).with_context(|| format!("configuration file {name}"))?;
    Cli::try_parse_from(argv.into_iter().chain(flags)).map_err(|error| {
        let what = error.to_string();
        let first = what
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("error: ");
        anyhow::anyhow!("configuration file {name}: {first}")
    })
}

/// The flags a file stands for: those nobody has given.
fn flags(file: &Path, given: &ArgMatches) -> anyhow::Result<Vec<OsString>> {
    let size = std::fs::metadata(file)?.len();
    anyhow::ensure!(
        size <= FILE_BYTES_MAX,
        "{size} bytes are over the limit of {FILE_BYTES_MAX}"
    );
    let table: toml::Table = std::fs::read_to_string(file)?.parse()?;
    let command = Cli::command();
    let serve = command
        .find_subcommand("serve")
        .context("serve is a command")?;
    let mut flags = Vec::new();
    for (name, value) in table {
        let mut known = serve
            .get_arguments()
            .filter(|arg| arg.get_long() != Some("config"));
        let arg = known
            .find(|arg| arg.get_long() == Some(&name))
            .with_context(|| {
                format!("there is no setting `{name}`; `kindsight serve --help` lists them")
            })?;
        let source = given.value_source(arg.get_id().as_str());
        if matches!(source, None | Some(ValueSource::DefaultValue)) {
            flags.extend(flag(&name, &value)?.into_iter().map(OsString::from));
        }
    }
    Ok(flags)
}

fn flag(name: &str, value: &toml::Value) -> anyhow::Result<Vec<String>> {
    Ok(match value {
        toml::Value::String(text) => vec![format!("--{name}={text}")],
        toml::Value::Integer(number) => vec![format!("--{name}={number}")],
        toml::Value::Boolean(true) => vec![format!("--{name}")],
        toml::Value::Boolean(false) => Vec::new(),
        toml::Value::Array(items) => {
            let flags = items.iter().map(|item| flag(name, item));
            flags.collect::<anyhow::Result<Vec<_>>>()?.concat()
        }
        other => anyhow::bail!(
            "`{name}` is a {}; a text, number, true, false or a list is right",
            other.type_str()
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Command;

    fn serve(toml: &str, args: &[&str]) -> anyhow::Result<ServeArgs> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("kindsight.toml");
        std::fs::write(&file, toml)?;
        let config = format!("--config={}", file.display());
        let argv = ["kindsight", "serve", &config]
            .into_iter()
            .chain(args.iter().copied());
        match read(argv.map(OsString::from).collect())?.command {
            Command::Serve(args) => Ok(*args),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_flag_beats_the_file_and_the_file_beats_the_default() {
        let file = "listen = \"127.0.0.1:1\"\ncalls-max = 7\ncluster = [\"p+a=x\", \"p+b=y\"]\nisolate-calls = true\n";
        let args = serve(file, &["--calls-max", "9"]).unwrap();
        assert_eq!(args.listen.port(), 1);
        assert_eq!(args.interpreter_limits.calls_max, 9);
        assert_eq!(args.interpreter_limits.queue_max, 256);
        assert_eq!(args.clusters.len(), 2);
        assert_eq!(
            args.interpreter_limits.limits().isolation,
            Isolation::PerCall
        );
        let args = serve(file, &["--cluster", "p+c=z"]).unwrap();
        assert_eq!(args.clusters.len(), 1);
    }

    #[test]
    fn a_wrong_file_says_what_is_wrong() {
        for (file, expected) in [
            ("lissten = \"x\"", "there is no setting `lissten`"),
            ("listen = \"nowhere\"", "invalid value 'nowhere'"),
            ("listen = {}", "`listen` is a table"),
            ("listen", "TOML parse error"),
        ] {
            let error = format!("{:#}", serve(file, &[]).unwrap_err());
            assert!(error.contains(expected), "{error}");
            assert!(error.contains("kindsight.toml"), "{error}");
        }
    }

    #[test]
    fn the_defaults_are_those_of_the_rooms() {
        let args = serve("", &[]).unwrap();
        let (said, room) = (args.interpreter_limits.limits(), Limits::default());
        assert_eq!(format!("{said:?}"), format!("{room:?}"));
        assert_eq!(
            args.rest_limits.limits(&said),
            kindsight_rest::Limits::default()
        );
        assert_eq!(
            args.interpreter_limits.catalog_limits(),
            CatalogLimits::default()
        );
    }
}
