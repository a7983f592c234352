//! Reads a tree of health scripts with their cases.

use std::fs;
use std::path::{Path, PathBuf};

use kindsight_lua::Libraries;
use kindsight_lua::rules::Call;
use serde::Deserialize;
use serde_json::Value;

use crate::limits::{DEPTH_MAX, FILE_BYTES_MAX, FILES_MAX};
use crate::lua::{Case, Source};
use crate::{ConversionError, Refused, yaml};

const SCRIPT: &str = "health.lua";
const CASES: &str = "health_test.yaml";

/// The content of a tree.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) sources: Vec<Source>,
    pub(super) cases: Vec<Case>,
    pub(super) refused: Vec<Refused>,
    files: usize,
}

/// The file of cases.
#[derive(Debug, Deserialize)]
struct CaseList {
    #[serde(default)]
    tests: Vec<CaseEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CaseEntry {
    #[serde(default)]
    health_status: HealthStatus,
    // Go matches names in any case.
    #[serde(default, alias = "inputpath")]
    input_path: String,
}

#[derive(Debug, Default, Deserialize)]
struct HealthStatus {
    #[serde(default)]
    status: String,
    #[serde(default)]
    message: String,
}

/// Reads all scripts below a folder, in order of their paths.
pub(super) fn read(root: &Path) -> Result<Tree, ConversionError> {
    let mut tree = Tree::default();
    tree.folder(root, root, 0)?;
    if tree.sources.is_empty() && tree.refused.is_empty() {
        let what = "the folder has no GROUP/KIND/health.lua";
        return Err(ConversionError::NoRules(what));
    }
    Ok(tree)
}

/// The text of a file within the limit.
pub(crate) fn text(path: &Path) -> Result<String, ConversionError> {
    let failed = |error| ConversionError::Io(path.to_owned(), error);
    let size = fs::metadata(path).map_err(failed)?.len();
    if size > FILE_BYTES_MAX {
        let what = format!("{size} bytes, at most {FILE_BYTES_MAX}");
        return Err(ConversionError::TooLarge(path.to_owned(), what));
    }
    fs::read_to_string(path).map_err(failed)
}

impl Tree {
    fn folder(&mut self, root: &Path, folder: &Path, depth: usize) -> Result<(), ConversionError> {
        let failed = |error| ConversionError::Io(folder.to_owned(), error);
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            self.files += 1;
            if self.files > FILES_MAX {
                let what = format!("more than {FILES_MAX} files");
                return Err(ConversionError::TooLarge(root.to_owned(), what));
            }
            // Links are not followed, so that no circle is read.
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                paths.push(entry.path());
            } else if kind.is_file() && entry.file_name() == SCRIPT {
                self.script(root, folder)?;
            } else if entry.file_name() == CASES && !folder.join(SCRIPT).is_file() {
                self.refuse(&entry.path(), "the cases have no health.lua beside them");
            }
        }
        paths.sort();
        if depth >= DEPTH_MAX && !paths.is_empty() {
            let what = format!("more than {DEPTH_MAX} levels of folders");
            return Err(ConversionError::TooLarge(folder.to_owned(), what));
        }
        for path in paths {
            self.folder(root, &path, depth + 1)?;
        }
        Ok(())
    }

    fn refuse(&mut self, origin: &Path, reason: impl Into<String>) {
        self.refused.push(Refused {
            origin: origin.display().to_string(),
            reason: reason.into(),
        });
    }

    fn script(&mut self, root: &Path, folder: &Path) -> Result<(), ConversionError> {
        let path = folder.join(SCRIPT);
        let below = folder.strip_prefix(root).unwrap_or(folder);
        let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
        if !(1..=2).contains(&parts.len()) {
            let what =
                "the folder of a script is GROUP/KIND: give the folder that contains the groups";
            self.refuse(&path, what);
            return Ok(());
        }
        let key = parts.join("/").replace('_', "*");
        let cases = folder.join(CASES);
        if cases.is_file() {
            self.case_list(&parts.join("/"), folder, &cases)?;
        }
        self.sources.push(Source {
            origin: path.display().to_string(),
            key,
            call: Call::Argo,
            // The scripts of the tree can use them, as in Argo CD.
            libraries: Libraries::StringAndMath,
            script: text(&path)?,
        });
        Ok(())
    }

    fn case_list(&mut self, of: &str, folder: &Path, path: &Path) -> Result<(), ConversionError> {
        let list: CaseList = match yaml::first(&text(path)?) {
            Ok(list) => list,
            Err(error) => {
                self.refuse(path, format!("not a list of cases: {error}"));
                return Ok(());
            }
        };
        for (position, entry) in list.tests.into_iter().enumerate() {
            if entry.input_path.is_empty() {
                self.refuse(path, format!("tests[{position}] has no `inputPath`"));
                continue;
            }
            match object(folder, &entry.input_path) {
                Ok(object) => self.cases.push(Case {
                    origin: format!("{}: {}", path.display(), entry.input_path),
                    name: name(of, &entry.input_path),
                    object,
                    status: entry.health_status.status,
                    message: entry.health_status.message,
                }),
                Err(reason) => self.refuse(path, format!("{}: {reason}", entry.input_path)),
            }
        }
        Ok(())
    }
}

/// The name of a case: the Kind and the file.
fn name(of: &str, input: &str) -> String {
    let file = input.strip_prefix("testdata/").unwrap_or(input);
    format!("{of}: {file}")
}

/// The object of a case. Its file must be below the folder of the script.
fn object(folder: &Path, input: &str) -> Result<Value, String> {
    let is_below = PathBuf::from(input).components().all(|part| {
        matches!(
            part,
            std::path::Component::Normal(_) | std::path::Component::CurDir
        )
    });
    if !is_below {
        return Err("the path leaves the folder of the script".to_owned());
    }
    let text = text(&folder.join(input)).map_err(|error| error.to_string())?;
    let object: Value = yaml::first(&text)?;
    if object.is_object() {
        Ok(object)
    } else {
        Err("the file has no object".to_owned())
    }
}
