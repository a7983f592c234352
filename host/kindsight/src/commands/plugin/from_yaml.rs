//! `kindsight plugin from-yaml`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use kindsight_conversion::cel::RuleSet;
use kindsight_conversion::declarative;

use super::component;

/// Maximum number of files in a folder.
const FILES_MAX: usize = 1024;

/// `kindsight plugin from-yaml`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kindsight plugin from-yaml certificate.yaml -o certificate.wasm
  kindsight plugin from-yaml rules/ --name our-rules --version 1.4.0 -o our-rules.wasm")]
pub(crate) struct FromYamlArgs {
    /// A file of rules, or a folder whose files become one interpreter.
    #[arg(value_name = "FILE|DIR")]
    input: PathBuf,
    /// File for the component.
    #[arg(short, long, value_name = "FILE.wasm")]
    output: PathBuf,
    /// Name of the interpreter (default: as in the file). Needed for a folder.
    #[arg(long)]
    name: Option<String>,
    /// Version of the interpreter (default: as in the file). Needed for a folder.
    #[arg(long)]
    version: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// When a file cannot be read, a rule is invalid, or a fixture does not hold.
pub(crate) fn run(args: &FromYamlArgs) -> anyhow::Result<ExitCode> {
    let rules = if args.input.is_dir() {
        joined(args)?
    } else {
        let mut rules = read(&args.input)?;
        rules.name = args.name.clone().unwrap_or(rules.name);
        rules.version = args.version.clone().unwrap_or(rules.version);
        rules
    };
    component::write(&args.output, rules.component()?)?;
    Ok(ExitCode::SUCCESS)
}

fn read(file: &Path) -> anyhow::Result<RuleSet> {
    let text = component::text_of(file)?;
    Ok(declarative::read(&file.display().to_string(), &text)?)
}

/// The rules of all files in the folder of the arguments.
fn joined(args: &FromYamlArgs) -> anyhow::Result<RuleSet> {
    let (Some(name), Some(version)) = (&args.name, &args.version) else {
        anyhow::bail!("the files of a folder become one interpreter: give it --name and --version");
    };
    rules_of(&args.input, name, version)
}

/// The rules of all files in a folder, as one interpreter.
///
/// # Errors
/// When a file cannot be read, or a rule is invalid.
pub(super) fn rules_of(folder: &Path, name: &str, version: &str) -> anyhow::Result<RuleSet> {
    let failed = || format!("cannot list {}", folder.display());
    let entries = fs::read_dir(folder).with_context(failed)?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.with_context(failed)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "yaml" || extension == "yml")
        {
            files.push(path);
        }
        anyhow::ensure!(
            files.len() <= FILES_MAX,
            "{} has more than {FILES_MAX} files",
            folder.display()
        );
    }
    anyhow::ensure!(!files.is_empty(), "{} has no .yaml file", folder.display());
    files.sort();
    let sets = files.iter().map(|file| read(file));
    let sets = sets.collect::<anyhow::Result<Vec<_>>>()?;
    Ok(declarative::join(name, version, sets)?)
}
