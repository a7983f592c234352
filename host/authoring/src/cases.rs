//! Folders of cases in the format of Argo CD's `health_test.yaml`: a list of expected health states, each with the file
//! of an object.
//!
//! ```yaml
//! tests:
//! - healthStatus: {status: Healthy, message: all parts run}
//!   inputPath: testdata/healthy.yaml
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kindsight_contract::{Coverage, Expectation, Fixture};
use kindsight_interpreter::TrialError;
use kindsight_model::{Phase, Verdict};
use serde::Deserialize;
use serde_json::Value;

use crate::data::text;

/// The name of a file with cases.
const FILE: &str = "health_test.yaml";
/// Most levels of folders that are searched.
const DEPTH_MAX: usize = 16;
/// Maximum number of files with cases.
const FILES_MAX: usize = 10_000;

/// A reader of the documents of a YAML text, as Argo CD reads it. Its error is the problem with its line.
pub type YamlReader = fn(&str) -> Result<Vec<Value>, String>;

/// The reason why cases cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// The file has another format.
    #[error("{0}: {1}")]
    Format(PathBuf, String),
    /// The folder has no cases, or too many.
    #[error("{0}: {1}")]
    Folder(PathBuf, String),
    /// A folder cannot be read.
    #[error("read {0}")]
    Io(PathBuf, #[source] io::Error),
}

/// The cases of one file.
#[derive(Debug)]
pub struct CaseFile {
    pub(crate) path: PathBuf,
    pub(crate) cases: Vec<Case>,
}

/// One case: an object, and the expected health.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) fixture: Fixture,
    expected: HealthStatus,
    /// True if the object is being deleted.
    is_deleted: bool,
}

#[derive(Deserialize)]
struct Document {
    tests: Vec<Test>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    health_status: HealthStatus,
    // Go matches names in any case.
    #[serde(alias = "inputpath")]
    input_path: PathBuf,
}

#[derive(Debug, Deserialize)]
struct HealthStatus {
    status: String,
    #[serde(default)]
    message: Option<String>,
}

impl CaseFile {
    /// Reads every `health_test.yaml` in a folder and in the folders below it, in order of the paths.
    ///
    /// # Errors
    /// If there is none, or one cannot be read.
    pub fn all_in(folder: &Path, yaml: YamlReader) -> Result<Vec<Self>, CaseError> {
        let mut paths = Vec::new();
        collect(folder, DEPTH_MAX, &mut paths)?;
        paths.sort();
        if paths.is_empty() {
            let what = format!("there is no {FILE} in it");
            return Err(CaseError::Folder(folder.to_owned(), what));
        }
        let files = paths.into_iter().map(|path| Self::read(path, yaml));
        files.collect()
    }

    fn read(path: PathBuf, yaml: YamlReader) -> Result<Self, CaseError> {
        let wrong = |what: String| CaseError::Format(path.clone(), what);
        let value = first_document(&path, yaml).map_err(wrong)?;
        let document: Document =
            serde_json::from_value(value).map_err(|error| wrong(error.to_string()))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let cases = document.tests.into_iter();
        let cases = cases.map(|test| Case::read(test, folder, yaml).map_err(wrong));
        let cases = cases.collect::<Result<_, CaseError>>()?;
        Ok(Self { path, cases })
    }
}

/// The first document of a file. Argo CD reads no other document.
fn first_document(path: &Path, yaml: YamlReader) -> Result<Value, String> {
    let text = text(path).map_err(|error| error.to_string())?;
    let documents = yaml(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut documents = documents.into_iter();
    let first = documents.find(|document| !document.is_null());
    first.ok_or_else(|| format!("{} is empty", path.display()))
}

impl Case {
    fn read(test: Test, folder: &Path, yaml: YamlReader) -> Result<Self, String> {
        let status = &test.health_status.status;
        if phases(status).is_none() {
            return Err(format!(
                "`{status}` is not a health status: expected Healthy, Progressing, Degraded, Suspended, Missing or Unknown"
            ));
        }
        let object = first_document(&folder.join(&test.input_path), yaml)?;
        Ok(Self {
            is_deleted: object.pointer("/metadata/deletionTimestamp").is_some(),
            fixture: Fixture {
                name: test.input_path.display().to_string(),
                object: object.to_string(),
                related: Vec::new(),
                coverage: Coverage::Unknown,
                now_ms: 0,
                settings: None,
                expect: Expectation::default(),
            },
            expected: test.health_status,
        })
    }

    /// The difference between an answer and the expected health, if there is one. A message is compared if the case
    /// has one.
    pub(crate) fn difference(&self, answer: &Result<Verdict, TrialError>) -> Option<String> {
        let HealthStatus { status, message } = &self.expected;
        let verdict = match answer {
            Ok(verdict) => verdict,
            Err(error) => return Some(format!("expected {status}: {error}")),
        };
        // Argo CD runs no script for such an object, so the case does not say what Argo CD shows.
        if self.is_deleted && verdict.phase == Phase::Terminating {
            return None;
        }
        let phases = phases(status).unwrap_or_default();
        if !phases.contains(&verdict.phase) {
            return Some(format!(
                "expected {status}, got {} {} ({}) of the phase {}",
                verdict.state,
                verdict.reason,
                verdict.message,
                verdict.phase.as_str()
            ));
        }
        let message = message.as_deref().filter(|message| !message.is_empty())?;
        (message != &*verdict.message).then(|| {
            format!(
                "expected the message `{message}`, got `{}`",
                verdict.message
            )
        })
    }
}

/// The phases that a health status of Argo CD means.
///
/// - Progressing is also an object that is being deleted.
/// - Degraded is an object that failed, or works with a problem.
/// - Missing is an object that reports that its subject does not exist. An interpreter without a state for this returns
///   Unknown.
fn phases(status: &str) -> Option<&'static [Phase]> {
    Some(match status {
        "Healthy" => &[Phase::Ready, Phase::Present],
        "Progressing" => &[Phase::Pending, Phase::Terminating],
        "Degraded" => &[Phase::Failed, Phase::Degraded],
        "Suspended" => &[Phase::Suspended],
        "Missing" => &[Phase::NotPresent, Phase::Unknown],
        "Unknown" => &[Phase::Unknown],
        _ => return None,
    })
}

/// Collects the files with cases of a folder.
fn collect(folder: &Path, depth: usize, paths: &mut Vec<PathBuf>) -> Result<(), CaseError> {
    if depth == 0 {
        let what = format!("it is more than {DEPTH_MAX} folders deep");
        return Err(CaseError::Folder(folder.to_owned(), what));
    }
    let failed = |error| CaseError::Io(folder.to_owned(), error);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        if entry.file_type().map_err(failed)?.is_dir() {
            collect(&path, depth - 1, paths)?;
        } else if path.file_name().is_some_and(|name| name == FILE) {
            if paths.len() == FILES_MAX {
                let what = format!("there are more than {FILES_MAX} files {FILE} in it");
                return Err(CaseError::Folder(folder.to_owned(), what));
            }
            paths.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
