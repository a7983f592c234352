//! Fixtures of an interpreter.

use std::borrow::Cow;
use std::path::Path;

/// The fixtures of an interpreter: objects with the verdicts that it promises. The host checks them
/// before the component goes live.
///
/// Usually they are the files of a folder, see [`fixtures!`](crate::fixtures!).
#[derive(Debug, Clone)]
pub struct Fixtures {
    json: Cow<'static, str>,
    /// The folder from which they were read. Empty if there is no folder, and in a component.
    folder: &'static str,
    /// The names of its files, in order.
    files: &'static [&'static str],
}

impl Fixtures {
    /// No fixtures.
    pub const fn none() -> Self {
        Self::of_folder("[]", "", &[])
    }

    /// Fixtures as the JSON text of the contract (`wit/fixtures.schema.json`).
    pub fn from_json(json: impl Into<Cow<'static, str>>) -> Self {
        Self {
            json: json.into(),
            ..Self::none()
        }
    }

    /// Fixtures that [`fixtures!`](crate::fixtures!) has read.
    #[doc(hidden)]
    pub const fn of_folder(
        json: &'static str,
        folder: &'static str,
        files: &'static [&'static str],
    ) -> Self {
        Self {
            json: Cow::Borrowed(json),
            folder,
            files,
        }
    }

    /// Returns the JSON text of the contract.
    pub fn into_json(self) -> Cow<'static, str> {
        self.json
    }

    /// The files that were added to or removed from the folder since the crate was compiled.
    pub(crate) fn unseen_files(&self) -> Vec<String> {
        if self.folder.is_empty() {
            return Vec::new();
        }
        let entries = std::fs::read_dir(self.folder).into_iter().flatten();
        let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
        let names = names.map(|name| name.to_string_lossy().into_owned());
        let now: Vec<String> = names
            .filter(|name| Path::new(name).extension() == Some("yaml".as_ref()))
            .collect();
        let added = now
            .iter()
            .filter(|name| !self.files.contains(&name.as_str()));
        let removed = self
            .files
            .iter()
            .filter(|name| !now.iter().any(|present| present == *name));
        added
            .map(String::as_str)
            .chain(removed.copied())
            .map(str::to_owned)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_come_and_go_are_noticed() {
        const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
        let of = |files| Fixtures::of_folder("[]", FOLDER, files).unseen_files();
        assert_eq!(of(&["widgets.yaml"]), [""; 0]);
        assert_eq!(of(&[]), ["widgets.yaml"]);
        assert_eq!(of(&["gone.yaml", "widgets.yaml"]), ["gone.yaml"]);
        assert_eq!(Fixtures::none().unseen_files(), [""; 0]);
    }
}
