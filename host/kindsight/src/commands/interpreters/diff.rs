//! `kindsight interpreters diff`: compares the verdicts of two components on files, without a server.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use kindsight_api::interpreters::ShadowReport;
use kindsight_model::Coverage;
use kindsight_server::interpreter::ReportedGroup;
use kindsight_server::{
    ComponentComparer, Document, Group, LogFormat, cache_folder, now_ms, start_logging,
};

use crate::cli;
use crate::commands::interpret::input::{self, Source};
use crate::commands::interpreters::args::{Base, DiffArgs};
use crate::commands::interpreters::component::component_file;
use crate::commands::interpreters::{exit_code, tables};
use crate::output_format::OutputFormat;
use crate::progress::{self, LogLines};

/// The word for the built-in interpreters in place of the old component.
pub(crate) const BUILT_IN: &str = "built-in";

/// The form of a printed comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiffForm {
    /// Tables for a terminal.
    Table,
    /// The report as JSON.
    Json,
    /// Markdown, for a pull request.
    Markdown,
}

impl From<OutputFormat> for DiffForm {
    fn from(output: OutputFormat) -> Self {
        match output {
            OutputFormat::Table => Self::Table,
            OutputFormat::Json => Self::Json,
        }
    }
}

/// Runs the command; the exit code says whether verdicts would change.
///
/// # Errors
/// When a component is refused, an input cannot be read completely, or the output cannot be written. Objects that can be
/// read are compared, and the report is printed all the same.
pub(crate) fn run(args: &DiffArgs, form: DiffForm) -> anyhow::Result<ExitCode> {
    start_logging("error", LogFormat::Text, || LogLines)?;
    let new = component_file(&args.new, args.settings.as_deref())?;
    let old = if args.old == Path::new(BUILT_IN) {
        anyhow::ensure!(
            args.old_settings.is_none(),
            "--old-settings needs a component; `{BUILT_IN}` has the settings of the built-in interpreters"
        );
        None
    } else {
        Some(component_file(&args.old, args.old_settings.as_deref())?)
    };
    let (cache, on_loaded) = (cache_folder(), progress::of_interpreters());
    let mut comparing = InputComparer {
        comparer: ComponentComparer::start(cache.as_deref(), old.as_ref(), &new, &on_loaded)?,
        coverage: args.coverage.into(),
        now_ms: args
            .now
            .map_or_else(now_ms, jiff::Timestamp::as_millisecond),
        objects: 0,
    };
    let unread = comparing.read(args);
    let report = comparing.finish();
    print(&report, form)?;
    anyhow::ensure!(
        unread == 0,
        "{unread} of the inputs could not be read completely"
    );
    Ok(exit_code(&args.fail_on, &report))
}

/// A comparison over the objects of the inputs.
struct InputComparer {
    comparer: ComponentComparer,
    coverage: Coverage,
    now_ms: i64,
    objects: u64,
}

/// Documents of an input that are no objects, so they are not compared.
#[derive(Default)]
struct Skipped {
    count: u64,
    /// The reason why the first one is no object.
    why: String,
}

impl InputComparer {
    /// Compares all inputs; returns the number of inputs that could not be read completely.
    fn read(&mut self, args: &DiffArgs) -> u64 {
        let mut unread = 0;
        for source in input::sources(&args.inputs) {
            if let Err(error) = source.and_then(|mut source| self.read_source(&mut source)) {
                unread += 1;
                cli::complain(&error);
            }
        }
        unread
    }

    /// Compares the objects of an input.
    ///
    /// # Errors
    /// When the input cannot be read, or a document in it is no object. The document may be an object that was cut off, so
    /// the report may miss changes.
    fn read_source(&mut self, source: &mut Source) -> anyhow::Result<()> {
        let label: Arc<str> = source.name.as_str().into();
        let mut skipped = Skipped::default();
        source.read(|group| {
            self.compare(&label, group, &mut skipped);
            Ok(())
        })?;
        let Skipped { count, why } = skipped;
        let documents = tables::counted(count, "document");
        anyhow::ensure!(count == 0, "{label}: skipped {documents}: {why}");
        Ok(())
    }

    /// Compares the verdicts on a group. A List is one reported group, each single object its own.
    fn compare(&mut self, label: &Arc<str>, group: Group, skipped: &mut Skipped) {
        let mut objects = Vec::new();
        for document in group.documents {
            match document {
                Document::Object(object) => objects.push(object),
                Document::Other(why) => {
                    if skipped.count == 0 {
                        skipped.why = why;
                    }
                    skipped.count += 1;
                }
            }
        }
        self.objects += objects.len() as u64;
        let reported = |objects| ReportedGroup {
            label: Some(Arc::clone(label)),
            // Objects in files name it by a label.
            application: None,
            objects,
            related: [].into(),
            covered: self.coverage.clone(),
        };
        let groups: Vec<ReportedGroup> = if group.related {
            vec![reported(objects.into())]
        } else {
            let each = objects.into_iter();
            each.map(|object| reported([object].into())).collect()
        };
        for group in groups {
            self.comparer.add(&group, self.now_ms);
        }
    }

    /// The result. Prints a hint if the totals count no object.
    fn finish(self) -> ShadowReport {
        let report = self.comparer.finish();
        if report.objects == 0 {
            let read = tables::counted(self.objects, "object");
            cli::hint(&format!(
                "{read} read; the same interpreters judge them with either component"
            ));
        }
        report
    }
}

fn print(report: &ShadowReport, form: DiffForm) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match form {
        DiffForm::Table => tables::diff(&mut out, report)?,
        DiffForm::Markdown => tables::markdown(&mut out, report, Base::BuiltIn)?,
        DiffForm::Json => {
            serde_json::to_writer_pretty(&mut out, report).map_err(io::Error::from)?;
            writeln!(out)?;
        }
    }
    Ok(out.flush()?)
}
