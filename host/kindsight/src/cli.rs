//! The command line: what there is, said so that `--help` is enough.

use std::io::Write as _;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use kindsight_api::status::QueryType;

use crate::commands::interpreters::args::InterpretersArgs;
use crate::config::ServeArgs;

/// Says what the raw status of Kubernetes resources means, across many clusters.
#[derive(Debug, Parser)]
#[command(
    name = "kindsight",
    version,
    about,
    after_help = "Exit codes: 0 done, 1 it could not be done (the reason is on standard error), 2 the command line is wrong."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What there is to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Shows a recorded composite application: two clusters, three apps, some of it broken.
    ///
    /// Everything but the clusters is real: the same store, watcher, interpreters and server that
    /// `serve` uses, fed with what two Kubernetes clusters reported when it was recorded.
    Demo(DemoArgs),
    /// Serves status queries about composite applications.
    Serve(Box<ServeArgs>),
    /// Judges objects: what `kubectl get -o json` or `-o yaml` prints.
    Interpret(InterpretArgs),
    /// Asks a server how an application or a cluster fares.
    Status(StatusArgs),
    /// Shows the interpreters of a server, and changes them while it serves.
    Interpreters(InterpretersArgs),
}

/// `kindsight demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Print the answer and exit instead of serving it until Ctrl-C.
    #[arg(long)]
    pub(crate) once: bool,
    /// How to print it.
    #[arg(short, long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) output: OutputFormat,
    /// Address to serve on; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:9015", env = "KINDSIGHT_LISTEN")]
    pub(crate) listen: std::net::SocketAddr,
}

/// Output format of `demo`, `status` and `interpreters`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Columns for people.
    Table,
    /// The server's answer as it is.
    Json,
}

/// `kindsight interpret`.
#[derive(Debug, Args)]
#[command(after_help = "\
Input is one object, a List, JSON Lines, multi-document YAML, or any mixture; one verdict per object,
in input order. The objects of one List or one multi-document YAML file are each other's related
objects; JSON Lines are judged one by one as they come. What is not a Kubernetes object gets a verdict
too: state Unknown, with the reason.

Examples:
  kubectl get all -A -o json | kindsight interpret
  kubectl get deploy web -o yaml | kindsight interpret --explain
  kindsight interpret --interpreter my-widgets.wasm -o jsonl dump/

Exit codes: 0 everything was read and judged, whatever the verdicts; 1 something could not be read;
2 the command line is wrong.")]
pub(crate) struct InterpretArgs {
    /// How to print the verdicts.
    #[arg(short, long, value_enum, default_value_t = VerdictOutput::Table)]
    pub(crate) output: VerdictOutput,
    /// An interpreter of your own, asked before the built-in ones; may be repeated.
    #[arg(long = "interpreter", value_name = "FILE.wasm")]
    pub(crate) interpreters: Vec<PathBuf>,
    /// Judge as if it were this moment (RFC 3339); the default is now.
    #[arg(long, value_name = "RFC3339")]
    pub(crate) now: Option<jiff::Timestamp>,
    /// Show which interpreter gave each verdict: name, version and digest.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Files, folders (their *.json, *.jsonl, *.yaml and *.yml), or `-` for standard input, which is
    /// also what is read where nothing is named.
    #[arg(value_name = "FILE|DIR|-")]
    pub(crate) inputs: Vec<PathBuf>,
}

/// How `interpret` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerdictOutput {
    /// Columns for people.
    Table,
    /// More columns.
    Wide,
    /// One JSON document.
    Json,
    /// One JSON object a line.
    Jsonl,
    /// One YAML document an object.
    Yaml,
}

/// `kindsight status`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kindsight status testvfw/compositevfw/v1/vfw_deployment_intent_group
  kindsight status --type rsync vfw-cluster-provider+edge01
  kindsight status testvfw/compositevfw/v1/vfw_deployment_intent_group --app sink --explain")]
pub(crate) struct StatusArgs {
    /// `project/composite-app/version/deployment-intent-group`, or `provider+cluster`.
    pub(crate) subject: String,
    /// The server.
    #[arg(
        long,
        default_value = "http://127.0.0.1:9015",
        env = "KINDSIGHT_SERVER"
    )]
    pub(crate) server: String,
    /// `cluster` for what the clusters say, `rsync` for what happened when it was sent.
    #[arg(long = "type", default_value = QueryType::Cluster.as_str(), value_parser = query_type())]
    pub(crate) kind: QueryType,
    /// Only this app; may be repeated.
    #[arg(long = "app")]
    pub(crate) apps: Vec<String>,
    /// Only this cluster (`provider+name`); may be repeated.
    #[arg(long = "cluster")]
    pub(crate) clusters: Vec<String>,
    /// Only resources of this name; may be repeated.
    #[arg(long = "resource")]
    pub(crate) resources: Vec<String>,
    /// Another instance than the latest, by its `AppContext` id.
    #[arg(long)]
    pub(crate) instance: Option<String>,
    /// Show which interpreter gave each verdict, and since when it holds.
    #[arg(long)]
    pub(crate) explain: bool,
    /// How to print it.
    #[arg(short, long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) output: OutputFormat,
}

/// Reads `--type`: the words of the API.
fn query_type() -> impl TypedValueParser<Value = QueryType> {
    let words = QueryType::ALL.iter().map(|kind| kind.as_str());
    PossibleValuesParser::new(words).map(|word| {
        let mut all = QueryType::ALL.iter().copied();
        all.find(|kind| kind.as_str() == word).unwrap_or_default()
    })
}

/// Prints an error with its causes to standard error.
pub(crate) fn complain(error: &anyhow::Error) {
    // Where standard error is gone there is nobody left to tell.
    let _ = writeln!(std::io::stderr(), "kindsight: {error:#}");
}

/// Prints a line to standard error that is not an error.
pub(crate) fn hint(text: &str) {
    let _ = writeln!(std::io::stderr(), "kindsight: {text}");
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
