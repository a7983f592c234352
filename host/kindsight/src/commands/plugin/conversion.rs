//! The file of an interpreter that was made from the rules of another tool.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use kindsight_conversion::Conversion;

use crate::FOUND;

/// The options of all commands that convert rules.
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
/// When the file cannot be written.
pub(crate) fn write(args: &ConversionArgs, conversion: &Conversion) -> anyhow::Result<ExitCode> {
    let file = &args.output;
    fs::write(file, &conversion.component)
        .with_context(|| format!("failed to write {}", file.display()))?;
    for refused in &conversion.refused {
        anstream::eprintln!("refused: {refused}");
    }
    anstream::println!(
        "{}: {} rules, {} fixtures, {} refused, {} bytes",
        file.display(),
        conversion.rules,
        conversion.fixtures,
        conversion.refused.len(),
        conversion.component.len(),
    );
    let is_incomplete = args.strict && !conversion.refused.is_empty();
    Ok(if is_incomplete {
        ExitCode::from(FOUND)
    } else {
        ExitCode::SUCCESS
    })
}
