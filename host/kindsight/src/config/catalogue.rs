//! Flags for the catalogue of rules: a folder in OCI layout, with one artifact for each project.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use kindsight_server::ComponentFile;
use kindsight_server::interpreter::Limits;
use kindsight_server::oci::{Client, ClientOptions, Layout, Place, Reference, pull};

/// The folders of the catalogue of a release, from the folder of the executable: beside it, as in the archive and in
/// the image, and the place of `install.sh`.
const BESIDE_EXECUTABLE: [&str; 2] = ["catalogue", "../share/kindsight/catalogue"];

/// The catalogue of rules, for `serve` and for `interpret`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CatalogueArgs {
    /// Catalogue of rules for the Kinds of other projects: a folder in OCI layout. Without a value (in the
    /// configuration file, with an empty value), it is the folder of the release: `catalogue` beside the executable, or
    /// `../share/kindsight/catalogue`.
    ///
    /// A rule of the catalogue comes before the conventions for Kinds without a rule. Every other rule for the same
    /// Kind comes before it.
    #[arg(
        long,
        env = "KINDSIGHT_CATALOGUE",
        value_name = "DIR",
        num_args = 0..=1,
        default_missing_value = ""
    )]
    catalogue: Option<String>,
    /// Project of --catalogue to load; can be repeated. By default, all projects are loaded.
    #[arg(
        long,
        env = "KINDSIGHT_CATALOGUE_PROJECTS",
        value_name = "PROJECT",
        value_delimiter = ',',
        requires = "catalogue"
    )]
    catalogue_projects: Vec<String>,
}

impl CatalogueArgs {
    /// The references to the artifacts of the chosen projects; none without `--catalogue`.
    ///
    /// # Errors
    /// The folder is not a catalogue, or has no project of a given name.
    pub(crate) fn references(&self) -> anyhow::Result<Vec<Reference>> {
        let Some(given) = &self.catalogue else {
            return Ok(Vec::new());
        };
        let folder = match given.as_str() {
            "" => of_release()?,
            // Absolute, so that a server that starts in another folder knows its versions.
            given => std::path::absolute(given).context("--catalogue")?,
        };
        anyhow::ensure!(
            !folder.is_file(),
            "--catalogue: {} is a file, not a folder in OCI layout: write `--catalogue=DIR`, or put `--catalogue` after the files",
            folder.display()
        );
        let projects = projects(&folder)
            .context("--catalogue needs a folder that `kindsight plugin catalogue` made")?;
        let mut unknown = self.catalogue_projects.iter();
        if let Some(unknown) = unknown.find(|project| !projects.contains(project)) {
            anyhow::bail!(
                "--catalogue-projects: the catalogue in {} has no project `{unknown}`; it has {}",
                folder.display(),
                projects.join(", ")
            );
        }
        let chosen = projects.into_iter().filter(|project| {
            self.catalogue_projects.is_empty() || self.catalogue_projects.contains(project)
        });
        let references = chosen.map(|project| Reference {
            place: Place::Layout(folder.clone()),
            tag: Some(project),
            digest: None,
        });
        Ok(references.collect())
    }

    /// The components of the chosen projects. Reads their files.
    ///
    /// # Errors
    /// Those of [`references`](Self::references), or an artifact cannot be read.
    pub(crate) fn components(&self) -> anyhow::Result<Vec<ComponentFile>> {
        let references = self.references()?;
        let client = Client::new(ClientOptions::default())?;
        let bytes_max = Limits::default().component_bytes_max;
        let components = references.iter().map(|reference| {
            let repository = client.open(reference)?;
            let version = repository.version(reference)?;
            let pulled = pull(&repository, &version, &[], bytes_max)?;
            Ok(ComponentFile {
                path: PathBuf::from(reference.to_string()),
                bytes: pulled.component,
                settings: None,
            })
        });
        components.collect()
    }
}

/// The folder of the release that this executable belongs to.
fn of_release() -> anyhow::Result<PathBuf> {
    let executable = std::env::current_exe().context("find the executable")?;
    // A link to the executable counts as the executable.
    let executable = executable.canonicalize().unwrap_or(executable);
    let beside = executable.parent().unwrap_or(Path::new("/"));
    let candidates = BESIDE_EXECUTABLE.map(|folder| beside.join(folder));
    let mut found = candidates.iter().filter(|folder| folder.is_dir());
    let found = found.next().with_context(|| {
        let [first, second] = &candidates;
        format!(
            "--catalogue: there is no catalogue of a release in {} or {}: name its folder, `--catalogue=DIR`",
            first.display(),
            second.display()
        )
    })?;
    Ok(found.canonicalize().unwrap_or_else(|_| found.clone()))
}

/// The projects of a catalogue, sorted.
fn projects(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut projects = Layout::open(folder)?.tags()?;
    projects.sort();
    anyhow::ensure!(!projects.is_empty(), "{} has no projects", folder.display());
    Ok(projects)
}
