//! The component of a command: a file, or the component of a project.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use kindsight_authoring::Project;
use kindsight_server::interpreter::{Examination, Interpreters, Limits};
use kindsight_server::{cache_folder, start_engine, start_local_logging};

use crate::commands::interpreters::requests;
use crate::progress::LogLines;

/// The component of a command.
#[derive(Debug, Args)]
pub(super) struct Subject {
    /// Component, or folder of a project (default: the project in the present folder).
    #[arg(
        value_name = "FILE.wasm|DIR",
        default_value = ".",
        hide_default_value = true
    )]
    path: PathBuf,
}

impl Subject {
    /// The file with the component.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn file(&self) -> anyhow::Result<PathBuf> {
        component_of(&self.path)
    }

    /// The component, for its author.
    ///
    /// # Errors
    /// When the component is refused.
    pub(super) fn examined(&self) -> anyhow::Result<Examination> {
        examined(&self.file()?, true)
    }
}

/// The component at a path: a file, or the component of the project in a folder.
///
/// # Errors
/// When there is none.
pub(super) fn component_of(path: &Path) -> anyhow::Result<PathBuf> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let file = Project::open(path)?.component();
    anyhow::ensure!(
        file.exists(),
        "{} does not exist: run `kindsight plugin build` first",
        file.display()
    );
    Ok(file)
}

/// Loads a component for its author.
///
/// # Errors
/// When the component is refused.
pub(super) fn examined(file: &Path, is_cached: bool) -> anyhow::Result<Examination> {
    start_local_logging(|| LogLines)?;
    let bytes = requests::bytes_of(file)?;
    let examined = engine(is_cached)?.examine(&bytes);
    examined
        .map_err(|error| anyhow::anyhow!("{} is refused: {}", file.display(), error.with_step()))
}

/// An engine without live interpreters.
///
/// # Errors
/// When the machine cannot run interpreters.
pub(super) fn engine(is_cached: bool) -> anyhow::Result<Interpreters> {
    let cache = cache_folder().filter(|_| is_cached);
    start_engine(Limits::default(), cache.as_deref()).context("start the engine")
}
