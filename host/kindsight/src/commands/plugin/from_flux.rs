//! `kindsight plugin from-flux`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use kindsight_conversion::flux::FluxChecks;

use super::component;

/// `kindsight plugin from-flux`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kubectl get kustomizations,helmreleases -A -o yaml > flux.yaml
  kindsight plugin from-flux flux.yaml -o flux.wasm
  kindsight interpret --interpreter flux.wasm objects.yaml")]
pub(crate) struct FromFluxArgs {
    /// `Kustomizations`, `HelmReleases`, lists of them as `kubectl get -o yaml` prints them, or a bare list of checks.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// File for the component.
    #[arg(short, long, value_name = "FILE.wasm")]
    output: PathBuf,
    /// Name of the interpreter.
    #[arg(long, default_value = "flux")]
    name: String,
    /// Version of the interpreter, a semantic version.
    #[arg(long, default_value = "1.0.0")]
    version: String,
}

/// Runs the command.
///
/// # Errors
/// When a file cannot be read, an expression is invalid, or no check is found.
pub(crate) fn run(args: &FromFluxArgs) -> anyhow::Result<ExitCode> {
    let mut checks = FluxChecks::default();
    let mut found = 0;
    for file in &args.files {
        found += checks.add(&file.display().to_string(), &component::text_of(file)?)?;
    }
    anyhow::ensure!(
        found > 0,
        "no `healthCheckExprs` in the files: they are in the spec of Kustomizations and HelmReleases"
    );
    let component = checks.rules(&args.name, &args.version)?.component()?;
    component::write(&args.output, component)?;
    Ok(ExitCode::SUCCESS)
}
