//! The health scripts in a ConfigMap, with the last good texts in place of broken ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kindsight_clusters::ConfigMapRef;
use kindsight_conversion::argo::{NAME, from_config_map};
use kindsight_conversion::{Conversion, ConversionError};
use serde::{Deserialize, Serialize};

/// The older key, and the prefix of the keys for single Kinds.
const KEY: &str = "resource.customizations";
/// The types of keys for single Kinds that the conversion reads.
const TYPES: [&str; 2] = [".health.", ".useOpenLibs."];
/// Maximum size of the file with the last good texts, in bytes. An object of Kubernetes has at most 1.5 MiB, and JSON
/// needs up to six bytes for one.
const FILE_BYTES_MAX: u64 = 10 * 1024 * 1024;

/// The texts of a ConfigMap by their keys.
pub(super) type Texts = BTreeMap<String, String>;

/// The entries of a ConfigMap with health scripts.
pub(super) fn of_health(data: &Texts) -> Texts {
    let is_of_health = |key: &str| {
        let rest = key.strip_prefix(KEY);
        rest.is_some_and(|rest| rest.is_empty() || TYPES.iter().any(|of| rest.starts_with(of)))
    };
    let entries = data.iter().filter(|(key, _)| is_of_health(key));
    entries
        .map(|(key, text)| (key.clone(), text.clone()))
        .collect()
}

/// The result of a conversion.
pub(super) struct Converted {
    pub(super) conversion: Result<Conversion, ConversionError>,
    /// The texts of the conversion without the broken ones: the last good texts once its component is live.
    pub(super) texts: Texts,
    /// The problems of the ConfigMap, each with its key.
    pub(super) problems: Vec<String>,
}

/// Converts the texts of a ConfigMap. The last good text replaces a text that is broken.
pub(super) fn convert(texts: &Texts, good: &Texts) -> Converted {
    let first = from_config_map(NAME, texts);
    let (broken, problems) = broken(&first, texts);
    let mut used = texts.clone();
    for key in &broken {
        match good.get(key) {
            Some(text) => drop(used.insert(key.clone(), text.clone())),
            // No entry of it can be read, and the other keys must not suffer.
            None if is_unreadable(&first) => drop(used.remove(key)),
            None => {}
        }
    }
    let conversion = if used == *texts {
        first
    } else {
        from_config_map(NAME, &used)
    };
    let (still_broken, _) = self::broken(&conversion, &used);
    used.retain(|key, _| !still_broken.contains(key));
    Converted {
        conversion,
        texts: used,
        problems,
    }
}

/// Returns whether the older key is not YAML of the right form.
fn is_unreadable(result: &Result<Conversion, ConversionError>) -> bool {
    matches!(result, Err(ConversionError::Yaml(..)))
}

/// The keys of broken texts, and the problems.
fn broken(
    result: &Result<Conversion, ConversionError>,
    texts: &Texts,
) -> (BTreeSet<String>, Vec<String>) {
    match result {
        Ok(conversion) => {
            let refused = &conversion.refused;
            let keys = refused.iter().map(|refused| key_of(&refused.origin));
            let problems = refused.iter().map(ToString::to_string);
            (keys.collect(), problems.collect())
        }
        Err(error @ ConversionError::Yaml(..)) => {
            (BTreeSet::from([KEY.to_owned()]), vec![error.to_string()])
        }
        Err(error @ ConversionError::AllRefused(_)) => {
            (texts.keys().cloned().collect(), vec![error.to_string()])
        }
        Err(_) => (BTreeSet::new(), Vec::new()),
    }
}

/// The key of a refused rule. The origin of a rule in the older key also has its Kind.
fn key_of(origin: &str) -> String {
    let key = origin.split_once(": ").map_or(origin, |(key, _)| key);
    key.to_owned()
}

/// The last good texts, in memory and in a file.
pub(super) struct KeptTexts {
    file: Option<PathBuf>,
    content: Content,
}

#[derive(Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Content {
    /// The name of the ConfigMap.
    config_map: String,
    texts: Texts,
}

impl KeptTexts {
    /// Reads the texts of a ConfigMap. A file that is missing, damaged or of another ConfigMap gives no texts.
    pub(super) fn read(file: Option<PathBuf>, config_map: &ConfigMapRef) -> Self {
        let config_map = config_map.to_string();
        let read = file.as_deref().map_or(Ok(Content::default()), content);
        let read = read.unwrap_or_else(|error| {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::warn!(%error, "the last good scripts of Argo CD cannot be read");
            }
            Content::default()
        });
        let texts = if read.config_map == config_map {
            read.texts
        } else {
            Texts::new()
        };
        Self {
            file,
            content: Content { config_map, texts },
        }
    }

    pub(super) fn texts(&self) -> &Texts {
        &self.content.texts
    }

    /// Keeps the texts that are live now.
    pub(super) fn replace(&mut self, texts: Texts) {
        if self.content.texts == texts {
            return;
        }
        self.content.texts = texts;
        let Some(file) = &self.file else { return };
        if let Err(error) = write(file, &self.content) {
            tracing::warn!(%error, file = %file.display(), "the last good scripts of Argo CD are not kept for the next start");
        }
    }
}

fn content(file: &Path) -> io::Result<Content> {
    if fs::metadata(file)?.len() > FILE_BYTES_MAX {
        let why = format!("it has more than {FILE_BYTES_MAX} bytes");
        return Err(io::Error::other(why));
    }
    Ok(serde_json::from_slice(&fs::read(file)?)?)
}

/// Writes the file as a whole, so that a reader never finds a part of it.
fn write(file: &Path, content: &Content) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut written = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer(&mut written, content)?;
    written.persist(file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "return {status = 'Healthy', message = 'good'}";
    const BROKEN: &str = "return {";

    fn texts(entries: &[(&str, &str)]) -> Texts {
        let entries = entries.iter();
        entries
            .map(|(key, text)| ((*key).to_owned(), (*text).to_owned()))
            .collect()
    }

    fn health(kind: &str) -> String {
        format!("resource.customizations.health.example.com_{kind}")
    }

    #[test]
    fn a_broken_script_is_replaced_by_its_last_good_text() {
        let (a, b, c) = (health("A"), health("B"), health("C"));
        let good = texts(&[(&a, GOOD), (&b, GOOD)]);
        // A is broken, B is removed, C is new and broken.
        let converted = convert(&texts(&[(&a, BROKEN), (&c, BROKEN)]), &good);
        assert_eq!(converted.texts, texts(&[(&a, GOOD)]));
        assert_eq!(converted.conversion.unwrap().rules, 1);
        let [problems] = converted.problems.as_slice() else {
            panic!("one problem: {:?}", converted.problems);
        };
        assert!(problems.contains(&a) && problems.contains(&c), "{problems}");
        // A good script beside them goes live.
        let converted = convert(&texts(&[(&a, BROKEN), (&b, GOOD), (&c, BROKEN)]), &good);
        assert_eq!(converted.texts, good);
        assert_eq!(converted.conversion.unwrap().rules, 2);
        assert_eq!(converted.problems.len(), 2);
    }

    #[test]
    fn broken_yaml_of_the_older_key_keeps_its_last_good_text() {
        let old = format!("example.com/Old:\n  health.lua: |\n    {GOOD}\n");
        let new = health("New");
        let broken = texts(&[(KEY, "a: ["), (&new, GOOD)]);
        let converted = convert(&broken, &texts(&[(KEY, &old)]));
        assert_eq!(converted.texts, texts(&[(KEY, &old), (&new, GOOD)]));
        assert_eq!(converted.conversion.unwrap().rules, 2);
        let converted = convert(&broken, &Texts::new());
        assert_eq!(converted.texts, texts(&[(&new, GOOD)]));
        assert_eq!(converted.problems.len(), 1);
    }

    #[test]
    fn a_config_map_without_scripts_has_no_rules_and_no_problems() {
        let data = texts(&[
            ("url", "https://argo.example.com"),
            (
                "resource.customizations.ignoreDifferences.apps_Deployment",
                "",
            ),
        ]);
        let converted = convert(&of_health(&data), &texts(&[(&health("A"), GOOD)]));
        assert!(converted.texts.is_empty() && converted.problems.is_empty());
        assert!(matches!(
            converted.conversion,
            Err(ConversionError::NoRules(_))
        ));
    }

    #[test]
    fn the_last_good_texts_survive_a_restart_and_belong_to_one_config_map() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = Some(folder.path().join("argo-cm.json"));
        let name = |text: &str| text.parse().unwrap();
        let good = texts(&[(&health("A"), GOOD)]);
        let mut kept = KeptTexts::read(file.clone(), &name("lab+edge01/argocd/argocd-cm"));
        assert!(kept.texts().is_empty());
        kept.replace(good.clone());
        let read = |of: &str| KeptTexts::read(file.clone(), &name(of)).texts().clone();
        assert_eq!(read("lab+edge01/argocd/argocd-cm"), good);
        assert_eq!(read("lab+edge02/argocd/argocd-cm"), Texts::new());
        fs::write(file.as_ref().unwrap(), "{").unwrap();
        assert_eq!(read("lab+edge01/argocd/argocd-cm"), Texts::new());
    }
}
