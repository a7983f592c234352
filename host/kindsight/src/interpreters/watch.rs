//! Takes what lies in the watched directory into the catalog.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_catalog::{Catalog, IncomingComponent, Refusal};
use kindsight_folder::{Change, Folder, Watcher};
use kindsight_model::{InterpreterName, LoadStep, Source};
use tokio_util::sync::CancellationToken;

use super::folder::{self, Notes, PACE, QUIET_FOR};

/// How long after a fault of this host a file is taken once more: faults such as a full disk or a
/// compiler that found no memory pass, and the file is not to blame.
const RETRY: Duration = Duration::from_secs(30);

/// Runs until it is told to stop.
///
/// What the catalog knows of the directory from the last run counts until the files are seen again;
/// files that went before they were seen, while nobody watched for one, are taken out too.
pub(crate) async fn watch(
    catalog: Arc<Catalog>,
    path: PathBuf,
    component_bytes_max: usize,
    shutdown: CancellationToken,
) {
    let folder = Folder::new(path.clone(), folder::options(component_bytes_max));
    let mut watch = Watch {
        catalog,
        watcher: Watcher::new(folder, PACE),
        notes: Notes::new(path.clone()),
        path,
        gone: BTreeSet::new(),
        again: BTreeMap::new(),
    };
    // Nothing at first: what the catalog knows has to be remembered before the first look.
    let mut changes = Vec::new();
    loop {
        let handle = move || {
            watch.handle(changes, Instant::now());
            watch
        };
        // Compiling and trying block.
        match tokio::task::spawn_blocking(handle).await {
            Ok(back) => watch = back,
            Err(error) => {
                tracing::error!(%error, "the watch on the interpreters' directory broke");
                return;
            }
        }
        let Some(next) = watch.watcher.next(&shutdown).await else {
            return;
        };
        changes = next;
    }
}

struct Watch {
    catalog: Arc<Catalog>,
    watcher: Watcher,
    notes: Notes,
    path: PathBuf,
    /// Files that the catalog knows and that are gone.
    gone: BTreeSet<String>,
    /// Files that were not taken, though nothing is wrong with them, and when they are tried again.
    again: BTreeMap<String, Again>,
}

/// When a file is taken another time though nobody wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    /// Another file stands in its way: it has the same name in it.
    WhenAnotherGoes,
    At(Instant),
}

impl Watch {
    /// Has the folder report files that the catalog knows and that are gone, though nobody saw them:
    /// those of an earlier run, and those that another host over the same store took.
    fn remember(&mut self, now: Instant) {
        let files = self.catalog.files();
        self.watcher
            .with_folder(|folder| folder.remember(files, now));
    }

    /// Handles the changes of one look.
    fn handle(&mut self, changes: Vec<Change>, now: Instant) {
        self.remind(|again| matches!(again, Again::At(at) if at <= now));
        self.gone = self.find_gone(&changes);
        // What is gone comes last: a file that was given another name has taken over what it filled
        // by then, and nobody saw its Kinds judged otherwise.
        for change in changes {
            self.take(change, now);
        }
        self.remember(now);
    }

    /// Has the folder report these files once more, at once.
    fn remind(&mut self, is_due: impl Fn(Again) -> bool) {
        let due = self.again.extract_if(.., |_, again| is_due(*again));
        for (file, _) in due {
            self.watcher
                .with_folder(|folder| folder.report_again(&file));
        }
    }

    /// The files whose places others may take: those that are removed now or at a later look.
    fn find_gone(&mut self, changes: &[Change]) -> BTreeSet<String> {
        let removed = changes.iter().filter_map(|change| match change {
            Change::Removed { file } => Some(file),
            _ => None,
        });
        let removed: BTreeSet<&String> = removed.collect();
        let files = self.catalog.files().into_iter();
        self.watcher.with_folder(|folder| {
            let gone = files.filter(|file| removed.contains(file) || folder.is_gone(file));
            gone.collect()
        })
    }

    /// Empties what a file fills, but for the name that it has in it now.
    fn take_out(&mut self, file: &str, but: Option<&InterpreterName>) {
        for name in self.catalog.names_in(file) {
            if Some(&name) == but {
                continue;
            }
            if let Err(error) = self.catalog.remove(&name, Source::Directory) {
                tracing::error!(file, %name, %error, "the interpreter of a file that is gone stays");
            }
            self.remind(|again| again == Again::WhenAnotherGoes);
        }
    }

    fn take(&mut self, change: Change, now: Instant) {
        match change {
            Change::Removed { file } => {
                self.again.remove(&file);
                self.notes.remove(&file);
                self.take_out(&file, None);
            }
            Change::Rejected { file, reason } => {
                self.again.remove(&file);
                tracing::warn!(file, why = %reason, "interpreter refused: received");
                self.notes.write(&file, &format!("received: {reason}"));
            }
            Change::LeftOut(entries) => {
                let folder = self.path.display();
                tracing::warn!(%folder, %entries, "some interpreters of the folder are left out");
            }
            Change::Unavailable { reason } => {
                let folder = self.path.display();
                tracing::warn!(%folder, reason, "the folder of interpreters cannot be listed; what is live stays");
            }
            Change::Available => {
                let folder = self.path.display();
                tracing::info!(%folder, "the folder of interpreters is back");
            }
            Change::Complete => self.notes.remove_orphans(),
            Change::Changed { file, bytes, .. } => {
                self.again.remove(&file);
                let component = IncomingComponent {
                    source: Source::Directory,
                    name: InterpreterName::from_lossy(file.trim_end_matches(".wasm")),
                    file: Some(file.clone()),
                    gone: self.gone.clone(),
                    expected: None,
                    is_candidate: false,
                    bytes,
                };
                match self.catalog.admit(&component) {
                    Ok(report) => {
                        self.notes.remove(&file);
                        self.take_out(&file, Some(&report.name));
                    }
                    Err(refusal) => self.refuse(file, &refusal, now),
                }
            }
        }
    }

    fn refuse(&mut self, file: String, refusal: &Refusal, now: Instant) {
        self.notes.write(&file, &refusal.to_string());
        let again = match refusal {
            // The catalog has logged what a step refused.
            Refusal::Refused { step, .. } if *step == LoadStep::Published => Again::WhenAnotherGoes,
            Refusal::Refused { .. } => return,
            // Another host was faster, most likely with the same file.
            Refusal::Conflict(_) => Again::At(now + QUIET_FOR),
            _ => {
                tracing::error!(file, %refusal, "interpreter not taken; it is tried again");
                Again::At(now + RETRY)
            }
        };
        self.again.insert(file, again);
    }
}
