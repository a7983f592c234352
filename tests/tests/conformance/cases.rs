//! Reads the cases: one JSON object a line, one file per project.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The time of judging: later than any time in the cases, and the same in every run.
pub(crate) const NOW_MS: i64 = 1_798_761_600_000;
/// The same as text, for the placeholder in objects.
const NOW: &str = "2027-01-01T00:00:00Z";
const NOW_PLACEHOLDER: &str = "{{NOW}}";

/// The cases of one project.
#[derive(Debug)]
pub(crate) struct CaseFile {
    /// The file's name without `.jsonl`.
    pub(crate) name: String,
    pub(crate) cases: Vec<Case>,
}

/// One object, and what its project's own test expects of it.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) id: String,
    /// The states that pass; empty where the project expects no state.
    pub(crate) allowed: Vec<String>,
    pub(crate) object: Value,
}

impl CaseFile {
    pub(crate) fn objects(&self) -> Vec<&Value> {
        self.cases.iter().map(|case| &case.object).collect()
    }
}

/// All files of the folder, in order of name.
pub(crate) fn files(folder: &Path) -> Result<Vec<CaseFile>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jsonl")
        })
        .collect();
    paths.sort();
    if paths.is_empty() {
        return Err(format!("{} has no cases in it", folder.display()));
    }
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Result<CaseFile, String> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let text = fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let cases = lines.enumerate().map(|(number, line)| {
        case(line).map_err(|problem| format!("{name}, line {}: {problem}", number + 1))
    });
    Ok(CaseFile {
        cases: cases.collect::<Result<_, _>>()?,
        name: name.into_owned(),
    })
}

fn case(line: &str) -> Result<Case, String> {
    let line = line.replace(NOW_PLACEHOLDER, NOW);
    let mut case: Value = serde_json::from_str(&line).map_err(|error| error.to_string())?;
    let object = case.get_mut("object").map(Value::take);
    let id = case.get("id").and_then(Value::as_str);
    let allowed = case.get("allowed").and_then(Value::as_array);
    let states = allowed.into_iter().flatten().filter_map(Value::as_str);
    Ok(Case {
        id: id.ok_or("no id")?.to_owned(),
        allowed: states.map(str::to_owned).collect(),
        object: object.filter(Value::is_object).ok_or("no object")?,
    })
}
