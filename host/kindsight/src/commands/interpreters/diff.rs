//! Differences between the verdicts of two components on objects in files. No server is asked.
//!
//! Each of the two is put on top of the built-in interpreters, so that what neither judges, or only
//! one of them, is judged as on a server.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use kindsight_api::interpreters::{ShadowReport, ShadowedVersion};
use kindsight_interpreter::{
    Comparer, Comparison, Interpreter, Interpreters, Limits, Place, Published, SetMember,
};
use kindsight_model::Source;
use kindsight_server::{Error, cache_folder, now_ms, shadow_report, start_interpreters};

use crate::cli::{self, OutputFormat};
use crate::commands::interpret::documents::{self, Document, Group};
use crate::commands::interpret::input;
use crate::commands::interpreters::args::DiffArgs;
use crate::commands::interpreters::{requests, tables};
use crate::telemetry::{self, LogFormat};

/// The exit code where verdicts would change: neither well nor badly.
const CHANGED: u8 = 3;

/// Runs the command; the answer says whether verdicts would change.
///
/// # Errors
/// When a component is refused, an input cannot be read, or the output cannot be written. What could
/// be read is compared and printed all the same.
pub(crate) fn run(args: &DiffArgs, output: OutputFormat) -> anyhow::Result<ExitCode> {
    telemetry::start("error", LogFormat::Text)?;
    let limits = Limits::default();
    let interpreters = start_interpreters(limits.clone(), cache_folder().as_deref(), &[])?;
    let (old, new) = (
        load(&interpreters, &args.old)?,
        load(&interpreters, &args.new)?,
    );
    let sets = (set(&interpreters, &old)?, set(&interpreters, &new)?);
    let mut comparing = InputComparer {
        comparer: Comparer::new(&limits, &sets.0, &sets.1),
        now_ms: args
            .now
            .map_or_else(now_ms, jiff::Timestamp::as_millisecond),
        objects: 0,
        others: 0,
    };
    let unread = comparing.read(args);
    let found = comparing.finish();
    let is_changed = found.changed > 0;
    print(&report(&old, &new, found), output)?;
    anyhow::ensure!(
        unread == 0,
        "{unread} of the inputs could not be read to their end"
    );
    Ok(if is_changed {
        ExitCode::from(CHANGED)
    } else {
        ExitCode::SUCCESS
    })
}

fn load(interpreters: &Interpreters, file: &Path) -> anyhow::Result<Arc<Interpreter>> {
    let bytes = requests::bytes_of(file)?;
    let loaded = interpreters.load(&bytes);
    let file = file.to_owned();
    Ok(loaded.map_err(|error| Error::Refused { file, error })?)
}

/// The built-in interpreters, and this one over them.
fn set(interpreters: &Interpreters, over: &Arc<Interpreter>) -> anyhow::Result<Arc<Published>> {
    let built_in = interpreters.published();
    let offers = built_in
        .interpreters()
        .map(|(source, interpreter)| (source, Arc::clone(interpreter)))
        .chain([(Source::Upload, Arc::clone(over))]);
    Ok(interpreters.prepare(offers.map(SetMember::from).collect())?)
}

/// A comparison over the objects of the inputs.
struct InputComparer {
    comparer: Comparer,
    now_ms: i64,
    objects: u64,
    /// Documents that are no objects: no interpreter is asked about them.
    others: u64,
}

impl InputComparer {
    /// Answers how many inputs could not be read to their end.
    fn read(&mut self, args: &DiffArgs) -> u64 {
        let mut unread = 0;
        for source in input::sources(&args.inputs) {
            let outcome = source.and_then(|mut source| {
                let label: Arc<str> = source.name.as_str().into();
                documents::read(&mut source, |group| {
                    self.compare(&label, group);
                    Ok(())
                })
            });
            if let Err(error) = outcome {
                unread += 1;
                cli::complain(&error);
            }
        }
        unread
    }

    /// A List is one place; what is on its own is one each.
    fn compare(&mut self, label: &Arc<str>, group: Group) {
        let documents = group.documents.len() as u64;
        let objects = group.documents.into_iter();
        let objects = objects.filter_map(|document| match document {
            Document::Object(object) => Some(object),
            Document::Other(_) => None,
        });
        let objects: Vec<_> = objects.collect();
        self.objects += objects.len() as u64;
        self.others += documents.saturating_sub(objects.len() as u64);
        let place = |objects| Place {
            label: Arc::clone(label),
            objects,
        };
        let places: Vec<Place> = if group.related {
            vec![place(objects.into())]
        } else {
            let each = objects.into_iter();
            each.map(|object| place([object].into())).collect()
        };
        for place in places {
            self.comparer.add(&place, self.now_ms, &|| false);
        }
    }

    /// The result. Prints hints on what would surprise whoever sees the totals alone.
    fn finish(self) -> Comparison {
        let found = self.comparer.finish();
        if self.others > 0 {
            let others = tables::counted(self.others, "document");
            cli::hint(&format!("left out {others}: not a Kubernetes object"));
        }
        if found.objects == 0 {
            let read = tables::counted(self.objects, "object");
            cli::hint(&format!(
                "{read} read; the same interpreters judge them with either component"
            ));
        }
        found
    }
}

/// As a server reports on a candidate: the old component is what is live.
fn report(old: &Interpreter, new: &Interpreter, found: Comparison) -> ShadowReport {
    let version = |it: &Interpreter| ShadowedVersion {
        digest: it.by().digest.clone(),
        version: it.by().version.to_string(),
    };
    shadow_report(&new.by().name, Some(version(old)), version(new), found)
}

fn print(report: &ShadowReport, output: OutputFormat) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match output {
        OutputFormat::Table => tables::diff(&mut out, report)?,
        OutputFormat::Json => {
            serde_json::to_writer_pretty(&mut out, report).map_err(io::Error::from)?;
            writeln!(out)?;
        }
    }
    Ok(out.flush()?)
}
