//! The catalogue on objects of test suites of other projects. `docs/catalogue-measurement.md` shows the result.
//!
//! The objects are not part of this repository. `tests/peers/suites/fetch` brings the suites into a folder.

mod cases;
mod peers;
mod reasons;
mod schemas;
mod tally;
mod words;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use expect_test::expect_file;
use kindsight_conversion::declarative;
use kindsight_model::Verdict;
use serde_json::Value;

use cases::{
    Case, DEVELOPMENT, FIRST, FOURTH_DEVELOPMENT, FOURTH_HELD_OUT, HELD_OUT, THIRD_DEVELOPMENT,
    THIRD_HELD_OUT,
};
use peers::Comments;
use reasons::Reason;
use schemas::Schemas;
use tally::{Outcome, Tally};
use words::WORDS;

use crate::catalogue::projects;
use crate::{component, judged, published, root};

/// Aims for suites that no other test uses: exact at least, and wrong green at most, in thousandths of the cases.
const EXACT_MIN: usize = 950;
const WRONG_GREEN_MAX: usize = 5;

/// A case with the verdict of a rule of the catalogue.
type Answer = (Case, Verdict);

#[test]
fn the_catalogue_judges_the_objects_of_other_projects_as_they_do() {
    let folder = cases::folder();
    let is_there = cases::are_in(&folder);
    let tree = is_there.then(kindsight_tests::argo_scripts).flatten();
    let Some(tree) = tree else {
        println!(
            "NOT RUN: it needs Go, and the suites in {}: `tests/peers/suites/fetch` brings them",
            folder.display()
        );
        return;
    };
    let second = cases::second(&tree);
    let known: BTreeSet<String> = second.iter().map(|case| case.object.to_string()).collect();
    let independent = answers(cases::independent(&folder, &known));
    let second = answers(second);
    let page = page(&independent, &second, &Schemas::read(&folder));
    println!("{page}");
    print_deviations(&second);
    unexplained(&independent);
    expect_file![root().join("docs/catalogue-measurement.md")].assert_eq(&page);
}

/// The suites are optional here: without them, the test reads the cases of Argo CD and Karmada that are always there.
#[test]
fn a_rule_that_differs_from_another_tool_names_it() {
    let Some(tree) = kindsight_tests::argo_scripts() else {
        println!("NOT RUN: it needs Go");
        return;
    };
    let mut cases = cases::second(&tree);
    let folder = cases::folder();
    if cases::are_in(&folder) {
        cases.extend(cases::independent(&folder, &BTreeSet::new()));
    }
    let answers = answers(cases);
    let differing: Vec<&Case> = deviations(&answers).map(|(case, _)| case).collect();
    let silent: Vec<String> = Comments::read().silent(&differing).into_iter().collect();
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

/// The cases that a rule of the catalogue judges, with the verdicts.
fn answers(cases: Vec<Case>) -> Vec<Answer> {
    let rules = projects().into_iter().flat_map(|project| project.rules);
    let mut joined = declarative::join("catalogue", "1.0.0", rules.collect());
    let joined = joined.as_mut().unwrap_or_else(|error| panic!("{error}"));
    // Another test checks the fixtures.
    joined.fixtures.clear();
    let interpreters = published(&component(joined));
    let objects: Vec<Value> = cases.iter().map(|case| case.object.clone()).collect();
    let verdicts = judged(&interpreters, &objects);
    let answers = cases.into_iter().zip(verdicts);
    answers
        .filter(|(_, verdict)| verdict.by.is_some())
        .collect()
}

fn outcome((case, verdict): &Answer) -> Outcome {
    Outcome::of(case, verdict)
}

fn deviations(answers: &[Answer]) -> impl Iterator<Item = &Answer> {
    answers
        .iter()
        .filter(|answer| outcome(answer) != Outcome::Exact)
}

fn print_deviations(answers: &[Answer]) {
    for (case, verdict) in deviations(answers) {
        println!(
            "{} {}: {:?}: {} {} {:?}, not {}",
            case.suite,
            case.id,
            Outcome::of(case, verdict),
            verdict.state,
            verdict.reason,
            verdict.message,
            case.word
        );
    }
}

/// # Panics
/// If a deviation has no reason, or a reason no deviation.
fn unexplained(answers: &[Answer]) {
    print_deviations(answers);
    let reasons = Reason::all();
    let found: Vec<(&Case, String)> = deviations(answers)
        .map(|(case, verdict)| (case, verdict.state.to_string()))
        .collect();
    let without = found
        .iter()
        .filter(|(case, state)| !reasons.iter().any(|reason| reason.explains(case, state)));
    let without = without.map(|(case, state)| format!("{} {}: {state}", case.suite, case.id));
    let unneeded = reasons.iter().flat_map(|reason| reason.unneeded(&found));
    let unneeded = unneeded.map(|id| format!("{id}: the reason is not needed"));
    let problems: Vec<String> = without.chain(unneeded).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let first = tally(answers, &FIRST);
    assert!(first.exact * 1000 >= EXACT_MIN * first.cases, "{first:?}");
    let halves = [
        &FIRST[..],
        &HELD_OUT[..],
        &THIRD_HELD_OUT[..],
        &FOURTH_HELD_OUT[..],
    ];
    for suites in halves {
        let all = tally(answers, suites);
        let allowed = WRONG_GREEN_MAX * all.cases;
        assert!(all.wrong_green * 1000 <= allowed, "{all:?}");
    }
}

/// The outcomes of the cases of suites.
fn tally(answers: &[Answer], suites: &[&str]) -> Tally {
    let of_suites = answers
        .iter()
        .filter(|(case, _)| suites.contains(&&*case.suite));
    Tally::of(of_suites.map(outcome))
}

/// A table with a row for each suite, and for all.
fn table(page: &mut String, answers: &[Answer], suites: &[&str]) {
    page.push_str(HEAD);
    for suite in suites {
        page.push_str(&tally(answers, &[suite]).row(&suite.replace('+', "/")));
    }
    page.push_str(&tally(answers, suites).row("all"));
}

/// A table whose last row has only the cases with every field that the definition of the Kind requires in a status.
fn complete_table(page: &mut String, answers: &[Answer], suites: &[&str], schemas: &Schemas) {
    table(page, answers, suites);
    let complete = answers.iter().filter(|(case, _)| {
        suites.contains(&&*case.suite) && schemas.lacking(&case.object).is_none()
    });
    let complete = Tally::of(complete.map(outcome));
    page.push_str(&complete.row("all with the required fields"));
}

/// The page of the documentation.
fn page(independent: &[Answer], second: &[Answer], schemas: &Schemas) -> String {
    let mut page = INTRODUCTION.to_owned();
    table(&mut page, independent, &FIRST);
    page.push_str(SECOND_SET);
    table(&mut page, independent, &HELD_OUT);
    page.push_str(DEVELOPED);
    table(&mut page, independent, &DEVELOPMENT);
    page.push_str(THIRD_SET);
    complete_table(&mut page, independent, &THIRD_HELD_OUT, schemas);
    page.push_str(DEVELOPED);
    complete_table(&mut page, independent, &THIRD_DEVELOPMENT, schemas);
    page.push_str(FOURTH_SET);
    table(&mut page, independent, &FOURTH_HELD_OUT);
    page.push_str(DEVELOPED);
    table(&mut page, independent, &FOURTH_DEVELOPMENT);
    page.push_str(REPRODUCE);
    page.push_str(SECOND);
    page.push_str(HEAD);
    for (suite, name) in SECOND_SUITES {
        let of_suite = second.iter().filter(|(case, _)| case.suite == suite);
        page.push_str(&Tally::of(of_suite.map(outcome)).row(name));
    }
    page.push_str(&Tally::of(second.iter().map(outcome)).row("all"));
    page.push_str(MEANING);
    for words in WORDS {
        for (word, allowed) in words.words {
            let suites = words.suites.join(", ").replace('+', "/");
            let _ = writeln!(page, "| {suites} | {word} | {} |", allowed.join(", "));
        }
    }
    page.push_str(DIFFERENCES);
    for (case, verdict) in deviations(independent) {
        let reasons = Reason::all();
        let reason = reasons
            .iter()
            .find(|reason| reason.explains(case, &verdict.state));
        let reason = reason.map_or("", |reason| reason.because.as_str());
        let id = case
            .id
            .rsplit_once("_test.go/")
            .map_or(case.id.as_str(), |(_, id)| id);
        let _ = writeln!(
            page,
            "| {} | {id} | {} | {} | {reason} |",
            case.suite.replace('+', "/"),
            case.word,
            verdict.state
        );
    }
    page
}

const HEAD: &str =
    "| suite | cases | exact | wrong green | wrong red | other |\n|---|---|---|---|---|---|\n";

const SECOND_SUITES: [(&str, &str); 3] = [
    ("Argo CD 3.1.9", "Argo CD 3.1.9, every case of its scripts"),
    ("argocd", "Argo CD, later cases beside the checkout"),
    ("karmada", "Karmada, cases beside the checkout"),
];

const INTRODUCTION: &str = include_str!("suites/introduction.md");
const SECOND_SET: &str = include_str!("suites/second-set.md");
const THIRD_SET: &str = include_str!("suites/third-set.md");
const FOURTH_SET: &str = include_str!("suites/fourth-set.md");
const DEVELOPED: &str = include_str!("suites/developed.md");
const REPRODUCE: &str = include_str!("suites/reproduce.md");
const SECOND: &str = include_str!("suites/second.md");
const MEANING: &str = include_str!("suites/meaning.md");
const DIFFERENCES: &str = include_str!("suites/differences.md");
