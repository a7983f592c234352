//! The declarative examples in `sdk/examples/declarative`.

use std::fs;
use std::path::PathBuf;

use kindsight_conversion::cel::RuleSet;
use kindsight_conversion::declarative;
use serde_json::Value;

use crate::{component, engine, published, root};

fn files() -> Vec<PathBuf> {
    let folder = root().join("sdk/examples/declarative");
    let entries = fs::read_dir(folder).expect("the examples");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .collect();
    files.sort();
    files
}

fn read(path: &PathBuf) -> RuleSet {
    let text = fs::read_to_string(path).expect("text");
    let rules = declarative::read(&path.display().to_string(), &text);
    rules.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_example_keeps_its_promises() {
    let files = files();
    assert!(files.len() >= 20, "{} examples", files.len());
    let sets: Vec<RuleSet> = files.iter().map(read).collect();
    for set in &sets {
        let count = |state: &str| {
            let expected =
                |fixture: &&Value| fixture.pointer("/expect/state") == Some(&state.into());
            set.fixtures.iter().filter(expected).count()
        };
        assert!(
            set.fixtures.len() >= 6,
            "{}: {} fixtures",
            set.name,
            set.fixtures.len()
        );
        assert!(
            count("Ready") + count("Present") + count("Succeeded") > 0,
            "{}",
            set.name
        );
        assert!(count("Pending") > 0, "{}", set.name);
        let names = set.fixtures.iter();
        let names: Vec<_> = names
            .filter_map(|fixture| fixture["name"].as_str())
            .collect();
        for name in ["no status", "stale", "trap"] {
            let is_there = names.iter().any(|known| known.contains(name));
            assert!(
                is_there,
                "{}: no fixture with `{name}` in its name",
                set.name
            );
        }
    }
    // One component of all, so that the engine compiles once. The load runs every fixture.
    let joined = declarative::join("examples", "1.0.0", sets).expect("one interpreter");
    published(&component(&joined));
}

#[test]
fn a_fixture_that_does_not_hold_is_refused() {
    let mut rules = read(&files()[0]);
    rules.fixtures[0]["expect"] = serde_json::json!({"state": "Succeeded"});
    let Err(refused) = engine().load(&component(&rules)) else {
        panic!("a broken promise was accepted");
    };
    let name = rules.fixtures[0]["name"].as_str().expect("a name");
    assert!(refused.to_string().contains(name), "{refused}");
}

#[test]
fn the_example_of_the_documentation_is_a_rule() {
    let page = fs::read_to_string(root().join("docs/declarative.md")).expect("the page");
    let (_, rest) = page.split_once("```yaml\n").expect("an example");
    let (example, _) = rest.split_once("   ```").expect("its end");
    let lines = example
        .lines()
        .map(|line| line.strip_prefix("   ").unwrap_or(line));
    let text = lines.collect::<Vec<_>>().join("\n");
    let rules = declarative::read("declarative.md", &text);
    let rules = rules.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(rules.fixtures.len(), 2);
    published(&component(&rules));
}
