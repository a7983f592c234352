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

use crate::data::yaml;

/// The name of a file with cases.
const FILE: &str = "health_test.yaml";
/// Most levels of folders that are searched.
const DEPTH_MAX: usize = 16;
/// Maximum number of files with cases.
const FILES_MAX: usize = 10_000;

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
}

#[derive(Deserialize)]
struct Document {
    tests: Vec<Test>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    health_status: HealthStatus,
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
    pub fn all_in(folder: &Path) -> Result<Vec<Self>, CaseError> {
        let mut paths = Vec::new();
        collect(folder, DEPTH_MAX, &mut paths)?;
        paths.sort();
        if paths.is_empty() {
            let what = format!("there is no {FILE} in it");
            return Err(CaseError::Folder(folder.to_owned(), what));
        }
        paths.into_iter().map(Self::read).collect()
    }

    fn read(path: PathBuf) -> Result<Self, CaseError> {
        let wrong = |what: String| CaseError::Format(path.clone(), what);
        let value = yaml(&path).map_err(|error| wrong(error.to_string()))?;
        let document: Document =
            serde_json::from_value(value).map_err(|error| wrong(error.to_string()))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let cases = document.tests.into_iter().map(|test| {
            let object = yaml(&folder.join(&test.input_path)).map_err(|error| wrong(error.to_string()))?;
            if phases(&test.health_status.status).is_none() {
                return Err(wrong(format!(
                    "`{}` is not a health status: expected Healthy, Progressing, Degraded, Suspended, Missing or Unknown",
                    test.health_status.status
                )));
            }
            Ok(Case {
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
        });
        let cases = cases.collect::<Result<_, CaseError>>()?;
        Ok(Self { path, cases })
    }
}

impl Case {
    /// The difference between an answer and the expected health, if there is one. A message is compared if the case
    /// has one.
    pub(crate) fn difference(&self, answer: &Result<Verdict, TrialError>) -> Option<String> {
        let HealthStatus { status, message } = &self.expected;
        let verdict = match answer {
            Ok(verdict) => verdict,
            Err(error) => return Some(format!("expected {status}: {error}")),
        };
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

/// The phases that a health status of Argo CD means. Its Degraded is an object that failed, or works with a problem.
fn phases(status: &str) -> Option<&'static [Phase]> {
    Some(match status {
        "Healthy" => &[Phase::Ready, Phase::Present],
        "Progressing" => &[Phase::Pending],
        "Degraded" => &[Phase::Failed, Phase::Degraded],
        "Suspended" => &[Phase::Suspended],
        "Missing" | "Unknown" => &[Phase::Unknown],
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
