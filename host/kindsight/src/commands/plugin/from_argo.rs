//! `kindsight plugin from-argo`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use kindsight_conversion::argo;

use super::conversion::{self, ConversionArgs};

/// `kindsight plugin from-argo`.
#[derive(Debug, Args)]
#[command(after_help = "\
A script that is not valid is refused; the others work without it. Cases (health_test.yaml) become
fixtures; a case whose script states another health is refused.

Examples:
  kindsight plugin from-argo resource_customizations/ -o argo-cd.wasm
  kubectl get configmap -n argocd argocd-cm -o yaml > argocd-cm.yaml
  kindsight plugin from-argo argocd-cm.yaml -o argo-cd.wasm
  kindsight interpreters check argo-cd.wasm")]
pub(crate) struct FromArgoArgs {
    /// Folder with GROUP/KIND/health.lua, or YAML file with the `ConfigMap` argocd-cm.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Name of the interpreter.
    #[arg(long, default_value = argo::NAME)]
    name: String,
    #[command(flatten)]
    conversion: ConversionArgs,
}

/// Runs the command.
///
/// # Errors
/// When nothing can be converted, or a file cannot be read or written.
pub(crate) fn run(args: &FromArgoArgs) -> anyhow::Result<ExitCode> {
    conversion::write(&args.conversion, argo::from_path(&args.name, &args.path)?)
}
