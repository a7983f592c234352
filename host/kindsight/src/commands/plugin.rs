//! `kindsight plugin`: tools for authors of interpreters.
//!
//! folder of a project, or a component -> **examination** -> tables and files
//!
//! All commands run in this process, without a server and without a checkout of kindsight. Only `diff` can use a server.

mod artifact;
mod bench;
mod build;
mod catalogue;
mod component;
mod conversion;
mod dev;
mod diff;
mod from_argo;
mod from_flux;
mod from_karmada;
mod from_yaml;
mod inspect;
mod kstatus;
mod lint;
mod new;
mod pull;
mod push;
mod record;
mod run;
mod sign;
mod subject;
mod test;
mod verify;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// `kindsight plugin`.
#[derive(Debug, Args)]
#[command(after_help = "\
A project is a folder with one interpreter, which `new` writes. The commands take the project in the
present folder, unless they are given another folder or a component (FILE.wasm).

Examples:
  kindsight plugin new widgets --language rust --kind example.com/v1/Widget
  cd widgets
  kindsight plugin build
  kindsight plugin test
  kindsight plugin run example.yaml
  kubectl get widgets -A -o yaml | kindsight plugin record >> fixtures/widgets.yaml

Exit codes: 0 success; 1 failure (the reason is on standard error), or `test` or `lint` found
something; 2 invalid command line; 3 `run` or `diff` found what its --fail-on names, or an
interpreter was written without some of the rules or cases (--strict).")]
pub(crate) struct PluginArgs {
    #[command(subcommand)]
    command: PluginCommand,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
enum PluginCommand {
    /// Measures a component: size, compilation, start of an instance, and calls.
    Bench(bench::BenchArgs),
    /// Builds a project to a component, with the tools of its language.
    Build(build::BuildArgs),
    /// Makes the catalogue of rules: a folder in OCI layout with a component for each project.
    Catalogue(catalogue::CatalogueArgs),
    /// Builds a project after each change of its files, and shows the verdicts on the objects of a cluster.
    Dev(dev::DevArgs),
    /// Compares the verdicts of two components on the objects of a server or of files, as a Markdown table for a pull
    /// request.
    Diff(diff::DiffArgs),
    /// Makes an interpreter from the health scripts of Argo CD.
    FromArgo(from_argo::FromArgoArgs),
    /// Makes a component from the `healthCheckExprs` of Flux's `Kustomizations` and `HelmReleases`.
    FromFlux(from_flux::FromFluxArgs),
    /// Makes an interpreter from the health scripts of Karmada.
    FromKarmada(from_karmada::FromKarmadaArgs),
    /// Makes a component from rules in YAML files: Kinds, conditions in CEL, states and messages.
    FromYaml(from_yaml::FromYamlArgs),
    /// Shows the description of a component: Kinds, states, reasons, settings and limits.
    Inspect(inspect::InspectArgs),
    /// Writes the component with the rules of kstatus.
    Kstatus(kstatus::KstatusArgs),
    /// Finds mistakes that the fixtures do not show: undeclared fields, unreached states, wrong greens.
    Lint(lint::LintArgs),
    /// Writes a project with a working rule, fixtures and a README into a new folder.
    New(new::NewArgs),
    /// Pulls a component from an OCI registry or a layout folder.
    Pull(pull::PullArgs),
    /// Pushes a component to an OCI registry or into a layout folder.
    Push(push::PushArgs),
    /// Makes fixtures of real objects, with only the fields that the description names.
    Record(record::RecordArgs),
    /// Judges the objects of files with a component, as `kindsight interpret` does.
    Run(run::RunArgs),
    /// Signs an artifact of an OCI registry or a layout folder with a key.
    Sign(sign::SignArgs),
    /// Runs the fixtures of a component and folders of cases, and shows what they cover.
    Test(test::TestArgs),
    /// Verifies the signatures of an artifact with keys.
    Verify(verify::VerifyArgs),
}

/// Runs the command; returns the exit code of the process.
///
/// # Errors
/// The reason why the command failed.
pub(crate) fn run(args: &PluginArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        PluginCommand::Bench(args) => bench::run(args),
        PluginCommand::Build(args) => build::run(args),
        PluginCommand::Catalogue(args) => catalogue::run(args),
        PluginCommand::Dev(args) => dev::run(args),
        PluginCommand::Diff(args) => diff::run(args),
        PluginCommand::FromArgo(args) => from_argo::run(args),
        PluginCommand::FromFlux(args) => from_flux::run(args),
        PluginCommand::FromKarmada(args) => from_karmada::run(args),
        PluginCommand::FromYaml(args) => from_yaml::run(args),
        PluginCommand::Inspect(args) => inspect::run(args),
        PluginCommand::Kstatus(args) => kstatus::run(args),
        PluginCommand::Lint(args) => lint::run(args),
        PluginCommand::New(args) => new::run(args),
        PluginCommand::Pull(args) => pull::run(args).map(|()| ExitCode::SUCCESS),
        PluginCommand::Push(args) => push::run(args).map(|()| ExitCode::SUCCESS),
        PluginCommand::Record(args) => record::run(args),
        PluginCommand::Run(args) => run::run(args),
        PluginCommand::Sign(args) => sign::run(args).map(|()| ExitCode::SUCCESS),
        PluginCommand::Test(args) => test::run(args),
        PluginCommand::Verify(args) => verify::run(args).map(|()| ExitCode::SUCCESS),
    }
}
