//! The data of a project without the SDK: its description and its fixtures, from YAML to the JSON of the contract.

use std::fs;
use std::path::{Path, PathBuf};

use kindsight_contract::{Description, Fixture};
use serde_json::Value;

use crate::language::Language;
use crate::toolchain::BuildError;

/// Maximum size of a file of a project that is read, in bytes: more than the fixtures of a component may have.
const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Description and fixtures as JSON.
#[derive(Debug)]
pub(crate) struct ProjectData {
    description: String,
    fixtures: String,
}

impl ProjectData {
    /// Reads `description.yaml` and the files of `fixtures`, and checks both as the host does.
    pub(crate) fn read(folder: &Path) -> Result<Self, BuildError> {
        let path = folder.join("description.yaml");
        let description = yaml(&path)?.to_string();
        let checked = Description::parse(&description);
        let (_, warnings) = checked.map_err(|problems| wrong(&path, &problems))?;
        if !warnings.is_empty() {
            return Err(wrong(&path, &warnings));
        }
        let path = folder.join("fixtures");
        let fixtures = fixtures(&path)?.to_string();
        Fixture::parse_all(&fixtures).map_err(|problems| wrong(&path, &problems))?;
        Ok(Self {
            description,
            fixtures,
        })
    }

    /// Writes the file with the data that the code of the project reads.
    pub(crate) fn write(&self, folder: &Path, language: Language) -> Result<(), BuildError> {
        let Self {
            description,
            fixtures,
        } = self;
        let both = serde_json::json!({"description": description, "fixtures": fixtures});
        match language {
            Language::C => {
                let text = format!(
                    "#define KS_DESCRIPTION {}\n#define KS_FIXTURES {}\n",
                    c_text(description),
                    c_text(fixtures)
                );
                written(&folder.join("build/data.h"), &text)
            }
            Language::Go => {
                written(&folder.join("kindsight/description.json"), description)?;
                written(&folder.join("kindsight/fixtures.json"), fixtures)
            }
            Language::JavaScript | Language::TypeScript => written(
                &folder.join("build/data.js"),
                &format!("export const data = {both};\n"),
            ),
            Language::Python => written(&folder.join("build/data.json"), &both.to_string()),
            Language::Rust => Ok(()),
        }
    }
}

/// A text as a literal of C. All bytes but plain characters are octal escapes, which have a fixed length.
fn c_text(text: &str) -> String {
    let bytes = text.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'?' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        other => format!("\\{other:03o}"),
    });
    format!("\"{}\"", bytes.collect::<String>())
}

/// All fixtures in the YAML files of a folder, in order of the files' names.
fn fixtures(folder: &Path) -> Result<Value, BuildError> {
    let failed = |error| BuildError::Io(format!("read {}", folder.display()), error);
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        files.push(entry.map_err(failed)?.path());
    }
    files.retain(|file| {
        file.extension()
            .is_some_and(|ending| ending == "yaml" || ending == "yml")
    });
    files.sort();
    let mut all = Vec::new();
    for file in files {
        match yaml(&file)? {
            Value::Array(fixtures) => all.extend(fixtures),
            Value::Null => {}
            _ => return Err(wrong(&file, &["expected a list of fixtures".to_owned()])),
        }
    }
    Ok(Value::Array(all))
}

/// Reads a YAML file as JSON.
fn yaml(path: &Path) -> Result<Value, BuildError> {
    // As in kubectl and in the SDK in Rust, `y` and `on` are texts.
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(&text(path)?, options)
        .map_err(|error| wrong(path, &[error.to_string()]))
}

/// Reads a file within the limit.
pub(crate) fn text(path: &Path) -> Result<String, BuildError> {
    let failed = |error| BuildError::Io(format!("read {}", path.display()), error);
    if fs::metadata(path).map_err(failed)?.len() > FILE_BYTES_MAX {
        let what = format!("it is over the limit of {FILE_BYTES_MAX} bytes");
        return Err(wrong(path, &[what]));
    }
    fs::read_to_string(path).map_err(failed)
}

fn wrong(path: &Path, problems: &[String]) -> BuildError {
    BuildError::Data(path.to_owned(), problems.join("\n"))
}

pub(crate) fn written(path: &Path, text: &str) -> Result<(), BuildError> {
    let failed = |error| BuildError::Io(format!("write {}", path.display()), error);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, text).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_older_yaml_are_texts() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.yaml");
        fs::write(&file, "{a: on, y: no, b: true}").unwrap();
        let expected = serde_json::json!({"a": "on", "y": "no", "b": true});
        assert_eq!(yaml(&file).unwrap(), expected);
    }
}
