//! `kindsight plugin from-karmada`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use kindsight_conversion::karmada;

use super::conversion::{self, ConversionArgs};

/// `kindsight plugin from-karmada`.
#[derive(Debug, Args)]
#[command(after_help = "\
The scripts of `spec.customizations.healthInterpretation` become rules: healthy is Ready, and not
healthy is Pending.

Examples:
  kubectl get resourceinterpretercustomizations -o yaml > rules.yaml
  kindsight plugin from-karmada rules.yaml -o karmada.wasm
  kindsight interpreters check karmada.wasm")]
pub(crate) struct FromKarmadaArgs {
    /// YAML file with `ResourceInterpreterCustomization` objects, or a List of them.
    #[arg(value_name = "FILE")]
    path: PathBuf,
    /// Name of the interpreter.
    #[arg(long, default_value = karmada::NAME)]
    name: String,
    #[command(flatten)]
    conversion: ConversionArgs,
}

/// Runs the command.
///
/// # Errors
/// When nothing can be converted, or a file cannot be read or written.
pub(crate) fn run(args: &FromKarmadaArgs) -> anyhow::Result<ExitCode> {
    conversion::write(
        &args.conversion,
        karmada::from_path(&args.name, &args.path)?,
    )
}
