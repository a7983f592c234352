//! What one component says otherwise than another, of objects in files. No server is asked.
//!
//! Each of the two is put on top of the built-in interpreters, so that what neither judges, or only
//! one of them, goes to whom it would go to on a server.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use kindsight_interpreter::{
    Comparer, Comparison, Interpreter, Interpreters, Limits, Place, Published, SetMember,
};
use kindsight_model::Source;
use kindsight_rest::{ShadowReport, ShadowedVersion};

use crate::cli::{self, DemoOutput};
use crate::interpret::documents::{self, Document, Group};
use crate::interpret::input;
use crate::interpreters_command::args::DiffArgs;
use crate::interpreters_command::{requests, tables};
use crate::telemetry::{self, LogFormat};
use crate::{comparison, judge, live};

/// What the command ends with where verdicts would change: neither well nor badly.
const CHANGED: u8 = 3;

/// Runs the command; the answer says whether verdicts would change.
///
/// # Errors
/// When a component is refused, an input cannot be read, or the output cannot be written. What could
/// be read is compared and printed all the same.
pub(crate) fn run(args: &DiffArgs, output: DemoOutput) -> anyhow::Result<ExitCode> {
    telemetry::start("error", LogFormat::Text)?;
    let limits = Limits::default();
    let interpreters = live::start(limits.clone(), live::cache_folder().as_deref(), &[])?;
    let (old, new) = (
        load(&interpreters, &args.old)?,
        load(&interpreters, &args.new)?,
    );
    let sets = (set(&interpreters, &old)?, set(&interpreters, &new)?);
    let mut walk = Walk {
        comparer: Comparer::new(&limits, &sets.0, &sets.1),
        now_ms: args
            .now
            .map_or_else(judge::now_ms, jiff::Timestamp::as_millisecond),
        objects: 0,
        others: 0,
    };
    let unread = walk.read(args);
    let found = walk.finish();
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
    loaded.map_err(|error| live::refused(file, &error))
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

/// On its way through the inputs.
struct Walk {
    comparer: Comparer,
    now_ms: i64,
    objects: u64,
    /// What is no object: no interpreter is asked about it.
    others: u64,
}

impl Walk {
    /// Answers how many inputs could not be read to their end.
    fn read(&mut self, args: &DiffArgs) -> u64 {
        let mut unread = 0;
        for source in input::sources(&args.inputs) {
            let outcome = source.and_then(|mut source| {
                let label: Arc<str> = source.name.as_str().into();
                documents::read(&mut source, |group| {
                    self.take(&label, group);
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
    fn take(&mut self, label: &Arc<str>, group: Group) {
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

    /// What was found. Says beside it what would surprise whoever sees the totals alone.
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
        digest: it.by().digest.to_string(),
        version: it.by().version.to_string(),
    };
    comparison::report(&new.by().name, Some(version(old)), version(new), found)
}

fn print(report: &ShadowReport, output: DemoOutput) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match output {
        DemoOutput::Table => tables::diff(&mut out, report)?,
        DemoOutput::Json => {
            serde_json::to_writer_pretty(&mut out, report).map_err(io::Error::from)?;
            writeln!(out)?;
        }
    }
    Ok(out.flush()?)
}
