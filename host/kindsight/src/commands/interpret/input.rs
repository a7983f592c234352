//! Inputs: files, the files of directories, standard input.

use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Read};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::ValueEnum;
use kindsight_model::{Coverage, KindState};
use kindsight_server::{Group, read_documents};

use crate::cli;

/// Most levels of directories that are searched.
const DEPTH_MAX: usize = 16;

/// Coverage of the related objects in an input of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputCoverage {
    /// There may be further objects of every Kind.
    Partial,
    /// There are no further objects of any Kind.
    Complete,
}

impl From<InputCoverage> for Coverage {
    fn from(given: InputCoverage) -> Self {
        match given {
            InputCoverage::Partial => Self::partial(),
            InputCoverage::Complete => Self::of_others(KindState::Complete),
        }
    }
}

/// One stream of input, with the name that errors show.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) bytes: Box<dyn Read>,
}

impl Source {
    /// Reads it to its end; every group of documents is judged as soon as it is complete.
    ///
    /// # Errors
    /// When it cannot be read, or `judge` fails.
    pub(crate) fn read(
        &mut self,
        judge: impl FnMut(Group) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let read = read_documents(&mut self.bytes, judge);
        read.with_context(|| format!("read {}", self.name))
    }
}

/// Opens the inputs one after the other; standard input if there are none.
pub(crate) fn sources(inputs: &[PathBuf]) -> Box<dyn Iterator<Item = anyhow::Result<Source>> + '_> {
    if inputs.is_empty() {
        return Box::new(std::iter::once(Ok(standard_input())));
    }
    Box::new(inputs.iter().flat_map(|input| expand(input)))
}

fn standard_input() -> Source {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        cli::hint("reading objects from the terminal; Ctrl-D ends them");
    }
    Source {
        name: "standard input".to_owned(),
        bytes: Box::new(stdin),
    }
}

fn expand(input: &Path) -> Box<dyn Iterator<Item = anyhow::Result<Source>>> {
    if input == Path::new("-") {
        return Box::new(std::iter::once(Ok(standard_input())));
    }
    if !input.is_dir() {
        return Box::new(std::iter::once(open(input)));
    }
    let mut files = Vec::new();
    match collect(input, DEPTH_MAX, &mut files) {
        Ok(()) => Box::new(files.into_iter().map(|file| open(&file))),
        Err(error) => Box::new(std::iter::once(Err(error))),
    }
}

fn open(file: &Path) -> anyhow::Result<Source> {
    let bytes = File::open(file).with_context(|| format!("open {}", file.display()))?;
    Ok(Source {
        name: file.display().to_string(),
        bytes: Box::new(bytes),
    })
}

/// Collects the JSON and YAML files of a directory, sorted by name.
fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let reading = || format!("read directory {}", folder.display());
    anyhow::ensure!(
        depth > 0,
        "{}: more than {DEPTH_MAX} levels of directories",
        folder.display()
    );
    let entries = fs::read_dir(folder).with_context(reading)?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()
        .with_context(reading)?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, depth - 1, files)?;
        } else if holds_objects(&path) {
            files.push(path);
        }
    }
    Ok(())
}

fn holds_objects(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("json" | "jsonl" | "ndjson" | "yaml" | "yml"))
}
