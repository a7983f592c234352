//! The watched directory of components. Its files are admitted to the catalog.

mod notes;
mod settings_files;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_api::interpreters::{OutcomeStatus, Refusal};
use kindsight_folder::{Change, Folder, FolderOptions, Pace, Rejection, Watcher};
use kindsight_model::{InterpreterName, LoadStep, Source};
use tokio_util::sync::CancellationToken;

use crate::catalog::Catalog;
use crate::declared::DeclaredIn;
use crate::follow::Panicked;
use crate::incoming::IncomingComponent;
use notes::Notes;
use settings_files::{SettingsFiles, component_of};

/// The time for which a file must stay the same before it is used, and the polling interval without
/// notifications of the kernel. A file is reported within a second. This is fast enough for
/// components, which are compiled and tried before use, and most writers have finished by that
/// time.
const QUIET_FOR: Duration = Duration::from_millis(500);

/// The times of the looks at the directory.
const PACE: Pace = Pace {
    quiet_within: QUIET_FOR,
    poll_every: QUIET_FOR,
};

/// Maximum number of files of the directory that are read, the first ones by name. At each look,
/// each file costs a few system calls, and a thousand files cost some milliseconds. No host has a
/// thousand interpreters.
const FILES_MAX: usize = 1000;

/// The options for a directory of components with this size limit in bytes. One look passes on at
/// most the bytes of one component.
fn options(component_bytes_max: usize) -> FolderOptions {
    FolderOptions {
        accepts: is_read,
        files_max: FILES_MAX,
        file_bytes_max: component_bytes_max,
        look_bytes_max: component_bytes_max,
        quiet_for: QUIET_FOR,
    }
}

/// Returns whether a name is the name of a component. Editors and copying tools keep unfinished
/// files under other names, and the internal entries of a ConfigMap volume begin with a dot.
fn is_component(name: &str) -> bool {
    let stem = name.strip_suffix(".wasm");
    stem.is_some_and(|stem| !stem.is_empty() && !stem.starts_with('.') && !stem.contains('/'))
}

/// Returns whether the file with a name is read: a component, or the settings of one.
fn is_read(name: &str) -> bool {
    is_component(name) || component_of(name).is_some()
}

/// The time after a fault of this host until a file is admitted again. Faults such as a full disk
/// or a lack of memory are temporary, and are not caused by the file.
const RETRY_AFTER: Duration = Duration::from_secs(30);

/// A watched directory of components.
#[derive(Debug, Clone)]
pub struct ComponentDirectory {
    /// The path of the directory.
    pub path: PathBuf,
    /// Maximum size of a file in bytes. A larger file is refused without being read.
    pub component_bytes_max: usize,
    /// True if a file may use the name of a built-in interpreter without judging all of its Kinds.
    pub replaces_built_in: bool,
}

/// Admits the components of a directory to the catalog as its files change, until `shutdown`. A file
/// `<stem>.settings.json`, `.yaml` or `.yml` has the settings of `<stem>.wasm`, and is admitted
/// together with it.
///
/// The catalog's state of the directory from the last run stays valid until the files are seen
/// again. Files that were removed while no process watched are removed from the catalog too.
///
/// # Errors
/// [`Panicked`]: changes of the directory are no longer admitted.
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
        settings: SettingsFiles::default(),
        components: BTreeSet::new(),
        is_listed: false,
    };
    // Empty at first, because the files that the catalog knows must be registered before the first
    // look.
    let mut changes = Vec::new();
    loop {
        let handle = move || {
            watch.handle(changes, Instant::now());
            watch
        };
        // Compiling and trying block for up to two minutes. A stop does not wait for them.
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
    /// Files that the catalog knows and that no longer exist.
    gone: BTreeSet<String>,
    /// Valid files that were not admitted, and when they are tried again.
    retries: BTreeMap<String, Retry>,
    /// The files with settings.
    settings: SettingsFiles,
    /// The components of the directory, also those that are refused.
    components: BTreeSet<String>,
    /// True once every file was reported.
    is_listed: bool,
}

/// The time at which an unchanged file is admitted again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Retry {
    /// Another file with the same name or Kinds inside prevents it.
    WhenAnotherGoes,
    At(Instant),
}

impl DirectoryWatch {
    /// Registers files that the catalog knows and that no longer exist, so that the folder reports
    /// their removal: files of an earlier run, and files of another host with the same store.
    fn remember(&mut self, now: Instant) {
        let files = self.catalog.files(Source::Directory);
        self.watcher
            .with_folder(|folder| folder.remember(files, now));
    }

    /// Handles the changes of one look.
    fn handle(&mut self, changes: Vec<Change>, now: Instant) {
        self.remind(|retry| matches!(retry, Retry::At(at) if at <= now));
        self.gone = self.find_gone(&changes);
        // Removals are last: after a rename, the new file has already taken over the versions of
        // the old one, so that other interpreters never judge its Kinds in between.
        let changes = self.take_settings(changes);
        for change in changes {
            self.handle_change(change, now);
        }
        self.remember(now);
    }

    /// Keeps the changed settings, and returns the other changes. Component and settings are
    /// admitted together, so each component with changed settings is reported again, unless it
    /// changed too.
    fn take_settings(&mut self, changes: Vec<Change>) -> Vec<Change> {
        let mut others = Vec::new();
        let mut touched = BTreeSet::new();
        for change in changes {
            let of = change.file().and_then(component_of);
            let (Some(component), Some(file)) = (of, change.file().map(str::to_owned)) else {
                others.push(change);
                continue;
            };
            touched.insert(component.clone());
            self.notes.remove(&file);
            match change {
                Change::Changed { bytes, .. } => self.settings.put(component, file, &bytes),
                Change::Rejected { reason, .. } => {
                    self.settings.reject(component, file, reason.to_string());
                }
                _ => self.settings.remove(&component, &file),
            }
        }
        let changed = others.iter().filter_map(Change::file);
        let changed: BTreeSet<&str> = changed.collect();
        for component in touched
            .iter()
            .filter(|file| !changed.contains(file.as_str()))
        {
            self.watcher
                .with_folder(|folder| folder.report_again(component));
        }
        self.is_listed |= others.contains(&Change::Complete);
        if self.is_listed && (!touched.is_empty() || others.contains(&Change::Complete)) {
            self.refuse_orphans(&others);
        }
        others
    }

    /// Refuses settings without a component.
    fn refuse_orphans(&self, changes: &[Change]) {
        let arriving = changes.iter().filter_map(Change::file).map(str::to_owned);
        let present = arriving.chain(self.components.iter().cloned()).collect();
        for (component, file) in self.settings.without(&present) {
            let why = format!("`{component}`, whose settings it has, is not beside it");
            self.refuse_settings(&file, &why);
        }
    }

    fn refuse_settings(&self, file: &str, why: &str) {
        self.catalog.refuse_unread(Source::Directory, file, why);
        self.notes.write(file, &format!("received: {why}"));
    }

    /// Admits a component with its settings.
    fn admit(&mut self, file: String, bytes: Vec<u8>, now: Instant) {
        self.components.insert(file.clone());
        if self.settings.are_awaited(&self.directory.path, &file) {
            self.retries.insert(file, Retry::At(now + QUIET_FOR));
            return;
        }
        let settings = match self.settings.of(&file) {
            Ok(settings) => settings,
            Err(unusable) => {
                self.refuse_settings(&unusable.file, &unusable.why);
                return;
            }
        };
        let component = IncomingComponent {
            source: Source::Directory,
            name: None,
            file: Some(file.clone()),
            gone: self.gone.clone(),
            settings,
            expected: None,
            is_candidate: false,
            replaces_built_in: self.directory.replaces_built_in,
            bytes,
        };
        match self.catalog.admit(&component) {
            Ok(report) => {
                self.notes.remove(&file);
                if let Some(DeclaredIn::File(settings)) =
                    component.settings.map(|settings| settings.place)
                {
                    self.notes.remove(&settings);
                }
                self.take_out(&file, Some(&report.name));
                // The file may have given up a name or Kinds. Refusals remind no file, so two files
                // cannot remind each other without end.
                if report.status != OutcomeStatus::Unchanged {
                    self.remind(|retry| retry == Retry::WhenAnotherGoes);
                }
            }
            Err(refusal) => self.refuse(file, &refusal, now),
        }
    }

    /// Causes the folder to report these files again immediately.
    fn remind(&mut self, is_due: impl Fn(Retry) -> bool) {
        let due = self.retries.extract_if(.., |_, retry| is_due(*retry));
        for (file, _) in due {
            self.watcher
                .with_folder(|folder| folder.report_again(&file));
        }
    }

    /// The files whose versions others may take over: files that are removed now or at a later
    /// look.
    fn find_gone(&mut self, changes: &[Change]) -> BTreeSet<String> {
        let removed = changes.iter().filter_map(|change| match change {
            Change::Removed { file } => Some(file),
            _ => None,
        });
        let removed: BTreeSet<&String> = removed.collect();
        let files = self.catalog.files(Source::Directory).into_iter();
        self.watcher.with_folder(|folder| {
            let gone = files.filter(|file| removed.contains(file) || folder.is_gone(file));
            gone.collect()
        })
    }

    /// Removes the versions of a file, except those with the name that is in the file now.
    fn take_out(&mut self, file: &str, but: Option<&InterpreterName>) {
        for name in self.catalog.names_in(Source::Directory, file) {
            if Some(&name) == but {
                continue;
            }
            if let Err(error) = self.catalog.remove(&name, Source::Directory) {
                tracing::error!(file, %name, %error, "the interpreter of a removed file could not be removed");
            }
            self.remind(|retry| retry == Retry::WhenAnotherGoes);
        }
    }

    fn handle_change(&mut self, change: Change, now: Instant) {
        match change {
            Change::Removed { file } => {
                self.retries.remove(&file);
                self.components.remove(&file);
                self.notes.remove(&file);
                self.take_out(&file, None);
            }
            Change::Rejected { file, reason } => {
                self.retries.remove(&file);
                self.components.insert(file.clone());
                let why = match reason {
                    Rejection::TooLarge { .. } => {
                        format!("{reason}: `kindsight serve --component-bytes-max` raises it")
                    }
                    reason => reason.to_string(),
                };
                self.catalog.refuse_unread(Source::Directory, &file, &why);
                self.notes.write(&file, &format!("received: {why}"));
            }
            Change::LeftOut(entries) if entries.is_empty() => {
                let folder = self.directory.path.display();
                tracing::info!(%folder, "all interpreters of the folder are read again");
            }
            Change::LeftOut(entries) => {
                let folder = self.directory.path.display();
                tracing::warn!(%folder, %entries, "some interpreters of the folder are not read");
            }
            Change::Unavailable { reason } => {
                let folder = self.directory.path.display();
                tracing::warn!(%folder, reason, "the folder of interpreters cannot be listed; live interpreters are kept");
            }
            Change::Available => {
                let folder = self.directory.path.display();
                tracing::info!(%folder, "the folder of interpreters can be listed again");
            }
            Change::Complete => self.notes.remove_orphans(),
            Change::Changed { file, bytes, .. } => {
                self.retries.remove(&file);
                self.admit(file, bytes, now);
            }
        }
    }

    fn refuse(&mut self, file: String, refusal: &Refusal, now: Instant) {
        self.notes.write(&file, &refusal.to_string());
        let retry = match refusal {
            // The catalog has logged the refusal.
            Refusal::Refused { step, .. } if *step == LoadStep::Published => Retry::WhenAnotherGoes,
            Refusal::Refused { .. } => return,
            // Another host was faster, most likely with the same file.
            Refusal::Conflict(_)
            | Refusal::Changed(_)
            | Refusal::Busy(_)
            | Refusal::Unavailable(_) => Retry::At(now + QUIET_FOR),
            _ => {
                tracing::error!(file, %refusal, "the interpreter was not admitted; trying again later");
                Retry::At(now + RETRY_AFTER)
            }
        };
        self.retries.insert(file, retry);
    }
}
