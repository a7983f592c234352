//! `kindsight plugin catalogue`: the catalogue of rules as a folder in OCI layout, with one artifact for each project.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use kindsight_server::oci::{
    Client, ClientOptions, Reference, Repository, SigningKey, Version, keep, push, sign,
};
use kindsight_server::{ComponentFile, LogFormat, cache_folder, inspect_component, start_logging};

use super::artifact::created;
use super::from_yaml::rules_of;
use super::push::annotations;
use crate::progress::{LogLines, Progress};

/// Maximum number of projects of a catalogue.
const PROJECTS_MAX: usize = 256;

/// `kindsight plugin catalogue`.
#[derive(Debug, Args)]
#[command(after_help = "\
Each folder of RULES is a project: its .yaml files become one component with the name of the folder,
and one artifact of LAYOUT with that tag. Each component is checked first, as a server would. Projects
that LAYOUT had before are removed. With the variable SOURCE_DATE_EPOCH, the same rules become the same
artifacts.

Examples:
  kindsight plugin catalogue catalogue/ -o layout
  kindsight plugin catalogue catalogue/ -o layout --key release.key
  kindsight serve --catalogue layout --require-signature release.pub")]
pub(super) struct CatalogueArgs {
    /// Folder with a folder of rules for each project, such as `catalogue` of the sources of kindsight.
    #[arg(value_name = "RULES")]
    rules: PathBuf,
    /// Folder for the catalogue, in OCI layout. It is created if it does not exist.
    #[arg(short, long, value_name = "LAYOUT")]
    output: PathBuf,
    /// Version of the components.
    #[arg(long, default_value = env!("CARGO_PKG_VERSION"))]
    version: String,
    /// PEM file with a private key that signs each artifact, as `kindsight plugin sign` does.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// A rule is invalid, a fixture does not hold, the key cannot be used, or a file cannot be read or written.
pub(super) fn run(args: &CatalogueArgs) -> anyhow::Result<ExitCode> {
    start_logging("error", LogFormat::Text, || LogLines)?;
    let key = args.key.as_deref().map(SigningKey::read).transpose()?;
    let projects = projects(&args.rules)?;
    let client = Client::new(ClientOptions::default())?;
    let repository = client.create(&Reference::of_layout(&args.output))?;
    let mut total = 0;
    for (name, folder) in &projects {
        let progress = Progress::waiting(&format!("checking the rules of {name}"));
        let bytes = add(&repository, name, folder, &args.version, key.as_ref())
            .with_context(|| format!("project {name}"))?;
        drop(progress);
        total += bytes;
        writeln!(io::stdout().lock(), "{name} {} {bytes} bytes", args.version)?;
    }
    let names: Vec<&str> = projects.iter().map(|(name, _)| name.as_str()).collect();
    keep(&repository, &names)?;
    let (layout, count) = (args.output.display(), names.len());
    let signed = if key.is_some() {
        "signed"
    } else {
        "not signed"
    };
    writeln!(
        io::stdout().lock(),
        "{layout}: {count} projects, {total} bytes, {signed}"
    )?;
    Ok(ExitCode::SUCCESS)
}

/// The projects: name and folder, sorted by name.
fn projects(rules: &Path) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let failed = || format!("cannot list {}", rules.display());
    let mut projects = Vec::new();
    for entry in fs::read_dir(rules).with_context(failed)? {
        let path = entry.with_context(failed)?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        // Files beside the projects, and hidden folders.
        let Some(name) = name.filter(|name| path.is_dir() && !name.starts_with('.')) else {
            continue;
        };
        projects.push((name.to_owned(), path));
        anyhow::ensure!(
            projects.len() <= PROJECTS_MAX,
            "{} has more than {PROJECTS_MAX} folders",
            rules.display()
        );
    }
    anyhow::ensure!(
        !projects.is_empty(),
        "{} has no folder of rules; expected a folder for each project",
        rules.display()
    );
    projects.sort();
    Ok(projects)
}

/// Makes the component of a project, checks it, and adds it to the catalogue. Returns the size of the component in bytes.
fn add(
    repository: &Repository,
    name: &str,
    folder: &Path,
    version: &str,
    key: Option<&SigningKey>,
) -> anyhow::Result<usize> {
    let component = rules_of(folder, name, version)?.component()?;
    let file = ComponentFile {
        path: folder.to_owned(),
        bytes: component,
        settings: None,
    };
    let detail = inspect_component(cache_folder().as_deref(), &file)?;
    let tag = Version::Tag(name.to_owned());
    push(
        repository,
        &tag,
        &file.bytes,
        &created()?,
        annotations(detail),
    )?;
    if let Some(key) = key {
        sign(repository, &tag, key, &created()?)?;
    }
    Ok(file.bytes.len())
}
