//! The catalogue: rules for the Kinds of other projects, a file each, in `catalogue/<project>/`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use expect_test::expect_file;
use kindsight_authoring::findings;
use kindsight_conversion::cel::{Outcome, RuleSet};
use kindsight_conversion::declarative;
use kindsight_interpreter::Interpreters;

use crate::{component, engine, root};

/// A project and the rules of its Kinds, in order of their files.
pub(crate) struct Project {
    pub(crate) name: String,
    pub(crate) rules: Vec<RuleSet>,
}

/// The entries of a folder, in order.
pub(crate) fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
}

/// All projects, in order.
pub(crate) fn projects() -> Vec<Project> {
    let folders = sorted(&root().join("catalogue"));
    let folders = folders.into_iter().filter(|path| path.is_dir());
    let projects = folders.map(|folder| Project {
        name: folder
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned(),
        rules: sorted(&folder).iter().map(|file| read(file)).collect(),
    });
    projects.collect()
}

fn read(file: &Path) -> RuleSet {
    let text = fs::read_to_string(file).expect("text");
    let rules = declarative::read(&file.display().to_string(), &text);
    rules.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_rule_names_its_sources_and_shows_its_cases() {
    let projects = projects();
    let rules = projects.iter().flat_map(|project| &project.rules);
    let problems: Vec<String> = rules.flat_map(incomplete).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Fixtures that each rule has: a word in the name, and the states that the fixture shows. A rule that cannot give any of
/// these states needs no such fixture.
const FIXTURES: [(&str, &[&str]); 7] = [
    ("ready", &["Ready", "Succeeded", "Present"]),
    ("in progress", &["Pending"]),
    ("failed", &["Failed", "Retrying"]),
    ("suspended", &["Suspended"]),
    ("no status", &[]),
    ("stale", &[]),
    ("trap", &[]),
];

/// Parts that a rule lacks: sources, their versions, fixtures.
fn incomplete(rules: &RuleSet) -> Vec<String> {
    let mut problems = Vec::new();
    if rules.sources.is_empty() {
        problems.push("no sources".to_owned());
    }
    let unversioned = rules
        .sources
        .iter()
        .filter(|source| !source.contains(|letter: char| letter.is_ascii_digit()));
    problems.extend(unversioned.map(|source| format!("{source}: no version")));
    let given: BTreeSet<&str> = outcomes(rules)
        .map(|outcome| outcome.state.as_str())
        .collect();
    for (word, states) in FIXTURES {
        let is_given = states.is_empty() || states.iter().any(|state| given.contains(state));
        let mut fixtures = rules.fixtures.iter();
        let is_there =
            fixtures.any(|fixture| fixture["name"].as_str().unwrap_or_default().contains(word));
        if is_given && !is_there {
            problems.push(format!("no fixture has `{word}` in its name"));
        }
    }
    let shown: BTreeSet<&str> = rules
        .fixtures
        .iter()
        .filter_map(|fixture| fixture.pointer("/expect/state")?.as_str())
        .collect();
    let hidden = ["Failed", "Retrying", "Suspended", "Degraded"];
    let hidden = hidden
        .iter()
        .filter(|state| given.contains(*state) && !shown.contains(*state));
    problems.extend(hidden.map(|state| format!("no fixture shows {state}")));
    let named = problems.into_iter();
    named
        .map(|problem| format!("{}: {problem}", rules.name))
        .collect()
}

/// The outcomes of all cases.
fn outcomes(rules: &RuleSet) -> impl Iterator<Item = &Outcome> {
    rules.rules.iter().flat_map(|rule| {
        let cases = rule.cases.iter().map(|case| &case.outcome);
        cases.chain([&rule.otherwise])
    })
}

/// Loads the component of each project alone, as a server does: the engine compiles it and runs its fixtures.
#[test]
fn every_project_is_an_interpreter_that_loads_alone() {
    let engine = engine();
    for Project { name, rules } in projects() {
        let kinds = rules.iter().map(|rules| rules.rules.len()).sum::<usize>();
        let joined = declarative::join(&name, "1.0.0", rules);
        let joined = joined.unwrap_or_else(|error| panic!("{name}: {error}"));
        let loaded = engine.load(&component(&joined));
        let loaded = loaded.unwrap_or_else(|error| panic!("{name}: {}", error.with_step()));
        assert_eq!(loaded.description().warnings, [""; 0], "{name}");
        assert_eq!(loaded.description().kinds.len(), kinds, "{name}");
    }
}

/// Damages that no object in a cluster has: an API server keeps the spec, and its generations are numbers.
const IMPOSSIBLE_DAMAGES: [&str; 2] = [", without spec: it is", ", with words for numbers: it is"];

/// The projects in one component. Fewer components are compiled sooner.
const PROJECTS_TOGETHER: usize = 13;

#[test]
fn the_catalogue_keeps_its_promises_and_has_no_wrong_green() {
    let engine = engine();
    let projects = projects();
    let wrong: Vec<String> = thread::scope(|scope| {
        let together = projects.chunks(PROJECTS_TOGETHER);
        // All threads begin before the first one is waited for.
        let threads: Vec<_> = together
            .map(|together| scope.spawn(|| problems(&engine, together)))
            .collect();
        let found = threads.into_iter().map(thread::ScopedJoinHandle::join);
        found.flat_map(|found| found.expect("no panic")).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Promises of the fixtures that do not hold, and findings of the lints.
fn problems(engine: &Interpreters, together: &[Project]) -> Vec<String> {
    let rules = together.iter().flat_map(|project| project.rules.clone());
    let joined = declarative::join("catalogue", "1.0.0", rules.collect());
    let joined = joined.unwrap_or_else(|error| panic!("{error}"));
    let examination = engine.examine(&component(&joined));
    let examination = examination.unwrap_or_else(|error| panic!("{}", error.with_step()));
    let mut examiner = examination.examiner().expect("usable settings");
    let fixtures = examination.fixtures().iter();
    let broken = fixtures.filter_map(|fixture| {
        let what = examiner.mismatch(fixture)?;
        Some(format!("{}: {what}", fixture.name))
    });
    let mut problems: Vec<String> = broken.collect();
    if examination
        .interpreter()
        .description()
        .settings_schema
        .is_some()
    {
        problems.push("a rule has settings: list them in the page of the catalogue".to_owned());
    }
    let found = findings(&examination).expect("lints");
    let found = found.iter().filter(|finding| {
        !IMPOSSIBLE_DAMAGES
            .iter()
            .any(|damage| finding.what.contains(damage))
    });
    problems.extend(found.map(|finding| format!("{}: {}", finding.rule.as_str(), finding.what)));
    problems
}

/// `UPDATE_EXPECT=1 cargo test -p kindsight-tests --test rules catalogue` writes the page again.
#[test]
fn the_page_of_the_catalogue_is_current() {
    let projects = projects();
    let kinds = projects
        .iter()
        .map(|project| project.rules.len())
        .sum::<usize>();
    let mut page = format!(
        "# The catalogue\n\n\
         Rules for {kinds} Kinds of {} projects, in [the format for rules in YAML](declarative.md), a file for each Kind. \
         Each project becomes an interpreter, which replaces the verdicts by conventions. [Use the catalogue](catalogue-use.md) \
         describes how a server loads all projects or some.\n\n\
         No rule of the catalogue has settings. This page is generated from the rules.\n",
        projects.len()
    );
    for project in &projects {
        page.extend(["\n## ", &project.name, "\n\n", HEAD]);
        for rules in &project.rules {
            page.push_str(&row(rules));
        }
    }
    expect_file![root().join("docs/catalogue.md")].assert_eq(&page);
}

/// Stands for reasons that the object has, such as the reason of a condition.
const OF_OBJECT: &str = "reasons of the object";

/// The head of the table of a project.
const HEAD: &str = "| Kind | states | reasons | sources |\n|---|---|---|---|\n";

fn row(rules: &RuleSet) -> String {
    let kinds: BTreeSet<String> = rules
        .rules
        .iter()
        .map(|rule| format!("`{}.{}`", rule.kind, rule.group))
        .collect();
    let states: BTreeSet<&str> = outcomes(rules)
        .map(|outcome| outcome.state.as_str())
        .collect();
    // A reason with an expression comes from the object.
    let reasons: BTreeSet<&str> = outcomes(rules)
        .map(|outcome| outcome.reason.as_str())
        .filter(|reason| !reason.is_empty())
        // An expression in a reason reads the object.
        .map(|reason| {
            if reason.contains("${") {
                OF_OBJECT
            } else {
                reason
            }
        })
        .collect();
    let joined = |words: BTreeSet<&str>| words.into_iter().collect::<Vec<_>>().join(", ");
    format!(
        "| {} | {} | {} | {} |\n",
        kinds.into_iter().collect::<Vec<_>>().join(", "),
        joined(states),
        joined(reasons),
        rules.sources.join("; ")
    )
}

/// `UPDATE_EXPECT=1 cargo test -p kindsight-tests --test rules catalogue` writes the list again.
#[test]
fn the_list_of_kinds_of_the_catalogue_is_current() {
    let mut lines = BTreeSet::new();
    for project in projects() {
        for rule in project.rules.iter().flat_map(|rules| &rules.rules) {
            let (group, version, kind) = (&rule.group, &rule.version, &rule.kind);
            lines.insert(format!("{} {group}/{version}/{kind}\n", project.name));
        }
    }
    let list: String = lines.into_iter().collect();
    expect_file![root().join("catalogue/kinds.txt")].assert_eq(&list);
}
