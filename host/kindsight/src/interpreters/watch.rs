//! Takes what lies in the watched directory into the catalog.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_catalog::{Catalog, IncomingComponent, Refusal};
use kindsight_model::{InterpreterName, LoadStep, Source};
use tokio_util::sync::CancellationToken;

use super::folder::{Folder, POLL, Seen};

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
    let mut watch = Watch {
        catalog,
        folder: Folder::new(path.clone(), component_bytes_max),
        path,
        away: BTreeSet::new(),
        gone: BTreeSet::new(),
        again: BTreeMap::new(),
        is_reminded: false,
    };
    loop {
        let look = move || {
            watch.look(Instant::now());
            watch
        };
        // Reading, compiling and trying block.
        match tokio::task::spawn_blocking(look).await {
            Ok(back) => watch = back,
            Err(error) => {
                tracing::error!(%error, "the watch on the interpreters' directory broke");
                return;
            }
        }
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(POLL) => {}
        }
    }
}

struct Watch {
    catalog: Arc<Catalog>,
    folder: Folder,
    path: PathBuf,
    /// Files that the catalog knows and that were away at the last look.
    away: BTreeSet<String>,
    /// Those of them that were away at the look before too: they are gone.
    gone: BTreeSet<String>,
    /// Files that were not taken, though nothing is wrong with them, and when they are tried again.
    again: BTreeMap<String, Again>,
    /// Some of them are to be tried now.
    is_reminded: bool,
}

/// When a file is taken another time though nobody wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    /// Another file stands in its way: it has the same name in it.
    WhenAnotherGoes,
    At(Instant),
}

impl Watch {
    fn look(&mut self, now: Instant) {
        self.remind(|again| matches!(again, Again::At(at) if at <= now));
        self.is_reminded = false;
        self.see_gone();
        for seen in self.folder.look(now) {
            self.take(seen, now);
        }
        // Last: a file that was given another name has taken over what it filled by now, and nobody
        // saw its Kinds judged otherwise.
        for file in std::mem::take(&mut self.gone) {
            self.take_out(&file, None);
        }
        // Not at the next look: until then nobody would judge what waited for another file to go.
        if std::mem::take(&mut self.is_reminded) {
            for seen in self.folder.look(now) {
                self.take(seen, now);
            }
        }
    }

    /// Has the folder tell these files once more when it is looked at.
    fn remind(&mut self, is_due: impl Fn(Again) -> bool) {
        let due = self.again.extract_if(.., |_, again| is_due(*again));
        for (file, _) in due {
            self.folder.tell_again(&file);
            self.is_reminded = true;
        }
    }

    /// Sees what was away at the look before and still is. A directory that cannot be listed may come
    /// back: then nothing is known to be gone.
    fn see_gone(&mut self) {
        let mut away = BTreeSet::new();
        if std::fs::read_dir(&self.path).is_ok() {
            // A link that leads nowhere is there: the folder says what becomes of it.
            let is_away = |file: &String| {
                let entry = std::fs::symlink_metadata(self.path.join(file));
                entry.is_err_and(|error| error.kind() == ErrorKind::NotFound)
            };
            away.extend(self.catalog.files().into_iter().filter(is_away));
        }
        let before = std::mem::replace(&mut self.away, away);
        self.gone = self.away.intersection(&before).cloned().collect();
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

    fn take(&mut self, seen: Seen, now: Instant) {
        match seen {
            Seen::Removed { file } => {
                self.again.remove(&file);
                self.take_out(&file, None);
            }
            Seen::Refused { file, why } => {
                self.again.remove(&file);
                tracing::warn!(file, why, "interpreter refused: received");
                self.folder.refused(&file, &format!("received: {why}"));
            }
            Seen::Changed { file, bytes, .. } => {
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
                        self.folder.accepted(&file);
                        self.take_out(&file, Some(&report.name));
                    }
                    Err(refusal) => self.refuse(file, &refusal, now),
                }
            }
        }
    }

    fn refuse(&mut self, file: String, refusal: &Refusal, now: Instant) {
        self.folder.refused(&file, &refusal.to_string());
        let again = match refusal {
            // The catalog has logged what a step refused.
            Refusal::Refused {
                step: LoadStep::Published,
                ..
            } => Again::WhenAnotherGoes,
            Refusal::Refused { .. } => return,
            // Another host was faster, most likely with the same file.
            Refusal::Conflict(_) => Again::At(now),
            _ => {
                tracing::error!(file, %refusal, "interpreter not taken; it is tried again");
                Again::At(now + RETRY)
            }
        };
        self.again.insert(file, again);
    }
}
