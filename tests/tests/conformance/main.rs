//! The conformance cases of other projects, judged by the built-in interpreters. Each case has the state that the
//! project's own tests expect of an object.
//!
//! The cases are data of other projects in the folder `../shared/conformance`, beside this checkout. Without the folder,
//! the test prints a line and passes. The standard harness hides the output of passing tests, but this report is also
//! useful then. The trials therefore run in `libtest-mimic`, one for each file of cases. `-- --nocapture` also lists
//! every case that is not exact.

mod cases;
#[path = "../common/catalogue.rs"]
mod catalogue;
mod judging;
mod mutation;
mod outcome;
mod report;
mod tally;
mod thresholds;
mod waivers;

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use cases::CaseFile;
use judging::Judging;
use report::Report;
use waivers::Waivers;

/// Folder of the cases.
const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/conformance");

/// The trial of the waivers.
const WAIVERS_TRIAL: &str = "every_waiver_is_needed";
/// The trial of all files together.
const TOGETHER_TRIAL: &str = "all_files_together";
/// The trial of damaged objects with the interpreters of the catalogue.
const CATALOGUE_TRIAL: &str = "the_catalogue_judges_damaged_objects";
/// A damage that no object in a cluster has, because an API server keeps the spec. A rule reads from the spec whether an
/// object is suspended.
const IMPOSSIBLE_DAMAGE: &str = " without spec turned green: ";
/// The trial of the form of the waivers, which needs no cases.
const REASONS_TRIAL: &str = "every_waiver_has_a_reason";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    match trials(Path::new(CASES), &arguments) {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(error) => {
            println!("conformance: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Judges the cases and prints the report of each trial that the arguments select.
fn trials(folder: &Path, arguments: &Arguments) -> Result<Vec<Trial>, String> {
    if !folder.is_dir() {
        if !arguments.list {
            println!(
                "\nconformance: NOT CHECKED, its cases are not there (../shared/conformance: other \
                 projects' data, not copied into this one)"
            );
        }
        return Ok(vec![reasons_trial()]);
    }
    let files = cases::files(folder)?;
    let mut names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    names.extend([TOGETHER_TRIAL, WAIVERS_TRIAL]);
    let runs = |name: &str| !arguments.list && !arguments.is_filtered_out(&trial(name, Vec::new()));
    let damaged = if runs(CATALOGUE_TRIAL) {
        judge_damaged(&files)?
    } else {
        Vec::new()
    };
    let reports = if names.iter().any(|name| runs(name)) {
        judge_all(&files)?
    } else {
        Vec::new()
    };
    let trials = names.iter().map(|name| {
        let problems = if runs(name) {
            run(name, &reports, arguments.nocapture)?
        } else {
            Vec::new()
        };
        Ok(trial(name, problems))
    });
    let others = [trial(CATALOGUE_TRIAL, damaged), reasons_trial()];
    trials.chain(others.map(Ok)).collect()
}

/// The trial of the form of the waivers.
fn reasons_trial() -> Trial {
    trial(REASONS_TRIAL, Waivers::read().err().into_iter().collect())
}

/// A trial that fails with the problems, if there are any.
fn trial(name: &str, problems: Vec<String>) -> Trial {
    Trial::test(name, move || {
        if problems.is_empty() {
            Ok(())
        } else {
            Err(problems.join("\n").into())
        }
    })
}

/// Judges all cases regardless of the selection: waivers and totals need all of them, and it takes a
/// second.
fn judge_all(files: &[CaseFile]) -> Result<Vec<Report>, String> {
    let judging = Judging::start(false)?;
    let waivers = Waivers::read()?;
    let reports = files.iter().map(|file| {
        let mut report = Report::of(file, &judging, &waivers)?;
        report.mutated = mutation::check(file, &judging)?;
        Ok(report)
    });
    reports.collect()
}

/// Judges all cases, damaged in each way, with the interpreters of the catalogue. Returns the problems.
fn judge_damaged(files: &[CaseFile]) -> Result<Vec<String>, String> {
    let judging = Judging::start(true)?;
    let mut problems = Vec::new();
    for file in files {
        let mutated = mutation::check(file, &judging)?;
        let found = mutated.problems.into_iter();
        let found = found.filter(|problem| !problem.contains(IMPOSSIBLE_DAMAGE));
        problems.extend(found.map(|problem| format!("{}: {problem}", file.name)));
    }
    Ok(problems)
}

/// Prints the report of one trial; returns its problems.
fn run(name: &str, reports: &[Report], verbose: bool) -> Result<Vec<String>, String> {
    match name {
        TOGETHER_TRIAL => {
            let together = tally::Tallies::sum(reports);
            report::table(TOGETHER_TRIAL, &together);
            Ok(thresholds::problems(&together))
        }
        WAIVERS_TRIAL => Ok(Waivers::read()?.problems(reports)),
        file => {
            let mut reports = reports.iter().filter(|report| report.file == file);
            let report = reports
                .next()
                .ok_or_else(|| format!("no report on {file}"))?;
            report.print(verbose);
            Ok(report.problems())
        }
    }
}
