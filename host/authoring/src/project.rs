//! Projects: the folder of one interpreter, with its manifest `kindsight.toml`.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::language::Language;
use crate::packed::{SDK, TEMPLATES};

/// The manifest of a project.
const MANIFEST: &str = "kindsight.toml";
/// The folder of the SDK in Rust, beside the projects.
const SDK_FOLDER: &str = "kindsight-sdk";
/// Maximum length of a project's name, in bytes: as for a DNS label.
const NAME_BYTES_MAX: usize = 63;

/// The reason why a project cannot be written or opened.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The name is not permitted in all languages.
    #[error(
        "`{0}` is not the name of a project: it has lower-case letters, digits and `-`, begins with a letter, and is at most {NAME_BYTES_MAX} bytes long"
    )]
    Name(String),
    /// Nothing is ever overwritten.
    #[error("{0} exists already: choose another name, or remove it first")]
    Exists(PathBuf),
    /// The folder is no project.
    #[error("{0} is no project: there is no {MANIFEST} in it (`kindsight plugin new` writes one)")]
    NoProject(PathBuf),
    /// The manifest cannot be used.
    #[error("{0}: {1}")]
    Manifest(PathBuf, String),
    /// A file cannot be read or written.
    #[error("{0}")]
    Io(String, #[source] io::Error),
}

/// The Kind that a new project judges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindName {
    group: String,
    version: String,
    kind: String,
}

impl KindName {
    /// The `apiVersion` of its objects.
    fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }
}

impl FromStr for KindName {
    type Err = String;

    /// Reads `GROUP/VERSION/KIND`, or `VERSION/KIND` for the core group.
    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split('/').collect();
        let (group, version, kind) = match parts[..] {
            [version, kind] => ("", version, kind),
            [group, version, kind] if !group.is_empty() => (group, version, kind),
            _ => return Err(wrong_kind(text)),
        };
        let is_word = |word: &str| {
            let mut characters = word.chars();
            characters
                .next()
                .is_some_and(|first| first.is_ascii_alphabetic())
                && characters.all(|other| other.is_ascii_alphanumeric())
        };
        let is_group = group.split('.').all(|label| {
            label
                .chars()
                .all(|other| other.is_ascii_lowercase() || other.is_ascii_digit() || other == '-')
        });
        if !is_word(version) || !is_word(kind) || !is_group {
            return Err(wrong_kind(text));
        }
        Ok(Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
        })
    }
}

fn wrong_kind(text: &str) -> String {
    format!(
        "`{text}` is not a Kind: expected GROUP/VERSION/KIND such as example.com/v1/Widget, or VERSION/KIND such as v1/Pod"
    )
}

/// A project to write.
#[derive(Debug)]
pub struct NewProject {
    /// Its name, which is also the name of its interpreter and of its folder.
    pub name: String,
    /// Its language.
    pub language: Language,
    /// The Kind that it judges.
    pub kind: KindName,
}

impl NewProject {
    /// Writes the project into a new folder of its name in `parent`, and for Rust the SDK beside it, unless it is there
    /// already. Returns the folder.
    ///
    /// # Errors
    /// If the folder exists or a file cannot be written. Files are never overwritten.
    pub fn write(&self, parent: &Path) -> Result<PathBuf, ProjectError> {
        check_name(&self.name)?;
        let folder = parent.join(&self.name);
        if folder.exists() {
            return Err(ProjectError::Exists(folder));
        }
        let common = format!("{}/", "common");
        let own = format!("{}/", self.language);
        for (path, text) in TEMPLATES.files() {
            let below = path
                .strip_prefix(&own)
                .or_else(|| path.strip_prefix(&common));
            // The description of a rule in Rust is a part of its code.
            let is_unneeded = self.language == Language::Rust && path == "common/description.yaml";
            if let Some(below) = below.filter(|_| !is_unneeded) {
                write_new(&folder.join(self.filled(below)), &self.filled(&text))?;
            } else if path.starts_with("wit/") && self.needs_wit() {
                write_new(&folder.join(&path), &text)?;
            }
        }
        let manifest = Manifest {
            plugin: Plugin {
                name: self.name.clone(),
                language: self.language.as_str().to_owned(),
            },
        };
        let manifest_path = folder.join(MANIFEST);
        let manifest = toml::to_string(&manifest)
            .map_err(|error| ProjectError::Manifest(manifest_path.clone(), error.to_string()))?;
        write_new(&manifest_path, &manifest)?;
        if self.language == Language::Rust {
            write_sdk(parent)?;
        }
        Ok(folder)
    }

    /// Returns whether the compiler of the language reads the contract.
    fn needs_wit(&self) -> bool {
        matches!(
            self.language,
            Language::JavaScript | Language::Python | Language::TypeScript
        )
    }

    fn filled(&self, template: &str) -> String {
        let group = self.kind.group.as_str();
        let values = [
            ("{{name}}", self.name.as_str()),
            ("{{group}}", group),
            (
                "{{group_or_core}}",
                if group.is_empty() {
                    "the core group"
                } else {
                    group
                },
            ),
            ("{{api_version}}", &self.kind.api_version()),
            ("{{kind}}", &self.kind.kind),
            ("{{rule}}", self.language.rule()),
            ("{{tools}}", self.language.tools()),
            ("{{sdk}}", &format!("../{SDK_FOLDER}")),
        ];
        let values = values.into_iter();
        values.fold(template.to_owned(), |text, (name, value)| {
            text.replace(name, value)
        })
    }
}

fn check_name(name: &str) -> Result<(), ProjectError> {
    let is_valid = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.len() <= NAME_BYTES_MAX
        && !name.ends_with('-')
        && name
            .chars()
            .all(|other| other.is_ascii_lowercase() || other.is_ascii_digit() || other == '-');
    if is_valid {
        Ok(())
    } else {
        Err(ProjectError::Name(name.to_owned()))
    }
}

/// Writes the SDK. An SDK that is there already is kept.
fn write_sdk(parent: &Path) -> Result<(), ProjectError> {
    let folder = parent.join(SDK_FOLDER);
    if folder.exists() {
        return Ok(());
    }
    for (path, text) in SDK.files() {
        write_new(&folder.join(path), &text)?;
    }
    Ok(())
}

/// Writes a file that does not exist, and the folders above it.
fn write_new(path: &Path, text: &str) -> Result<(), ProjectError> {
    let failed = |error| ProjectError::Io(format!("write {}", path.display()), error);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut file = fs::File::create_new(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}

#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    plugin: Plugin,
}

#[derive(Debug, Serialize, Deserialize)]
struct Plugin {
    name: String,
    language: String,
}

/// A project that exists.
#[derive(Debug)]
pub struct Project {
    pub(crate) folder: PathBuf,
    pub(crate) name: String,
    pub(crate) language: Language,
}

impl Project {
    /// Opens the project in a folder.
    ///
    /// # Errors
    /// If there is no manifest in it, or the manifest cannot be used.
    pub fn open(folder: &Path) -> Result<Self, ProjectError> {
        let path = folder.join(MANIFEST);
        let text = fs::read_to_string(&path).map_err(|error| {
            if error.kind() == io::ErrorKind::NotFound {
                ProjectError::NoProject(folder.to_owned())
            } else {
                ProjectError::Io(format!("read {}", path.display()), error)
            }
        })?;
        let wrong = |what: String| ProjectError::Manifest(path.clone(), what);
        let manifest: Manifest = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        check_name(&manifest.plugin.name)?;
        Ok(Self {
            folder: folder.to_owned(),
            language: manifest.plugin.language.parse().map_err(wrong)?,
            name: manifest.plugin.name,
        })
    }

    /// The folder of the project.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The component that [`Self::build`] writes.
    pub fn component(&self) -> PathBuf {
        self.folder.join(format!("{}.wasm", self.name))
    }
}

#[cfg(test)]
mod tests;
