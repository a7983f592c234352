//! The file of an interpreter that was made from the rules of another tool.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use kindsight_conversion::Conversion;

use super::component;
use crate::FOUND;

/// The options of `from-argo` and `from-karmada`.
#[derive(Debug, Args)]
pub(crate) struct ConversionArgs {
    /// File of the component.
    #[arg(short, long, value_name = "FILE.wasm")]
    output: PathBuf,
    /// Exit with code 3 if a rule or a case is refused.
    #[arg(long)]
    strict: bool,
}

/// Writes the component, and names on standard error what it does not contain.
///
/// # Errors
/// When the host refuses the component, or the file cannot be written.
pub(crate) fn write(args: &ConversionArgs, conversion: Conversion) -> anyhow::Result<ExitCode> {
    let file = args.output.display();
    for refused in &conversion.refused {
        anstream::eprintln!("refused: {refused}");
    }
    anstream::eprintln!(
        "{file}: {} rules, {} fixtures, {} refused",
        conversion.rules,
        conversion.fixtures,
        conversion.refused.len(),
    );
    component::write(&args.output, conversion.component)?;
    let is_incomplete = args.strict && !conversion.refused.is_empty();
    Ok(if is_incomplete {
        ExitCode::from(FOUND)
    } else {
        ExitCode::SUCCESS
    })
}
