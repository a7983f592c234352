//! `kindsight plugin test`.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use kindsight_authoring::{CaseFile, Covered, TestReport, junit};
use kindsight_conversion::yaml;

use super::subject::Subject;
use crate::commands::interpreters::tables::counted;
use crate::table::clean;

/// `kindsight plugin test`.
#[derive(Debug, Args)]
#[command(after_help = "\
A case is an entry of a file `health_test.yaml`, in the format of Argo CD: `inputPath` names the file
of an object, `healthStatus` has the expected `status` and, if it is compared, `message`. Healthy
means the phases ready and present, Progressing pending and terminating, Degraded failed and
degraded, Suspended suspended, Missing not-present and unknown, Unknown unknown. An object that is
being deleted may also be terminating.

A field is covered if the verdict on a fixture would differ without it.

Exit codes: 0 all examples hold; 1 an example fails, or the component is refused; 2 invalid command
line.")]
pub(crate) struct TestArgs {
    #[command(flatten)]
    subject: Subject,
    /// Folder with cases, searched for `health_test.yaml`. Can be repeated.
    #[arg(long, value_name = "DIR")]
    cases: Vec<PathBuf>,
    /// File for the results in the format of `JUnit`.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// Runs the command; the exit code says whether all examples hold.
///
/// # Errors
/// When the component is refused, or cases cannot be read.
pub(crate) fn run(args: &TestArgs) -> anyhow::Result<ExitCode> {
    let mut files = Vec::new();
    for folder in &args.cases {
        files.extend(CaseFile::all_in(folder, yaml::documents)?);
    }
    let examination = args.subject.examined()?;
    let report = TestReport::of(&examination, &files)?;
    if let Some(file) = &args.junit {
        let name = &examination.interpreter().by().name;
        fs::write(file, junit(name, &report))
            .with_context(|| format!("write {}", file.display()))?;
    }
    print(&report)?;
    anyhow::ensure!(
        !report.tested.is_empty(),
        "there are no examples: neither fixtures nor --cases"
    );
    Ok(if report.failed() == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn print(report: &TestReport) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for tested in &report.tested {
        let name = format!("{}: {}", tested.suite, tested.name);
        match &tested.failure {
            None => writeln!(out, "ok      {}", clean(&name))?,
            Some(why) => writeln!(out, "FAILED  {}: {}", clean(&name), clean(why))?,
        }
    }
    let all = counted(report.tested.len() as u64, "example");
    writeln!(out, "{all}, {} failed", report.failed())?;
    let coverage = &report.coverage;
    for (what, covered) in [
        ("states", &coverage.states),
        ("reasons", &coverage.reasons),
        ("fields", &coverage.fields),
    ] {
        writeln!(out, "coverage of {what}: {}", text(covered))?;
    }
    out.flush()
}

fn text(covered: &Covered) -> String {
    let count = format!("{} of {}", covered.count(), covered.all);
    if covered.missing.is_empty() {
        count
    } else {
        clean(&format!("{count}, without {}", covered.missing.join(", ")))
    }
}
