//! The watched directory of components: its files are admitted to the catalog.

mod notes;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_api::interpreters::Refusal;
use kindsight_folder::{Change, Folder, FolderOptions, Pace, Watcher};
use kindsight_model::{InterpreterName, LoadStep, Source};
use tokio_util::sync::CancellationToken;

use crate::catalog::Catalog;
use crate::follow::Panicked;
use crate::incoming::IncomingComponent;
use notes::Notes;

/// A file counts when it was the same for so long, and the directory is looked at so often where the
/// kernel does not tell of a change. So a file is reported within a second: quick enough for something
/// that is compiled and tried before it is used, and slow enough for most writers to be done.
const QUIET_FOR: Duration = Duration::from_millis(500);

/// The times of the looks at the directory.
const PACE: Pace = Pace {
    quiet_within: QUIET_FOR,
    poll_every: QUIET_FOR,
};

/// The most files of the directory that are looked at, the first by name. Each costs a few system
/// calls at each look, and a thousand of them some milliseconds; no host has a thousand interpreters.
const FILES_MAX: usize = 1000;

/// Options for a directory of components of at most so many bytes each. One look hands on no more
/// bytes than one component may have.
fn options(component_bytes_max: usize) -> FolderOptions {
    FolderOptions {
        accepts: is_component,
        files_max: FILES_MAX,
        file_bytes_max: component_bytes_max,
        look_bytes_max: component_bytes_max,
        quiet_for: QUIET_FOR,
    }
}

/// Returns whether a name is that of a component. Editors and copying tools keep unfinished files under
/// other names, and what a ConfigMap needs for itself begins with a dot.
fn is_component(name: &str) -> bool {
    let stem = name.strip_suffix(".wasm");
    stem.is_some_and(|stem| !stem.is_empty() && !stem.starts_with('.') && !stem.contains('/'))
}

/// The time after a fault of this host until a file is admitted once more: faults such as a full disk or a
/// compiler that found no memory pass, and the file is not to blame.
const RETRY_AFTER: Duration = Duration::from_secs(30);

/// A watched directory of components.
#[derive(Debug, Clone)]
pub struct ComponentDirectory {
    /// Its path.
    pub path: PathBuf,
    /// Largest file in bytes; a larger one is refused without being read.
    pub component_bytes_max: usize,
    /// True if a file may take the name of a built-in interpreter without judging all of its Kinds.
    pub replaces_built_in: bool,
}

/// Admits the components of a directory to the catalog as its files change, until `shutdown`.
///
/// What the catalog knows of the directory from the last run counts until the files are seen again;
/// files that went before they were seen, while nobody watched for one, are taken out too.
///
/// # Errors
/// [`Panicked`]: changes of the directory are not admitted any more.
pub async fn watch_directory(
    catalog: Arc<Catalog>,
    directory: ComponentDirectory,
    shutdown: CancellationToken,
) -> Result<(), Panicked> {
    let path = directory.path.clone();
    let folder = Folder::new(path.clone(), options(directory.component_bytes_max));
    let mut watch = DirectoryWatch {
        catalog,
        watcher: Watcher::new(folder, PACE),
        notes: Notes::new(path),
        directory,
        gone: BTreeSet::new(),
        retries: BTreeMap::new(),
    };
    // Nothing at first: what the catalog knows has to be remembered before the first look.
    let mut changes = Vec::new();
    loop {
        let handle = move || {
            watch.handle(changes, Instant::now());
            watch
        };
        // Compiling and trying block, for up to a minute: a stop does not wait for them.
        let handled = tokio::task::spawn_blocking(handle);
        let Some(handled) = shutdown.run_until_cancelled(handled).await else {
            return Ok(());
        };
        watch = handled.map_err(|_| Panicked)?;
        let Some(next) = watch.watcher.next(&shutdown).await else {
            return Ok(());
        };
        changes = next;
    }
}

struct DirectoryWatch {
    catalog: Arc<Catalog>,
    watcher: Watcher,
    notes: Notes,
    directory: ComponentDirectory,
    /// Files that the catalog knows and that are gone.
    gone: BTreeSet<String>,
    /// Files that were not admitted, though nothing is wrong with them, and when they are tried again.
    retries: BTreeMap<String, Retry>,
}

/// The time at which a file is admitted again though nobody wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Retry {
    /// Another file stands in its way: it has the same name in it.
    WhenAnotherGoes,
    At(Instant),
}

impl DirectoryWatch {
    /// Has the folder report files that the catalog knows and that are gone, though nobody saw them:
    /// those of an earlier run, and those that another host over the same store took.
    fn remember(&mut self, now: Instant) {
        let files = self.catalog.files();
        self.watcher
            .with_folder(|folder| folder.remember(files, now));
    }

    /// Handles the changes of one look.
    fn handle(&mut self, changes: Vec<Change>, now: Instant) {
        self.remind(|retry| matches!(retry, Retry::At(at) if at <= now));
        self.gone = self.find_gone(&changes);
        // What is gone comes last: a file that was given another name has taken over what it filled
        // by then, so its Kinds were never judged otherwise.
        for change in changes {
            self.handle_change(change, now);
        }
        self.remember(now);
    }

    /// Has the folder report these files once more, at once.
    fn remind(&mut self, is_due: impl Fn(Retry) -> bool) {
        let due = self.retries.extract_if(.., |_, retry| is_due(*retry));
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
            self.remind(|retry| retry == Retry::WhenAnotherGoes);
        }
    }

    fn handle_change(&mut self, change: Change, now: Instant) {
        match change {
            Change::Removed { file } => {
                self.retries.remove(&file);
                self.notes.remove(&file);
                self.take_out(&file, None);
            }
            Change::Rejected { file, reason } => {
                self.retries.remove(&file);
                tracing::warn!(file, why = %reason, "interpreter refused: received");
                self.notes.write(&file, &format!("received: {reason}"));
            }
            Change::LeftOut(entries) if entries.is_empty() => {
                let folder = self.directory.path.display();
                tracing::info!(%folder, "all interpreters of the folder are looked at again");
            }
            Change::LeftOut(entries) => {
                let folder = self.directory.path.display();
                tracing::warn!(%folder, %entries, "some interpreters of the folder are left out");
            }
            Change::Unavailable { reason } => {
                let folder = self.directory.path.display();
                tracing::warn!(%folder, reason, "the folder of interpreters cannot be listed; what is live stays");
            }
            Change::Available => {
                let folder = self.directory.path.display();
                tracing::info!(%folder, "the folder of interpreters is back");
            }
            Change::Complete => self.notes.remove_orphans(),
            Change::Changed { file, bytes, .. } => {
                self.retries.remove(&file);
                let component = IncomingComponent {
                    source: Source::Directory,
                    name: None,
                    file: Some(file.clone()),
                    gone: self.gone.clone(),
                    expected: None,
                    is_candidate: false,
                    replaces_built_in: self.directory.replaces_built_in,
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
        let retry = match refusal {
            // The catalog has logged what a step refused.
            Refusal::Refused { step, .. } if *step == LoadStep::Published => Retry::WhenAnotherGoes,
            Refusal::Refused { .. } => return,
            // Another host was faster, most likely with the same file.
            Refusal::Conflict(_)
            | Refusal::Changed(_)
            | Refusal::Busy(_)
            | Refusal::Unavailable(_) => Retry::At(now + QUIET_FOR),
            _ => {
                tracing::error!(file, %refusal, "interpreter not admitted; it is tried again");
                Retry::At(now + RETRY_AFTER)
            }
        };
        self.retries.insert(file, retry);
    }
}
