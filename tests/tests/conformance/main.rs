//! The conformance cases of other projects, judged by the interpreters that ship: what their own
//! tests expect of an object, beside what we say of it.
//!
//! The cases are other projects' data and lie beside this checkout, in `../shared/conformance`; a
//! checkout without them says so and passes. This test has a `main` of its own, because its report
//! is worth reading when it passes: `-- --nocapture` also lists every case that is not exact.

mod arguments;
mod cases;
mod judging;
mod mutation;
mod outcome;
mod report;
mod tally;
mod thresholds;
mod waivers;

use std::path::Path;
use std::process::ExitCode;

use arguments::Arguments;
use cases::CaseFile;
use judging::Judging;
use report::Report;
use waivers::Waivers;

/// Where the cases are.
const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/conformance");

/// The trial that looks at the waivers.
const WAIVERS_TRIAL: &str = "every_waiver_is_needed";
/// The trial that looks at all files together.
const TOGETHER_TRIAL: &str = "all_files_together";

fn main() -> ExitCode {
    let arguments = Arguments::read(std::env::args().skip(1));
    let folder = Path::new(CASES);
    if !folder.is_dir() {
        return without_cases(&arguments);
    }
    match trials(folder, &arguments) {
        Ok(failed) if failed.is_empty() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            println!("conformance: {error}");
            ExitCode::FAILURE
        }
    }
}

fn without_cases(arguments: &Arguments) -> ExitCode {
    if !arguments.list {
        println!(
            "\nconformance: NOT CHECKED, its cases are not there (../shared/conformance: other \
             projects' data, not copied into this one)"
        );
        report::close(0, 0, 0);
    }
    ExitCode::SUCCESS
}

/// Runs what the arguments select; the names of the trials that failed.
fn trials(folder: &Path, arguments: &Arguments) -> Result<Vec<String>, String> {
    let files = cases::files(folder)?;
    let mut names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    names.extend([TOGETHER_TRIAL, WAIVERS_TRIAL]);
    let total = names.len();
    names.retain(|name| arguments.selects(name));
    if arguments.list {
        for name in &names {
            println!("{name}: test");
        }
        return Ok(Vec::new());
    }
    println!("\nrunning {} tests", names.len());
    let filtered_out = total - names.len();
    if names.is_empty() {
        report::close(0, 0, filtered_out);
        return Ok(Vec::new());
    }
    let reports = judge_all(&files)?;
    let mut failed = Vec::new();
    for name in &names {
        let problems = run(name, &reports, arguments.verbose)?;
        report::trial(name, &problems);
        if !problems.is_empty() {
            failed.push((*name).to_owned());
        }
    }
    report::close(names.len() - failed.len(), failed.len(), filtered_out);
    Ok(failed)
}

/// Everything is judged whatever is selected: waivers and totals need all of it, and it takes a
/// second.
fn judge_all(files: &[CaseFile]) -> Result<Vec<Report>, String> {
    let judging = Judging::start()?;
    let waivers = Waivers::read()?;
    let reports = files.iter().map(|file| {
        let mut report = Report::of(file, &judging, &waivers)?;
        report.mutated = mutation::check(file, &judging)?;
        Ok(report)
    });
    reports.collect()
}

/// Runs one trial; what is wrong.
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
