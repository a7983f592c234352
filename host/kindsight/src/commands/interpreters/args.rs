//! The command line of `kindsight interpreters`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::OutputFormat;

/// `kindsight interpreters`.
#[derive(Debug, Args)]
#[command(after_help = "\
An interpreter is known by its name. For each name a server may have three components: one built
in, one from its directory, one that was uploaded; the later in this order overrides the earlier.
What is changed here takes effect at once and survives a restart. A component that is refused
leaves the live one as it is, and the answer says at which step it was refused and why.

Examples:
  kindsight interpreters list
  kindsight interpreters load widgets.wasm --candidate
  kindsight interpreters shadow widgets
  kindsight interpreters promote widgets
  kindsight interpreters rollback widgets
  kindsight interpreters inspect widgets -o json
  kindsight interpreters diff widgets-1.0.wasm widgets-1.1.wasm dump/

Exit codes: 0 done; 3 `diff` found that verdicts would change; 1 the server refused or could not be asked (the reason is on standard error);
2 the command line is wrong.")]
pub(crate) struct InterpretersArgs {
    #[command(subcommand)]
    pub(crate) action: Action,
    #[command(flatten)]
    pub(crate) to: To,
}

/// Who is asked, and how the answer is printed.
#[derive(Debug, Args)]
pub(crate) struct To {
    /// The server.
    #[arg(
        long,
        global = true,
        default_value = "http://127.0.0.1:9015",
        env = "KINDSIGHT_SERVER"
    )]
    pub(crate) server: String,
    /// How to print it.
    #[arg(short, long, global = true, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) output: OutputFormat,
}

/// What to do with interpreters.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Lists all interpreters: version, source, calls and faults.
    List,
    /// Shows one interpreter: what it judges and how, its limits, statistics, versions and history.
    Inspect(Name),
    /// Uploads a component and makes it live, or keeps it as candidate.
    Load(LoadArgs),
    /// Runs the candidate beside what is live, over every object the server knows.
    ///
    /// Nothing changes: it only says how many verdicts would, which, and how long both took.
    #[command(after_help = "\
Exit codes: 0 there is a report, whatever it says; 1 there is no candidate, or the server could not
be asked; 2 the command line is wrong.")]
    Shadow(Name),
    /// Makes the candidate live.
    Promote(PromoteArgs),
    /// Goes back to the version before, and marks the one that was live as bad.
    Rollback(Name),
    /// Leaves the interpreter out: its Kinds go to whoever judges them otherwise.
    Disable(Name),
    /// Puts a disabled interpreter back.
    Enable(Name),
    /// Shows, replaces or clears the settings of an interpreter.
    Settings(SettingsArgs),
    /// Removes the uploaded component; the one it overrode, if any, is live again.
    Remove(Name),
    /// Judges files by two components, here and without a server, and says where they differ.
    Diff(DiffArgs),
}

/// A command about one interpreter.
#[derive(Debug, Args)]
pub(crate) struct Name {
    /// Name of the interpreter, as `kindsight interpreters list` shows it.
    pub(crate) name: String,
}

/// `kindsight interpreters load`.
#[derive(Debug, Args)]
#[command(after_help = "\
The bytes that are live already change nothing. With --digest, what arrives is what you meant:
`sha256sum widgets.wasm` prints the digits.

Examples:
  kindsight interpreters load widgets.wasm
  kindsight interpreters load target/wasm32-unknown-unknown/release/my_widgets.wasm --name widgets
  kindsight interpreters load widgets.wasm --candidate

Exit codes: 0 it is live, a candidate, or was there already; 1 it was refused (step and reason are
on standard error), or the server could not be asked; 2 the command line is wrong.")]
pub(crate) struct LoadArgs {
    /// The component, or a core module built with the SDK for `wasm32-unknown-unknown`.
    #[arg(value_name = "FILE.wasm")]
    pub(crate) file: PathBuf,
    /// Name the component gives itself; the default is the file's name without `.wasm`.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Keep it as candidate instead of making it live: `shadow` shows what it would change.
    #[arg(long)]
    pub(crate) candidate: bool,
    /// Refuse the bytes unless this is their digest (`sha256:` and 64 hexadecimal digits).
    #[arg(long, value_name = "DIGEST")]
    pub(crate) digest: Option<String>,
}

/// `kindsight interpreters promote`.
#[derive(Debug, Args)]
#[command(after_help = "\
With --digest nobody can put another candidate between what you looked at and what goes live:

  kindsight interpreters shadow widgets
  kindsight interpreters promote widgets --digest sha256:…

Exit codes: 0 it is live; 1 there is no candidate, it is another than the digest says, or the server
could not be asked; 2 the command line is wrong.")]
pub(crate) struct PromoteArgs {
    #[command(flatten)]
    pub(crate) of: Name,
    /// Only if this is the candidate's digest, in full, as `shadow` prints it.
    #[arg(long, value_name = "DIGEST")]
    pub(crate) digest: Option<String>,
}

/// `kindsight interpreters settings`.
#[derive(Debug, Args)]
#[command(after_help = "\
Settings are one JSON object. Which members it may have is said by the component; `inspect` shows
it. Without FILE the settings are printed as JSON whatever --output says, `{}` where there are none.

Examples:
  kindsight interpreters settings widgets > settings.json
  kindsight interpreters settings widgets settings.json
  echo '{\"strict\": true}' | kindsight interpreters settings widgets -
  kindsight interpreters settings widgets --clear

Exit codes: 0 done; 1 the component does not take these settings (the reason is on standard error),
or the server could not be asked; 2 the command line is wrong.")]
pub(crate) struct SettingsArgs {
    #[command(flatten)]
    pub(crate) of: Name,
    /// File with the new settings, or `-` for standard input.
    #[arg(value_name = "FILE|-", conflicts_with = "clear")]
    pub(crate) file: Option<PathBuf>,
    /// Remove the settings.
    #[arg(long)]
    pub(crate) clear: bool,
}

/// `kindsight interpreters diff`.
#[derive(Debug, Args)]
#[command(after_help = "\
Each of the two is put on top of the built-in interpreters, as `kindsight interpret --interpreter`
does. Input is what `kindsight interpret` takes; the objects of one List or one multi-document YAML
file are each other's related objects. Passed over are objects that go to the same interpreters
either way. The JSON is that of `shadow`, with A as what is live and B as the candidate.

Examples:
  kindsight interpreters diff widgets-1.0.wasm widgets-1.1.wasm dump/
  kubectl get widgets -A -o json | kindsight interpreters diff old.wasm new.wasm
  kindsight interpreters diff old.wasm new.wasm dump/ --now 2026-01-31T12:00:00Z -o json

Exit codes: 0 no verdict would change; 3 verdicts would change; 1 a component was refused or
something could not be read (the reason is on standard error); 2 the command line is wrong.")]
pub(crate) struct DiffArgs {
    /// The component as it is now.
    #[arg(value_name = "A.wasm")]
    pub(crate) old: PathBuf,
    /// The component as it would be.
    #[arg(value_name = "B.wasm")]
    pub(crate) new: PathBuf,
    /// Judge as if it were this moment (RFC 3339); the default is now.
    #[arg(long, value_name = "RFC3339")]
    pub(crate) now: Option<jiff::Timestamp>,
    /// Files, folders (their *.json, *.jsonl, *.yaml and *.yml), or `-` for standard input, which is
    /// also what is read where nothing is named.
    #[arg(value_name = "OBJECTS")]
    pub(crate) inputs: Vec<PathBuf>,
}
