//! `kindsight plugin dev`.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use kindsight_authoring::{Project, SourceState};
use kindsight_model::KindPattern;
use kindsight_server::interpreter::{Interpreter, Limits};
use kindsight_server::{
    SettingsByName, cache_folder, now_ms, read_documents, start_interpreters, start_local_logging,
};

use crate::cli::{self, VerdictOutput};
use crate::commands::interpret::input::InputCoverage;
use crate::commands::interpret::judged::{Show, judged};
use crate::commands::interpret::output::Printer;
use crate::progress::{self, LogLines};

/// Interval between two checks of the files of the project.
const POLL: Duration = Duration::from_millis(300);

/// `kindsight plugin dev`.
#[derive(Debug, Args)]
#[command(after_help = "\
After each change of a file of the project, it builds the project, runs its fixtures, and judges the
objects of the cluster that `kubectl get` returns for the Kinds of the description and their related
objects. It needs `kubectl`. It changes nothing in the cluster. Ctrl-C ends it.")]
pub(crate) struct DevArgs {
    /// Folder of the project.
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    folder: PathBuf,
    /// Kubeconfig for `kubectl` (default: the kubeconfig of `kubectl`).
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig.
    #[arg(long)]
    context: Option<String>,
    /// Builds and judges once.
    #[arg(long)]
    once: bool,
}

/// Runs the command.
///
/// # Errors
/// When the folder is no project. Failed builds are shown, and the next change is awaited; with `--once` they are errors.
pub(crate) fn run(args: &DevArgs) -> anyhow::Result<ExitCode> {
    start_local_logging(|| LogLines)?;
    let project = Project::open(&args.folder)?;
    loop {
        let state = project.sources()?;
        let shown = show(args, &project);
        if args.once {
            return shown.map(|()| ExitCode::SUCCESS);
        }
        if let Err(error) = shown {
            cli::complain(&error);
        }
        writeln!(
            io::stdout(),
            "\nwaiting for a change in {}",
            args.folder.display()
        )?;
        wait_for_change(&project, &state)?;
    }
}

fn wait_for_change(project: &Project, state: &SourceState) -> anyhow::Result<()> {
    while project.sources()? == *state {
        std::thread::sleep(POLL);
    }
    Ok(())
}

/// Builds the project, and shows the verdicts.
fn show(args: &DevArgs, project: &Project) -> anyhow::Result<()> {
    let file = project.build()?;
    let none = SettingsByName::new();
    let local = start_interpreters(
        Limits::default(),
        cache_folder().as_deref(),
        &[file],
        &[],
        &none,
        &progress::of_interpreters(),
    )?;
    let interpreter = local.from_files.first().context("load the component")?;
    let objects = objects(args, interpreter)?;
    let mut printer = Printer::new(anstream::stdout().lock(), VerdictOutput::Table, false);
    let show = Show {
        explain: false,
        input: false,
    };
    let name = &interpreter.by().name;
    read_documents(&*objects, |group| {
        let mut lines = judged(
            &local.interpreters,
            group,
            &InputCoverage::Complete.into(),
            now_ms(),
            show,
        )?;
        // Related objects are judged by other interpreters.
        lines.retain(|line| {
            line.verdict
                .interpreter
                .as_ref()
                .is_none_or(|by| by.name == *name)
        });
        printer.print(&lines)
    })?;
    Ok(printer.finish()?)
}

/// The objects of the description's Kinds, and their related objects, as `kubectl` prints them.
fn objects(args: &DevArgs, interpreter: &Interpreter) -> anyhow::Result<Vec<u8>> {
    let kinds = &interpreter.description().kinds;
    let own = kinds.iter().map(|kind| &kind.pattern);
    let related = kinds
        .iter()
        .flat_map(|kind| kind.related.iter().map(|related| &related.rule.pattern));
    let mut names: Vec<String> = own.chain(related).filter_map(resource).collect();
    names.sort();
    names.dedup();
    anyhow::ensure!(
        !names.is_empty(),
        "the description names no Kind without a wildcard, so there is nothing to get"
    );
    let mut kubectl = Command::new("kubectl");
    kubectl.args([
        "get",
        &names.join(","),
        "--all-namespaces",
        "--output",
        "json",
        "--ignore-not-found",
    ]);
    if let Some(file) = &args.kubeconfig {
        kubectl.arg("--kubeconfig").arg(file);
    }
    if let Some(context) = &args.context {
        kubectl.args(["--context", context]);
    }
    let output = kubectl.stderr(Stdio::piped()).output();
    let output = output.context(
        "run `kubectl`, which gets the objects (https://kubernetes.io/docs/tasks/tools)",
    )?;
    anyhow::ensure!(
        output.status.success(),
        "`kubectl get {}` failed: {}",
        names.join(","),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(output.stdout)
}

/// The Kind of a pattern as `kubectl get` takes it. `None` for a wildcard.
fn resource(pattern: &KindPattern) -> Option<String> {
    let (group, kind) = (pattern.group.as_str(), pattern.kind.as_str());
    if group.contains('*') || kind.contains('*') {
        return None;
    }
    Some(if group.is_empty() {
        kind.to_owned()
    } else {
        format!("{kind}.{group}")
    })
}
