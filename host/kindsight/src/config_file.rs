//! The command line with a configuration file: flags, then environment, then file, then defaults.
//!
//! The settings of the file have the names of the flags of `serve`. A setting counts only if neither the command line
//! nor the environment sets it.

use std::error::Error as _;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, CommandFactory, FromArgMatches, Parser};
use kindsight_access::TomlError;

use crate::cli::{self, Cli};
use crate::config::mongodb::refuse_password;

/// Largest configuration file, in bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Parses the command line, and the configuration file that `--config` names.
///
/// # Errors
/// When the file cannot be read or has an unknown key, or the command line has a password. A command line that cannot be parsed ends the
/// process with code 2.
pub(crate) fn read(argv: Vec<OsString>) -> anyhow::Result<Cli> {
    let matches = cli::command().try_get_matches_from(&argv);
    let matches = matches.unwrap_or_else(|error| cli::exit(&error));
    let serve = matches.subcommand_matches("serve");
    serve.map_or(Ok(()), refuse_password)?;
    let file = serve.and_then(|serve| Some((serve, serve.get_one::<PathBuf>("config")?)));
    let Some((serve, file)) = file else {
        return Ok(Cli::from_arg_matches(&matches)?);
    };
    let name = file.display();
    let flags = flags(file, serve).with_context(|| format!("configuration file {name}"))?;
    Cli::try_parse_from(argv.into_iter().chain(flags))
        .map_err(|error| anyhow::anyhow!("configuration file {name}: {}", refused_value(&error)))
}

/// The text about an invalid value. For a table, the text omits the flag, which is internal.
fn refused_value(error: &clap::Error) -> String {
    let of_table = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(flag)) => flag.contains("-table "),
        _ => false,
    };
    if let Some(cause) = error.source().filter(|_| of_table) {
        return cause.to_string();
    }
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    first.trim_start_matches("error: ").to_owned()
}

/// The settings of a configuration file.
///
/// # Errors
/// When it cannot be read, is no TOML, or is larger than [`FILE_BYTES_MAX`].
pub(crate) fn table(file: &Path) -> anyhow::Result<toml::Table> {
    let size = std::fs::metadata(file)?.len();
    anyhow::ensure!(
        size <= FILE_BYTES_MAX,
        "{size} bytes are over the limit of {FILE_BYTES_MAX} bytes"
    );
    let text = std::fs::read_to_string(file)?;
    let table = text.parse::<toml::Table>();
    Ok(table.map_err(|error| TomlError::new(&error, &text))?)
}

/// Flags for the settings of a file that neither the command line nor the environment sets.
fn flags(file: &Path, given: &ArgMatches) -> anyhow::Result<Vec<OsString>> {
    let table = table(file)?;
    let command = Cli::command();
    let serve = command
        .find_subcommand("serve")
        .context("serve is a command")?;
    let mut flags = Vec::new();
    for (name, value) in table {
        let mut known = serve.get_arguments().filter(|arg| is_setting(arg));
        let arg = known
            .find(|arg| arg.get_long() == Some(&*flag_of(&name)))
            .with_context(|| {
                format!(
                    "unknown setting `{name}`; `kindsight serve --help-limits` lists all settings"
                )
            })?;
        let source = given.value_source(arg.get_id().as_str());
        if matches!(source, None | Some(ValueSource::DefaultValue)) {
            flags.extend(flag(&name, &value)?.into_iter().map(OsString::from));
        }
    }
    Ok(flags)
}

/// Returns whether a flag of `serve` is a setting that the file may have.
fn is_setting(arg: &Arg) -> bool {
    let is_help = matches!(arg.get_action(), ArgAction::HelpShort | ArgAction::HelpLong);
    !is_help && arg.get_long() != Some("config")
}

/// Settings that have only tables. Each table is passed in a hidden flag.
const TABLES: [&str; 7] = [
    "aai",
    "application",
    "controller",
    "interpreter",
    "notify",
    "outgoing",
    "project",
];

/// Settings that are one table.
const SINGLE_TABLES: [&str; 2] = ["aai", "outgoing"];

/// The flag of a setting.
fn flag_of(name: &str) -> String {
    if TABLES.contains(&name) {
        return format!("{name}-table");
    }
    name.to_owned()
}

fn flag(name: &str, value: &toml::Value) -> anyhow::Result<Vec<String>> {
    Ok(match value {
        toml::Value::String(_) | toml::Value::Integer(_) | toml::Value::Boolean(_)
            if TABLES.contains(&name) =>
        {
            let correction = if SINGLE_TABLES.contains(&name) {
                format!("write a table `[{name}]`")
            } else {
                format!("write `[[{name}]]` tables")
            };
            anyhow::bail!("`{name}` is a {}; {correction}", value.type_str())
        }
        toml::Value::String(text) => vec![format!("--{name}={text}")],
        toml::Value::Integer(number) => vec![format!("--{name}={number}")],
        toml::Value::Boolean(true) => vec![format!("--{name}")],
        toml::Value::Boolean(false) => Vec::new(),
        // `[[cluster]]`, where `cluster = […]` has texts; `[k8splugin]`, where `k8splugin = true` enables the defaults.
        toml::Value::Table(table) if ["cluster", "k8splugin"].contains(&name) => {
            let json = serde_json::to_string(table)?;
            vec![format!("--{name}-table={json}")]
        }
        toml::Value::Table(table) if TABLES.contains(&name) => {
            let json = serde_json::to_string(table)?;
            vec![format!("--{name}-table={json}")]
        }
        toml::Value::Array(_) if SINGLE_TABLES.contains(&name) => {
            anyhow::bail!("`{name}` is a list; write one table `[{name}]`")
        }
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
