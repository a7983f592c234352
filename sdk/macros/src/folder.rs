//! Reads a folder of fixtures in YAML.

use std::fs;
use std::path::{Path, PathBuf};

use kindsight_contract::Fixture;
use serde_json::Value;

/// A folder of fixtures.
#[derive(Debug)]
pub(crate) struct Folder {
    /// Its path.
    pub(crate) path: PathBuf,
    /// The names of its files, in order.
    pub(crate) files: Vec<String>,
    /// All fixtures, as the JSON text of the contract.
    pub(crate) json: String,
}

impl Folder {
    /// Reads all files `*.yaml`.
    ///
    /// # Errors
    /// The first file that cannot be read or contains an error, with the line.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let files = yaml_files(path)?;
        if files.is_empty() {
            return Err(format!("{} has no file *.yaml", path.display()));
        }
        let mut fixtures = Vec::new();
        for file in &files {
            fixtures.extend(read_file(&path.join(file))?);
        }
        let json = Value::Array(fixtures).to_string();
        // Errors within one file were found before. Only names that two files share are left.
        Fixture::parse_all(&json)
            .map_err(|problems| format!("{}: {}", path.display(), problems.join("; ")))?;
        let path = path.to_owned();
        Ok(Self { path, files, json })
    }
}

/// The names of the YAML files of a folder, in order.
fn yaml_files(path: &Path) -> Result<Vec<String>, String> {
    let failed = |error| format!("failed to list {}: {error}", path.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let name = name.to_string_lossy().into_owned();
        if Path::new(&name).extension() == Some("yml".as_ref()) {
            let file = path.join(&name);
            return Err(format!("{}: rename it to *.yaml", file.display()));
        }
        if Path::new(&name).extension() == Some("yaml".as_ref()) {
            files.push(name);
        }
    }
    files.sort();
    Ok(files)
}

fn read_file(file: &Path) -> Result<Vec<Value>, String> {
    let name = file.display();
    let text =
        fs::read_to_string(file).map_err(|error| format!("failed to read {name}: {error}"))?;
    // As in kubectl, `y` and `on` are strings, not booleans.
    let options = serde_saphyr::options! { strict_booleans: true };
    let documents: Vec<Value> =
        serde_saphyr::from_multiple_with_options(&text, options).map_err(|error| {
            let line = error.location().map_or(0, |at| at.line());
            let message = error.to_string();
            let message = message.lines().next().unwrap_or_default();
            format!("{name}:{line}: not YAML: {message}")
        })?;
    let fixtures: Vec<Value> = documents.into_iter().flat_map(items).collect();
    check(&fixtures, &text).map_err(|(line, what)| format!("{name}:{line}: {what}"))?;
    Ok(fixtures)
}

/// The fixtures of one document: a list of fixtures, or a single fixture.
fn items(document: Value) -> Vec<Value> {
    match document {
        Value::Array(items) => items,
        Value::Null => Vec::new(),
        one => vec![one],
    }
}

/// Checks each fixture in the same way as a host, but strictly: a host's warning is an error here.
fn check(fixtures: &[Value], text: &str) -> Result<(), (usize, String)> {
    let lines = lines_of(text);
    for (index, fixture) in fixtures.iter().enumerate() {
        let json = Value::Array(vec![fixture.clone()]).to_string();
        let problems = match Fixture::parse_all(&json) {
            Ok((_, warnings)) => warnings,
            Err(problems) => problems,
        };
        if let Some(problem) = problems.first() {
            let line = lines.get(index).filter(|_| lines.len() == fixtures.len());
            let problem = problem.strip_prefix("[0]").unwrap_or(problem);
            let problem = problem.trim_start_matches(['.', ':', ' ']);
            let name = fixture.get("name").and_then(Value::as_str);
            let name = name.unwrap_or("without a name");
            let what = format!("fixture `{name}`: {problem}");
            return Err((line.copied().unwrap_or(1), what));
        }
    }
    Ok(())
}

/// The lines on which fixtures begin: items of a list that is not indented, and documents that are
/// single fixtures.
fn lines_of(text: &str) -> Vec<usize> {
    let mut lines = Vec::new();
    let mut begins = true;
    for (line, text) in text.lines().enumerate() {
        let is_nothing = text.trim().is_empty() || text.starts_with('#');
        if text.starts_with("---") {
            begins = true;
        } else if text.starts_with("- ") || (begins && !is_nothing) {
            lines.push(line + 1);
            begins = false;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> Result<Folder, String> {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            fs::write(folder.path().join(name), text).expect("a file");
        }
        let path = format!("{}/", folder.path().display());
        Folder::read(folder.path()).map_err(|error| error.replace(&path, ""))
    }

    const LIST: &str = "
# Widgets.
- name: one
  object: {kind: Widget, spec: {on: y, size: 3, at: 2026-01-01T00:00:00Z}}
  expect: {state: Ready}

- name: two
  object: {}
  expect: {state: Failed}
";

    #[test]
    fn lists_and_documents_become_one_list() {
        let documents = "name: three\nobject: {}\nexpect: {state: A}\n---\n- name: four\n  object: {}\n  expect: {state: A}\n";
        let folder = read(&[("b.yaml", documents), ("a.yaml", LIST), ("notes.md", "?")]);
        let folder = folder.expect("fixtures");
        assert_eq!(folder.files, ["a.yaml", "b.yaml"]);
        let (fixtures, _) = Fixture::parse_all(&folder.json).expect("fixtures");
        let names: Vec<&str> = fixtures.iter().map(|fixture| &*fixture.name).collect();
        assert_eq!(names, ["one", "two", "three", "four"]);
        assert_eq!(
            fixtures[0].object,
            r#"{"kind":"Widget","spec":{"at":"2026-01-01T00:00:00Z","on":"y","size":3}}"#
        );
    }

    #[test]
    fn an_error_names_file_and_line() {
        let misspelt = LIST.replace("  object: {}", "  objekt: {}");
        let unknown = LIST.replace("  object: {}", "  object: {}\n  nwo: 3");
        let broken = LIST.replace("{state: Failed}", "{state: Failed");
        let twin = LIST.replace("two", "one");
        let document = "---\nname: a\nexpect: {state: A}\n";
        for (file, text, expected) in [
            (
                "a.yaml",
                &*misspelt,
                "a.yaml:7: fixture `two`: object: is missing",
            ),
            (
                "a.yaml",
                &unknown,
                "a.yaml:7: fixture `two`: nwo: not a member of the contract, ignored; the known members are name, object, related, coverage, now, settings, expect",
            ),
            (
                "a.yaml",
                document,
                "a.yaml:2: fixture `a`: object: is missing",
            ),
            ("a.yml", LIST, "a.yml: rename it to *.yaml"),
        ] {
            assert_eq!(read(&[(file, text)]).expect_err(expected), expected);
        }
        let error = read(&[("a.yaml", &broken)]).expect_err("not YAML");
        assert!(error.starts_with("a.yaml:9: not YAML: "), "{error}");
        let error = read(&[("a.yaml", &twin)]).expect_err("a twin");
        assert!(
            error.ends_with("[1].name: the name `one` is used twice"),
            "{error}"
        );
        assert!(
            read(&[])
                .expect_err("nothing")
                .ends_with("has no file *.yaml")
        );
    }
}
