//! The command line of `kindsight interpreters`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use kindsight_api::interpreters::ShadowBase;
use kindsight_model::ClusterName;

use crate::commands::interpret::input::InputCoverage;
use crate::output_format::OutputFormat;
use crate::server_args::ServerArgs;

/// `kindsight interpreters`.
#[derive(Debug, Args)]
#[command(after_help = "\
An interpreter has a name. For each name a server can have components from six sources:
catalogue, built-in, ConfigMap of Argo CD, registry, watched directory, upload; a later one in
this order overrides an earlier one. Changes take effect at once and survive a restart. If a component is refused, the live one
stays, and the error names the step and the reason.

Examples:
  kindsight interpreters list
  kindsight interpreters missing
  kindsight interpreters load widgets.wasm --candidate
  kindsight interpreters shadow widgets
  kindsight interpreters promote widgets
  kindsight interpreters rollback widgets
  kindsight interpreters inspect widgets -o json
  kindsight interpreters diff widgets-1.0.wasm widgets-1.1.wasm dump/

Exit codes: 0 success; 1 the server refused or could not be reached (the reason is on standard
error); 2 invalid command line; 3 `diff` found verdicts that would change, or `shadow` what its
--fail-on names.")]
pub(crate) struct InterpretersArgs {
    #[command(subcommand)]
    pub(crate) action: Action,
    #[command(flatten)]
    pub(crate) to: To,
}

/// Server and output format.
#[derive(Debug, Args)]
pub(crate) struct To {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Output format.
    #[arg(short, long, global = true, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) output: OutputFormat,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Lists all interpreters with version, source, calls and faults.
    List,
    /// Lists the Kinds of known objects that have no rule of their own, most objects first.
    ///
    /// The conventions of all controllers judge these objects. The last column is the project of the catalogue of rules
    /// that has a rule for the Kind.
    Missing,
    /// Shows one interpreter: Kinds, states, settings, limits, statistics, versions and history.
    ///
    /// With a file (a name with `/` or the ending `.wasm`), shows the component in it, without a server.
    Inspect(Subject),
    /// Takes a component in a file through the steps of a load, without a server.
    Check(CheckArgs),
    /// Makes a fixture of an object that a cluster reported, for the author of its interpreter.
    Record(RecordArgs),
    /// Uploads a component and makes it live, or keeps it as a candidate.
    Load(LoadArgs),
    /// Compares the candidate with the live version on every object of the server.
    ///
    /// Nothing is changed: it reports which verdicts would change, and the latency of both versions.
    #[command(after_help = "\
Exit codes: 0 success, whether or not verdicts would change; 1 there is no candidate, or the
server could not be reached; 2 invalid command line; 3 the report has what --fail-on names.")]
    Shadow(ShadowArgs),
    /// Makes the candidate live, or brings back a version by its digest.
    Promote(PromoteArgs),
    /// Rolls back to the previous version, and marks the live one as rolled back.
    Rollback(RollbackArgs),
    /// Disables an interpreter; its Kinds fall back to other interpreters.
    Disable(Name),
    /// Enables a disabled interpreter.
    Enable(Name),
    /// Shows, replaces or clears the settings of an interpreter.
    Settings(SettingsArgs),
    /// Removes the uploaded component; the component it overrode, if any, is live again.
    ///
    /// If no component of a name is in use any more, the next removal forgets the name.
    Remove(RemoveArgs),
    /// Compares the verdicts of two components on files, without a server.
    Diff(DiffArgs),
}

/// The interpreter of a command.
#[derive(Debug, Args)]
pub(crate) struct Name {
    /// Name of the interpreter, as `kindsight interpreters list` shows it.
    pub(crate) name: String,
}

/// The interpreter of a server, or a component in a file.
#[derive(Debug, Args)]
pub(crate) struct Subject {
    /// Name of the interpreter, as `kindsight interpreters list` shows it, or a file.
    #[arg(value_name = "NAME|FILE.wasm")]
    pub(crate) name: String,
}

impl Subject {
    /// The file, if it is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        let path = Path::new(&self.name);
        let is_file = self.name.contains('/') || path.extension() == Some("wasm".as_ref());
        is_file.then_some(path)
    }
}

/// `kindsight interpreters check`.
#[derive(Debug, Args)]
#[command(after_help = "\
The component is compiled, its description and its settings schema are checked, and its fixtures
are run, as by a server with default limits. Whether the component fits beside the interpreters
of a server is only known there: `load --candidate`.

Exit codes: 0 a server would accept it; 1 it or its settings are refused (step and reason are on
standard error); 2 invalid command line.")]
pub(crate) struct CheckArgs {
    /// Component, or core module built with the SDK for `wasm32-unknown-unknown`.
    #[arg(value_name = "FILE.wasm")]
    pub(crate) file: PathBuf,
    /// Settings to check with its schema: a file with one JSON object.
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
}

/// `kindsight interpreters record`.
#[derive(Debug, Args)]
#[command(after_help = "\
Prints a fixture as YAML: the object and its related objects with the fields that the interpreter
requests, their coverage, the time, the settings, and the verdict as the promise. Append it to a
file below `fixtures/` of the interpreter.

Example:
  kindsight interpreters record kubeconfig+east Deployment front -n web >> fixtures/live.yaml")]
pub(crate) struct RecordArgs {
    /// Cluster of the object.
    #[arg(value_name = "PROVIDER+NAME")]
    pub(crate) cluster: ClusterName,
    /// Kind of the object, with the group if several groups have it.
    #[arg(value_name = "KIND[.GROUP]")]
    pub(crate) kind: String,
    /// Name of the object.
    #[arg(value_name = "OBJECT")]
    pub(crate) object: String,
    /// Namespace of the object; none for an object without a namespace.
    #[arg(short, long, value_name = "NAMESPACE", default_value = "")]
    pub(crate) namespace: String,
}

/// `kindsight interpreters shadow`.
#[derive(Debug, Args)]
pub(crate) struct ShadowArgs {
    #[command(flatten)]
    pub(crate) of: Name,
    /// Version with which the candidate is compared. Without a candidate, the live version is compared with the
    /// built-in one.
    #[arg(long, value_enum, default_value_t = Base::Live)]
    pub(crate) base: Base,
    /// Settings of the candidate for this run: a file with one JSON object. They are not stored.
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// Exits with 3 if the report has one of these.
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<ShadowFailure>,
}

/// The version with which a candidate is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Base {
    /// The live version.
    Live,
    /// The built-in version, or the other built-in interpreters if there is none of the name.
    BuiltIn,
}

impl From<Base> for ShadowBase {
    fn from(base: Base) -> Self {
        match base {
            Base::Live => Self::Live,
            Base::BuiltIn => Self::BuiltIn,
        }
    }
}

/// Findings at which `shadow` and `diff` fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShadowFailure {
    /// A verdict would change, even if only in its message.
    Changes,
    /// The phase of a verdict would change.
    Phase,
    /// The candidate ends in a fault on some object.
    Faults,
}

/// `kindsight interpreters load`.
#[derive(Debug, Args)]
#[command(after_help = "\
The interpreter has the name that the component declares, whatever the file is called. Loading
the component that is already live changes nothing. With --digest the server checks the digest
of the upload; `sha256sum widgets.wasm` prints its digits.

Examples:
  kindsight interpreters load widgets.wasm
  kindsight interpreters load target/wasm32-unknown-unknown/release/my_widgets.wasm
  kindsight interpreters load widgets.wasm --candidate

Exit codes: 0 it is live or a candidate; 1 it was refused (step and reason are on standard
error), or the server could not be reached; 2 invalid command line.")]
pub(crate) struct LoadArgs {
    /// Component, or core module built with the SDK for `wasm32-unknown-unknown`.
    #[arg(value_name = "FILE.wasm")]
    pub(crate) file: PathBuf,
    /// Name that the component has to declare; refused if it declares another one (default: any).
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Keeps it as a candidate instead of making it live; `shadow` shows what it would change.
    #[arg(long)]
    pub(crate) candidate: bool,
    /// Lets it take the name of a built-in interpreter although it does not judge all of its Kinds; they fall
    /// back to a more general interpreter.
    #[arg(long)]
    pub(crate) replace_built_in: bool,
    /// Expected digest of the file, or its beginning; refused if it differs.
    #[arg(long, value_name = "DIGEST")]
    pub(crate) digest: Option<String>,
    /// Settings with which it goes live, instead of the present ones: a file with one JSON object. For a candidate,
    /// give them to `shadow` and `promote`.
    #[arg(long, value_name = "FILE", conflicts_with = "candidate")]
    pub(crate) settings: Option<PathBuf>,
}

/// `kindsight interpreters promote`.
#[derive(Debug, Args)]
#[command(after_help = "\
--digest makes sure that the candidate that goes live is the one that was reviewed:

  kindsight interpreters shadow widgets
  kindsight interpreters promote widgets --digest sha256:…

With the digest of any other version that `inspect` shows (live before, rolled back from,
built-in), that version is live again, also where the name was disabled or another source
covered it.

Exit codes: 0 it is live; 1 there is no candidate, no version has that digest, or the server
could not be reached; 2 invalid command line.")]
pub(crate) struct PromoteArgs {
    #[command(flatten)]
    pub(crate) of: Name,
    /// Digest of the candidate, or of a version to bring back; its beginning is sufficient if no other version of
    /// the name has it.
    #[arg(long, value_name = "DIGEST")]
    pub(crate) digest: Option<String>,
    /// Promotes the candidate although its last shadow run had faults.
    #[arg(long)]
    pub(crate) force: bool,
    /// Settings that replace the present ones in the same step: a file with one JSON object.
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
}

/// `kindsight interpreters rollback`.
#[derive(Debug, Args)]
pub(crate) struct RollbackArgs {
    #[command(flatten)]
    pub(crate) of: Name,
    /// Digest that the live version must have, or its beginning; refused otherwise, so that two operators do not
    /// roll back twice.
    #[arg(long, value_name = "DIGEST")]
    pub(crate) digest: Option<String>,
}

/// `kindsight interpreters remove`.
#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Name of the interpreter, as `kindsight interpreters list` shows it.
    #[arg(required_unless_present = "unused")]
    pub(crate) name: Option<String>,
    /// Forgets every name without a live version and without a candidate.
    #[arg(long, conflicts_with = "name")]
    pub(crate) unused: bool,
}

/// `kindsight interpreters settings`.
#[derive(Debug, Args)]
#[command(after_help = "\
Settings are one JSON object that fits the schema of the component, which `inspect` shows.
Without FILE the settings are printed, always as JSON; `{}` if there are none.

Examples:
  kindsight interpreters settings widgets > settings.json
  kindsight interpreters settings widgets settings.json
  echo '{\"strict\": true}' | kindsight interpreters settings widgets -
  kindsight interpreters settings widgets --clear

Exit codes: 0 success; 1 the settings do not fit the schema (the reason is on standard error),
or the server could not be reached; 2 invalid command line.")]
pub(crate) struct SettingsArgs {
    #[command(flatten)]
    pub(crate) of: Name,
    /// File with the new settings, or `-` for standard input.
    #[arg(value_name = "FILE|-", conflicts_with = "clear")]
    pub(crate) file: Option<PathBuf>,
    /// Removes the settings.
    #[arg(long)]
    pub(crate) clear: bool,
}

/// `kindsight interpreters diff`.
#[derive(Debug, Args)]
#[command(after_help = "\
Each of the two is loaded on top of the built-in interpreters, as `kindsight interpret
--interpreter` does. With `built-in` as A, B is compared with the built-in interpreters alone. Input is that of `kindsight interpret`; the objects of one List or one YAML
stream are each other's related objects. Objects that the same interpreters judge in both cases
are skipped. The JSON output is that of `shadow`, with A as the live version and B as the
candidate.

Examples:
  kindsight interpreters diff widgets-1.0.wasm widgets-1.1.wasm dump/
  kubectl get widgets -A -o json | kindsight interpreters diff old.wasm new.wasm
  kindsight interpreters diff old.wasm new.wasm dump/ --now 2026-01-31T12:00:00Z -o json

Exit codes: 0 the report has nothing of --fail-on, by default no verdict would change; 1 a
component was refused, or some input could not be read or is no object, such as the end of a dump
that was cut off (the reason is on standard error); 2 invalid command line; 3 the report has what
--fail-on names.")]
pub(crate) struct DiffArgs {
    /// The old component, or `built-in` for the built-in interpreters.
    #[arg(value_name = "A.wasm|built-in")]
    pub(crate) old: PathBuf,
    /// The new component.
    #[arg(value_name = "B.wasm")]
    pub(crate) new: PathBuf,
    /// Settings of B: a file with one JSON object.
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// Settings of A: a file with one JSON object.
    #[arg(long, value_name = "FILE")]
    pub(crate) old_settings: Option<PathBuf>,
    /// Exits with 3 if the report has one of these.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "changes")]
    pub(crate) fail_on: Vec<ShadowFailure>,
    /// Whether the input has all related objects of the objects in it. With `complete`, a List or a YAML stream
    /// proves that an object outside it does not exist, as a cluster does for a server.
    #[arg(long, value_enum, default_value_t = InputCoverage::Partial)]
    pub(crate) coverage: InputCoverage,
    /// Time to judge at, in RFC 3339 (default: now).
    #[arg(long, value_name = "RFC3339")]
    pub(crate) now: Option<jiff::Timestamp>,
    /// Files, directories (their *.json, *.jsonl, *.ndjson, *.yaml and *.yml files, recursively), or
    /// `-` for standard input, which is the default.
    #[arg(value_name = "OBJECTS")]
    pub(crate) inputs: Vec<PathBuf>,
}
