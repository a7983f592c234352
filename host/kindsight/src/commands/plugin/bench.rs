//! `kindsight plugin bench`.

use std::fs;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use kindsight_authoring::measured;

use super::subject::{Subject, examined};

/// `kindsight plugin bench`.
#[derive(Debug, Args)]
#[command(after_help = "\
The calls judge the objects of the fixtures in turn, on one thread, with the work of the host around
each call. A server also keeps verdicts, so that equal inputs cost nothing. The component is compiled
anew.")]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    subject: Subject,
}

/// Runs the command.
///
/// # Errors
/// When the component is refused, or has no fixtures.
pub(crate) fn run(args: &BenchArgs) -> anyhow::Result<ExitCode> {
    let file = args.subject.file()?;
    let examination = examined(&file, false)?;
    let figures = measured(&examination)?;
    let figures = figures
        .ok_or_else(|| anyhow::anyhow!("it has no fixtures, whose objects the calls judge"))?;
    let mut out = io::stdout().lock();
    let kib = fs::metadata(&file)?.len().div_ceil(1024);
    writeln!(out, "size              {kib} KiB")?;
    writeln!(out, "compilation       {}", text(figures.compile))?;
    writeln!(out, "instance start    {} (median)", text(figures.start))?;
    writeln!(
        out,
        "calls per second  {:.0} ({} calls)",
        figures.calls_per_second, figures.calls
    )?;
    writeln!(
        out,
        "call              {} (median), {} (99 %)",
        text(figures.median),
        text(figures.p99)
    )?;
    Ok(ExitCode::SUCCESS)
}

fn text(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    if micros < 1000.0 {
        format!("{micros:.1} µs")
    } else {
        format!("{:.1} ms", micros / 1000.0)
    }
}
