//! The command line: commands, flags and their help texts.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ColorChoice, CommandFactory as _, Parser, Subcommand, ValueEnum};
use kindsight_access::without_tokens;
use kindsight_api::status::QueryType;
use kindsight_model::{InterpreterName, Phase};

use crate::commands::applications::ApplicationsArgs;
use crate::commands::backup::{BackupArgs, RestoreArgs};
use crate::commands::clusters::ClustersArgs;
use crate::commands::completion::CompletionArgs;
use crate::commands::demo::DemoArgs;
use crate::commands::health_scope::HealthScopeArgs;
use crate::commands::history::HistoryArgs;
use crate::commands::interpret::input::InputCoverage;
use crate::commands::interpreters::args::InterpretersArgs;
use crate::commands::lifecycle::{
    ActionArgs, ApplyArgs, ApproveArgs, DeleteArgs, RollbackArgs, SendingArgs, TerminateArgs,
};
use crate::commands::login::LoginArgs;
use crate::commands::man::ManArgs;
use crate::commands::notify::NotifyArgs;
use crate::commands::plugin::PluginArgs;
use crate::commands::store::StoreArgs;
use crate::commands::token::TokenArgs;
use crate::config::catalogue::CatalogueArgs;
use crate::config::{ServeArgs, duration};
use crate::kubectl;
use crate::output_format::OutputFormat;
use crate::progress;
use crate::server_args::ServerArgs;
use crate::table::clean_lines;

/// The name of the command.
pub(crate) const NAME: &str = "kindsight";

/// Explains the meaning of the raw status of Kubernetes resources, for whole applications in many clusters.
///
/// Each object gets a verdict from an interpreter for its Kind: a state such as Ready, Pending or Failed, a reason and a
/// message. A server watches clusters and answers with the state of each application.
#[derive(Debug, Parser)]
#[command(
    name = NAME,
    version,
    after_help = "\
First steps:
  kindsight demo                                     a recorded application, without a cluster
  kubectl get all -A -o json | kindsight interpret   verdicts without a server
  kindsight serve --kubeconfig ~/.kube/config        a server for your clusters
  kindsight applications                             its applications and their states
  kindsight status NAME                              one application, resource by resource
`kindsight COMMAND --help` describes a command.

Exit codes: 0 success; 1 failure (the reason is on standard error); 2 invalid command line; 3 a
verdict or a change that was asked for with --fail-on, or that `interpreters diff` found; 4 an
application that was waited for failed, or a cluster would refuse a resource of a dry run; 5 the time
to wait is up; 141 the reader of the output closed the pipe."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Colours of states; `auto` means only on a terminal and without `NO_COLOR`.
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value_t = ColorChoice::Auto,
        hide_default_value = true,
        display_order = 1000
    )]
    pub(crate) color: ColorChoice,
}

/// The command line, with the name under which the user runs it.
pub(crate) fn command() -> clap::Command {
    let command = Cli::command();
    if kubectl::is_plugin() {
        return command.bin_name(kubectl::COMMAND);
    }
    command
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serves a recorded application: three apps on two clusters, some resources broken.
    ///
    /// Everything but the clusters is real: it runs the store, watcher, interpreters and server of
    /// `serve` on reports recorded from two Kubernetes clusters.
    Demo(DemoArgs),
    /// Judges Kubernetes objects, as `kubectl get -o json` or `-o yaml` prints them.
    Interpret(InterpretArgs),
    /// Runs a server that watches clusters and answers with the state of each application.
    Serve(Box<ServeArgs>),
    /// Lists the applications of a running server with their states.
    Applications(ApplicationsArgs),
    /// Lists the clusters of a running server with their connections.
    Clusters(ClustersArgs),
    /// Shows the status of an application, a cluster or a logical cloud.
    Status(StatusArgs),
    /// Shows how the state of an application came about: its transitions, newest first.
    History(HistoryArgs),
    /// Installs the Kind HealthScope of OAM in clusters, whose objects select applications.
    HealthScope(HealthScopeArgs),
    /// Creates an application on a running server, or replaces its content; or sends the network intents of a cluster.
    Apply(ApplyArgs),
    /// Approves the content of an application.
    Approve(ApproveArgs),
    /// Sends the resources of an application to their clusters.
    Instantiate(SendingArgs),
    /// Sends the changed content of an instantiated application.
    Update(SendingArgs),
    /// Sends the content of an earlier revision of an instantiated application.
    Rollback(RollbackArgs),
    /// Removes the resources of an application, or the network intents of a cluster, from their clusters.
    Terminate(TerminateArgs),
    /// Ends a running instantiation or termination.
    Stop(ActionArgs),
    /// Deletes an application that is not instantiated, or network intents that are not applied.
    Delete(DeleteArgs),
    /// Copies, checks and prints what is in a store.
    Store(StoreArgs),
    /// Writes the state of a server that does not run into one file.
    Backup(BackupArgs),
    /// Makes the state of a server from the file of a backup.
    Restore(RestoreArgs),
    /// Shows and changes the interpreters of a running server.
    Interpreters(InterpretersArgs),
    /// Shows and tests the receivers of notifications of a running server.
    Notify(NotifyArgs),
    /// Writes, builds, tests and inspects interpreters, without a server.
    Plugin(PluginArgs),
    /// Logs in at the OIDC issuer of a server, with a code that is approved in a browser.
    Login(LoginArgs),
    /// Removes the login to a server.
    Logout(LoginArgs),
    /// Creates, lists and revokes the tokens of a server.
    Token(TokenArgs),
    /// Prints the script with which a shell completes this command line.
    Completion(CompletionArgs),
    /// Prints the manual page, or writes one page for each command.
    Man(ManArgs),
}

/// `kindsight interpret`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Input is an object, a List, JSON Lines, multi-document YAML, or any mixture. Output is one
verdict for each object, in input order. The objects of one List or one YAML stream are judged
together, so that interpreters can look up related objects; JSON Lines are judged one by one. A
document that is not a Kubernetes object gets the state Unknown, with the reason.

Examples:
  kubectl get all -A -o json | kindsight interpret
  kubectl get deploy web -o yaml | kindsight interpret --explain
  kindsight interpret --interpreter my-widgets.wasm -o jsonl dump/
  kindsight interpret --interpreter my-widgets.wasm --settings widgets=settings.json dump/
  kindsight interpret --interpreter my-widgets.wasm --show-input -o json widget.yaml
  kubectl get all -o json | kindsight interpret --fail-on failed,fault
  kindsight interpret --missing dump/

Exit codes: 0 all input was read and judged, whatever the verdicts; 1 some input could not be
read, or an interpreter or its settings were refused; 2 invalid command line; 3 a verdict is one
of --fail-on. With --fail-on, all input is judged even if the reader of the output closes the pipe.")]
pub(crate) struct InterpretArgs {
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = VerdictOutput::Table)]
    pub(crate) output: VerdictOutput,
    /// Interpreter to load; it takes precedence over built-in ones. Can be repeated.
    #[arg(long = "interpreter", value_name = "FILE.wasm")]
    pub(crate) interpreters: Vec<PathBuf>,
    /// Settings of an interpreter, by its own name: a file with one JSON object that fits its schema. Can be
    /// repeated.
    #[arg(long, value_name = "NAME=FILE", value_parser = settings_file)]
    pub(crate) settings: Vec<SettingsFile>,
    /// Exits with 3 if a verdict has one of these phases, or `fault`: the interpreter failed, or no interpreter
    /// judges the Kind.
    #[arg(long, value_name = "PHASE|fault", value_delimiter = ',', value_parser = fail_on())]
    pub(crate) fail_on: Vec<FailOn>,
    /// Whether the input has all related objects of the objects in it. With `complete`, a List or a YAML stream
    /// proves that an object outside it does not exist, as a cluster does for a server.
    #[arg(long, value_enum, default_value_t = InputCoverage::Partial)]
    pub(crate) coverage: InputCoverage,
    /// Time to judge at, in RFC 3339 (default: now).
    #[arg(long, value_name = "RFC3339")]
    pub(crate) now: Option<jiff::Timestamp>,
    /// Shows the interpreter of each verdict: name, version and digest, the time since which the object is in its
    /// state (if known), and the interpreter's declaration of the state (final) and the reason.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Shows the input of each interpreter that is called, as JSON: the object reduced to the requested fields, its
    /// related objects, the settings and, if the interpreter uses it, the time.
    #[arg(long)]
    pub(crate) show_input: bool,
    /// Shows the Kinds without a rule of their own, most objects first, instead of the verdicts.
    #[arg(long, conflicts_with_all = ["explain", "show_input"])]
    pub(crate) missing: bool,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArgs,
    /// Files, directories (their *.json, *.jsonl, *.ndjson, *.yaml and *.yml files, recursively), or
    /// `-` for standard input, which is the default.
    #[arg(value_name = "FILE|DIR|-")]
    pub(crate) inputs: Vec<PathBuf>,
}

/// Settings of one interpreter, in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SettingsFile {
    pub(crate) name: InterpreterName,
    pub(crate) file: PathBuf,
}

fn settings_file(text: &str) -> Result<SettingsFile, String> {
    let (name, file) = text
        .split_once('=')
        .filter(|(_, file)| !file.is_empty())
        .ok_or("expected the name of an interpreter, `=` and a file")?;
    let name = name.parse().map_err(|_| {
        let grammar = InterpreterName::GRAMMAR;
        format!("`{name}` is not the name of an interpreter ({grammar})")
    })?;
    let file = PathBuf::from(file);
    Ok(SettingsFile { name, file })
}

/// Verdicts at which `interpret` fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailOn {
    /// Verdicts with a phase.
    Phase(Phase),
    /// Verdicts without an answer of an interpreter.
    Fault,
}

/// The word for [`FailOn::Fault`].
const FAULT: &str = "fault";

/// Parser of `--fail-on`: a phase by name, or `fault`.
fn fail_on() -> impl TypedValueParser<Value = FailOn> {
    let phases = Phase::ALL.iter().map(|phase| phase.as_str());
    PossibleValuesParser::new(phases.chain([FAULT])).map(|word| {
        let mut phases = Phase::ALL.iter().copied();
        let phase = phases.find(|phase| phase.as_str() == word);
        phase.map_or(FailOn::Fault, FailOn::Phase)
    })
}

/// Output format of `interpret`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerdictOutput {
    /// A table.
    Table,
    /// A table with more columns.
    Wide,
    /// One JSON document.
    Json,
    /// One JSON object per line.
    Jsonl,
    /// One YAML document per object.
    Yaml,
}

/// `kindsight status`.
#[derive(Debug, Args)]
#[command(after_help = "\
A name may be as short as it is unique: `shop` is the application or the deployment intent group
of that name, `web/shop` the application that was found in the namespace web. Where several have
it, they are listed with their full names.

Examples:
  kindsight status shop
  kindsight status testvfw/compositevfw/v1/vfw_deployment_intent_group
  kindsight status --type all testvfw/compositevfw/v1/vfw_deployment_intent_group
  kindsight status --type rsync vfw-cluster-provider+edge01
  kindsight status testvfw/logical-clouds/lc1 --wait
  kindsight status testvfw/compositevfw/v1/vfw_deployment_intent_group --app sink --explain
  kindsight status shop --watch
  kindsight status shop --wait --timeout 5m
  kindsight status shop --wait --for ready --max-restarts 3
  kindsight status shop --wait --for terminated

--wait ends once everything is ready or present in every cluster, or failed, for the time of --hold, while
every cluster is connected and its report is not stale. It waits for what is pending, degraded,
suspended, unknown, stale or not found yet. --for sets another state to wait for. Failed ends the
wait only without --for and with --for ready.

Exit codes: 0 success; 1 the server refused or could not be reached; 2 invalid command line, or
several applications have the name; with --wait 4 it failed or a container restarted too often,
5 the time is up, also if the server could not be reached until then.")]
pub(crate) struct StatusArgs {
    /// Application, short or in full (`project/composite-app/version/deployment-intent-group`), cluster
    /// (`provider+cluster`), or logical cloud (`project/logical-clouds/name`).
    pub(crate) subject: String,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Status to show: `cluster`, as the clusters report it; `rsync`, the result of deploying it; `all`, both.
    #[arg(long = "type", default_value = QueryType::Cluster.as_str(), value_parser = query_type())]
    pub(crate) kind: QueryType,
    /// Shows only this app; can be repeated.
    #[arg(long = "app")]
    pub(crate) apps: Vec<String>,
    /// Shows only this cluster (`provider+name`, or the name alone); can be repeated.
    #[arg(long = "cluster")]
    pub(crate) clusters: Vec<String>,
    /// Shows only resources of this name; can be repeated.
    #[arg(long = "resource")]
    pub(crate) resources: Vec<String>,
    /// AppContext id of another instance than the latest; an empty value lists the ids.
    #[arg(long)]
    pub(crate) instance: Option<String>,
    /// Shows the interpreter of each verdict, its declaration of the state (final) and the reason, the time since
    /// which the state holds, and the owner of each child.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Shows changes as they happen, until Ctrl-C: a table that is updated in place on a terminal, else a line
    /// for each change.
    #[arg(long, short, conflicts_with_all = ["explain", "output", "instance"])]
    pub(crate) watch: bool,
    /// Waits until the application is ready or failed, or in the state of `--for`.
    #[arg(long, conflicts_with_all = ["watch", "kind", "explain", "output", "instance"])]
    pub(crate) wait: bool,
    /// State to wait for. Without it: every deciding resource is ready or present, and degraded is not enough.
    #[arg(long = "for", value_name = "STATE", value_enum, requires = "wait")]
    pub(crate) goal: Option<Goal>,
    /// Fails if a container restarted more often than this. Counts all restarts of the containers in the selected
    /// apps and clusters, also those before the command began.
    #[arg(
        long,
        value_name = "N",
        requires = "wait",
        conflicts_with = "resources"
    )]
    pub(crate) max_restarts: Option<u32>,
    /// Time to wait, such as `30s` or `5m`.
    #[arg(long, default_value = "5m", requires = "wait", value_parser = duration)]
    pub(crate) timeout: Duration,
    /// Time for which the final state must hold, such as `10s`.
    #[arg(long, default_value = "3s", requires = "wait", value_parser = duration)]
    pub(crate) hold: Duration,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) output: OutputFormat,
}

/// State that `status --wait` waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Goal {
    /// Everything is ready or present, or degraded only because of recent restarts or past runs of CronJobs.
    Ready,
    /// Every resource that was sent exists, in any phase. Hooks do not count.
    Present,
    /// No resource is left.
    Terminated,
}

/// Parser of `--type`, with the values of the API.
fn query_type() -> impl TypedValueParser<Value = QueryType> {
    let words = QueryType::ALL.iter().map(|kind| kind.as_str());
    PossibleValuesParser::new(words).map(|word| {
        let mut all = QueryType::ALL.iter().copied();
        all.find(|kind| kind.as_str() == word).unwrap_or_default()
    })
}

/// Ends the process because of a command line that cannot be parsed, or prints the help that it requests. A value that is
/// a token is not printed.
pub(crate) fn exit(error: &clap::Error) -> ! {
    let text = error.to_string();
    let shown = without_tokens(&text);
    if shown == text {
        error.exit();
    }
    let _ = write!(std::io::stderr(), "{shown}");
    std::process::exit(error.exit_code())
}

/// Prints an error with its causes to standard error.
pub(crate) fn complain(error: &anyhow::Error) {
    // If standard error is closed, the failure cannot be reported anywhere.
    hint(&format!("{error:#}"));
}

/// Prints a hint to standard error, without tokens.
pub(crate) fn hint(text: &str) {
    let text = clean_lines(&without_tokens(text));
    let _ = progress::above(|| writeln!(std::io::stderr(), "kindsight: {text}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn only_network_intents_are_waited_for_by_apply() {
        let parsed = |more: &[&str]| {
            let words = ["kindsight", "apply", "-f", "app.yaml"];
            Cli::try_parse_from(words.iter().chain(more)).map(|_| ())
        };
        parsed(&[]).unwrap();
        parsed(&["--cluster", "lab+a", "--wait", "--timeout", "1m"]).unwrap();
        let refused = parsed(&["--wait"]).unwrap_err().to_string();
        assert!(refused.contains("--cluster"), "{refused}");
    }
}
