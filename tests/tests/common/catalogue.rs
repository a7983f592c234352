//! The catalogue of rules as components, for the suites that every component must pass.

use std::fs;
use std::path::{Path, PathBuf};

use kindsight_conversion::cel::RuleSet;
use kindsight_conversion::declarative;

/// The projects in one component. Fewer components are compiled sooner, and a component has at most 1,024 fixtures.
const PROJECTS_TOGETHER: usize = 13;

/// The files of a folder, sorted.
fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
}

/// The rules of all projects, joined. Each set of rules has several projects, and its component judges their objects as
/// the components of these projects do: the rules of a component do not know each other.
pub(crate) fn joined_rules() -> Vec<RuleSet> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../catalogue");
    let projects = sorted(Path::new(folder));
    let projects: Vec<PathBuf> = projects.into_iter().filter(|path| path.is_dir()).collect();
    let together = projects.chunks(PROJECTS_TOGETHER).enumerate();
    let joined = together.map(|(number, projects)| {
        let files = projects.iter().flat_map(|project| sorted(project));
        let rules = files.map(|file| {
            let text = fs::read_to_string(&file).expect("text");
            let rules = declarative::read(&file.display().to_string(), &text);
            rules.unwrap_or_else(|error| panic!("{error}"))
        });
        let name = format!("catalogue-{number}");
        let joined = declarative::join(&name, "1.0.0", rules.collect());
        joined.unwrap_or_else(|error| panic!("{error}"))
    });
    joined.collect()
}

/// The component with these rules.
pub(crate) fn component(rules: &RuleSet) -> Vec<u8> {
    rules.component().unwrap_or_else(|error| panic!("{error}"))
}
