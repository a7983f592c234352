//! Configuration of `kindsight serve`: flags, then environment, then file, then defaults.
//!
//! The flags of `serve` are the only list of settings. The configuration file has the same names and
//! fills in those that neither the command line nor the environment gives.

mod limits;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser};
use kindsight_server::LogFormat;
use kindsight_server::clusters::ClusterSource;

use crate::cli::Cli;
use crate::config::limits::{InterpreterArgs, RestArgs};

/// Largest configuration file, in bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// `kindsight serve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Every setting can be a flag, the environment variable shown with it, or a key of the --config file
(TOML; keys are the names of the flags without dashes, a flag that can be repeated is a list).
Precedence: flag, environment variable, file, default.

Example:
  kindsight serve --data-dir /var/lib/kindsight \\
    --cluster vfw-cluster-provider+edge01=/var/lib/kindsight/clusters/edge01")]
pub(crate) struct ServeArgs {
    /// Configuration file (TOML).
    #[arg(long, env = "KINDSIGHT_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Directory of the store and of compiled interpreters; created if it does not exist.
    #[arg(
        long,
        env = "KINDSIGHT_DATA_DIR",
        value_name = "DIR",
        default_value = "kindsight-data"
    )]
    pub(crate) data_dir: PathBuf,
    /// Cluster whose ResourceBundleState resources are the files of a directory; can be repeated.
    #[arg(
        long = "cluster",
        env = "KINDSIGHT_CLUSTER",
        value_name = "PROVIDER+NAME=DIR",
        value_delimiter = ','
    )]
    pub(crate) clusters: Vec<ClusterSource>,
    /// Directory of interpreters (`*.wasm`) to watch: a file that is added goes live, a file that is
    /// deleted is unloaded. An interpreter in it overrides a built-in one of the same name; an
    /// uploaded one overrides both.
    #[arg(long, env = "KINDSIGHT_INTERPRETERS", value_name = "DIR")]
    pub(crate) interpreters: Option<PathBuf>,
    /// Address to listen on; port 0 picks a free port.
    #[arg(long, env = "KINDSIGHT_LISTEN", default_value = "127.0.0.1:9015")]
    pub(crate) listen: SocketAddr,
    /// Log level (`error`, `warn`, `info`, `debug`), or a filter by module.
    #[arg(long, env = "KINDSIGHT_LOG", default_value = "info")]
    pub(crate) log: String,
    /// Format of log lines.
    #[arg(long, env = "KINDSIGHT_LOG_FORMAT", value_parser = log_format(), default_value = "text")]
    pub(crate) log_format: LogFormat,
    #[command(flatten)]
    pub(crate) interpreter_limits: InterpreterArgs,
    #[command(flatten)]
    pub(crate) rest_limits: RestArgs,
}

fn log_format() -> impl TypedValueParser<Value = LogFormat> {
    PossibleValuesParser::new(LogFormat::NAMES).try_map(|name| name.parse::<LogFormat>())
}

/// Parses the command line, and the configuration file that `--config` names.
///
/// # Errors
/// When the file cannot be read or has an unknown key. A command line that cannot be parsed ends the
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
        let text = error.to_string();
        let first = text
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("error: ");
        anyhow::anyhow!("configuration file {name}: {first}")
    })
}

/// Flags for the settings of a file that neither the command line nor the environment gives.
fn flags(file: &Path, given: &ArgMatches) -> anyhow::Result<Vec<OsString>> {
    let size = std::fs::metadata(file)?.len();
    anyhow::ensure!(
        size <= FILE_BYTES_MAX,
        "{size} bytes are over the limit of {FILE_BYTES_MAX} bytes"
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
                format!("unknown setting `{name}`; `kindsight serve --help` lists all settings")
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
            "`{name}` is a {}; expected a string, an integer, a boolean or a list",
            other.type_str()
        ),
    })
}

#[cfg(test)]
mod tests;
