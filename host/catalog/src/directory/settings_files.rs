//! Files with settings, beside the components of the watched directory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use kindsight_model::manifest::yaml_value;
use serde_json::{Map, Value};

use crate::declared::{DeclaredIn, DeclaredSettings};

use super::is_component;

/// The endings of a file with settings, after the name of the component without `.wasm`.
const SUFFIXES: [&str; 3] = [".settings.json", ".settings.yaml", ".settings.yml"];

/// Maximum size of a file with settings in bytes: settings have at most 64 KiB, and comments and
/// indentation some more.
const FILE_BYTES_MAX: usize = 256 * 1024;

/// The file of the component whose settings a file with this name has, or `None` if it is not a
/// file with settings.
pub(super) fn component_of(name: &str) -> Option<String> {
    let mut stems = SUFFIXES
        .iter()
        .filter_map(|suffix| name.strip_suffix(suffix));
    let component = format!("{}.wasm", stems.next()?);
    is_component(&component).then_some(component)
}

/// The settings in a file, or why they cannot be used.
type ReadSettings = Result<Map<String, Value>, String>;

/// The files with settings that the watched directory has, by the file of their component.
#[derive(Debug, Default)]
pub(super) struct SettingsFiles {
    by_component: BTreeMap<String, BTreeMap<String, ReadSettings>>,
}

/// Settings that cannot be used, so their component is not admitted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unusable {
    /// The file with the settings.
    pub(super) file: String,
    pub(super) why: String,
}

impl SettingsFiles {
    /// Keeps the content of a file.
    pub(super) fn put(&mut self, component: String, file: String, bytes: &[u8]) {
        let read = read(&file, bytes);
        self.by_component
            .entry(component)
            .or_default()
            .insert(file, read);
    }

    /// Keeps the reason why a file cannot be read.
    pub(super) fn reject(&mut self, component: String, file: String, why: String) {
        let files = self.by_component.entry(component).or_default();
        files.insert(file, Err(why));
    }

    /// Removes a file.
    pub(super) fn remove(&mut self, component: &str, file: &str) {
        if let Some(files) = self.by_component.get_mut(component) {
            files.remove(file);
            if files.is_empty() {
                self.by_component.remove(component);
            }
        }
    }

    /// The settings of a component, or `None` if there are none.
    ///
    /// # Errors
    /// A file is unusable, or there are two files.
    pub(super) fn of(&self, component: &str) -> Result<Option<DeclaredSettings>, Unusable> {
        let Some(files) = self.by_component.get(component) else {
            return Ok(None);
        };
        let mut files = files.iter();
        let Some((file, read)) = files.next() else {
            return Ok(None);
        };
        if let Some((second, _)) = files.next() {
            let file = second.clone();
            let why =
                format!("another file has the settings of `{component}` too: remove one of them");
            return Err(Unusable { file, why });
        }
        match read {
            Ok(settings) => Ok(Some(DeclaredSettings {
                place: DeclaredIn::File(file.clone()),
                settings: settings.clone(),
            })),
            Err(why) => Err(Unusable {
                file: file.clone(),
                why: why.clone(),
            }),
        }
    }

    /// The files whose component is not among these.
    pub(super) fn without(&self, components: &BTreeSet<String>) -> Vec<(String, String)> {
        let others = self.by_component.iter();
        let others = others.filter(|(component, _)| !components.contains(*component));
        let files = others.flat_map(|(component, files)| {
            files
                .keys()
                .map(move |file| (component.clone(), file.clone()))
        });
        files.collect()
    }

    /// Returns whether the folder has settings of a component that were not reported yet. The
    /// component must wait for them, or else it would be live without its settings for a moment.
    pub(super) fn are_awaited(&self, folder: &Path, component: &str) -> bool {
        let Some(stem) = component.strip_suffix(".wasm") else {
            return false;
        };
        !self.by_component.contains_key(component)
            && SUFFIXES
                .iter()
                .any(|suffix| folder.join(format!("{stem}{suffix}")).exists())
    }
}

fn read(file: &str, bytes: &[u8]) -> ReadSettings {
    let size = bytes.len();
    if size > FILE_BYTES_MAX {
        return Err(format!(
            "{size} bytes are over the limit of {FILE_BYTES_MAX} bytes"
        ));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let value = if Path::new(file)
        .extension()
        .is_some_and(|extension| extension == "json")
    {
        serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))
    } else {
        yaml_value(text)
    };
    match value? {
        Value::Object(settings) => Ok(settings),
        _ => Err("settings are a mapping of names to values, such as `level: 3`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_settings_belong_to_a_component() {
        for (name, component) in [
            ("a.settings.json", Some("a.wasm")),
            ("a.b.settings.yaml", Some("a.b.wasm")),
            ("a.settings.yml", Some("a.wasm")),
            ("a.settings.toml", None),
            (".settings.json", None),
            ("..data.settings.json", None),
            ("a.wasm", None),
            ("a.settings.yaml.refused.txt", None),
        ] {
            assert_eq!(component_of(name).as_deref(), component, "{name}");
        }
    }

    #[test]
    fn an_unusable_file_names_its_problem() {
        let large = vec![b' '; FILE_BYTES_MAX + 1];
        let cases: [(&str, &[u8], &str); 6] = [
            ("a.settings.yaml", b"- a\n", "a mapping"),
            ("a.settings.yaml", b"a: [", "not YAML"),
            ("a.settings.json", b"{", "not JSON"),
            ("a.settings.json", b"3", "a mapping"),
            ("a.settings.yaml", b"\xff", "not UTF-8"),
            ("a.settings.yaml", &large, "over the limit of 262144 bytes"),
        ];
        for (file, bytes, part) in cases {
            let mut files = SettingsFiles::default();
            files.put("a.wasm".to_owned(), file.to_owned(), bytes);
            let unusable = files.of("a.wasm").unwrap_err();
            assert!(unusable.why.contains(part), "{}", unusable.why);
            assert_eq!(unusable.file, file);
        }
    }

    #[test]
    fn of_two_files_neither_is_used() {
        let mut files = SettingsFiles::default();
        for file in ["a.settings.json", "a.settings.yaml"] {
            files.put("a.wasm".to_owned(), file.to_owned(), b"{\"level\": 1}");
        }
        let unusable = files.of("a.wasm").unwrap_err();
        assert!(unusable.why.contains("remove one"), "{}", unusable.why);
        files.remove("a.wasm", "a.settings.json");
        let settings = files.of("a.wasm").unwrap().expect("one remains");
        assert_eq!(
            settings.place,
            DeclaredIn::File("a.settings.yaml".to_owned())
        );
        assert_eq!(settings.settings["level"], 1);
        assert_eq!(
            files.without(&BTreeSet::new()),
            [("a.wasm".to_owned(), "a.settings.yaml".to_owned())]
        );
    }
}
