//! Records of refused components: the log of refusals, and the history of a known name.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Instant;

use kindsight_api::interpreters::Outcome;
use kindsight_interpreter::LogRate;
use kindsight_model::{CatalogAction, Digest, InterpreterName, LoadStep, Source, VersionOutcome};

use crate::catalog::{Catalog, locked};
use crate::commit::Edit;
use crate::incoming::IncomingComponent;
use crate::reconcile::RefusedSettings;
use crate::snapshot::Loaded;
use crate::state::{Version, clip};

/// Maximum number of recorded refusals: enough for an operator after a failed roll-out of all
/// interpreters. Each needs at most about 2.5 KB.
const REFUSED_MAX: usize = 64;

/// Maximum number of lines about refused components, and about refused commands, that are logged in
/// [`LogRate`]'s span. An operator causes fewer.
const REFUSAL_LINES_PER_SPAN_MAX: u32 = 20;

/// Returns whether another line about a refusal may be logged, because clients can cause them.
/// First logs how many lines were dropped before.
pub(crate) fn may_log(rate: &LogRate) -> bool {
    let (may_log, dropped) = rate.count(REFUSAL_LINES_PER_SPAN_MAX, Instant::now());
    if dropped > 0 {
        tracing::warn!(
            "{dropped} lines about refusals were dropped, because there were too many in a short time"
        );
    }
    may_log
}

impl Catalog {
    /// Records the refusal of a file or an artifact that was not read, for example because it is too
    /// large, or of scripts in a ConfigMap, in the log of refusals. Called once for each version of
    /// the file.
    pub fn refuse_unread(&self, source: Source, file: &str, why: &str) {
        if may_log(&self.refusal_lines) {
            let step = LoadStep::Received;
            tracing::warn!(%source, file, "interpreter refused: {step}: {why}");
        }
        self.refused.add(RefusedComponent {
            time_ms: self.now_ms(),
            source,
            name: None,
            file: Some(file.to_owned()),
            digest: None,
            step: LoadStep::Received,
            why: why.to_owned(),
        });
    }

    /// Records that the configuration declares settings that the live version refuses.
    pub(crate) fn note_refused_settings(&self, refused: RefusedSettings) {
        let RefusedSettings { name, source, why } = refused;
        let why = format!(
            "the settings of `{name}` in the configuration of the server do not fit its live version, and the present ones are kept: {why}"
        );
        if may_log(&self.refusal_lines) {
            tracing::error!(interpreter.name = %name, "{why}");
        }
        self.refused.add(RefusedComponent {
            time_ms: self.now_ms(),
            source,
            name: Some(name),
            file: None,
            digest: None,
            step: LoadStep::Published,
            why,
        });
    }

    /// Records in the log of refusals that a candidate was not promoted. It remains the candidate.
    pub(crate) fn note_refused_candidate(
        &self,
        name: &InterpreterName,
        version: Option<Version>,
        why: &str,
    ) {
        self.refused.add(RefusedComponent {
            time_ms: self.now_ms(),
            source: Source::Upload,
            name: Some(name.clone()),
            file: None,
            digest: version.map(|version| version.digest),
            step: LoadStep::Tried,
            why: why.to_owned(),
        });
    }

    /// Records the refusal of an upload that was not read because it is too large. The name is the
    /// one under which it was sent.
    pub fn refuse_unread_upload(&self, name: Option<InterpreterName>, why: &str) {
        if may_log(&self.refusal_lines) {
            let step = LoadStep::Received;
            let sent_as = name.as_ref().map_or("", InterpreterName::as_str);
            tracing::warn!(sent_as, "interpreter refused: {step}: {why}");
        }
        self.refused.add(RefusedComponent {
            time_ms: self.now_ms(),
            source: Source::Upload,
            name,
            file: None,
            digest: None,
            step: LoadStep::Received,
            why: why.to_owned(),
        });
    }

    /// Records a refusal where operators look: in the log of refusals, and in the history of its
    /// name if the name is known. No other record remains of an unknown name.
    pub(crate) fn record_refusal(
        &self,
        component: &IncomingComponent,
        digest: &Digest,
        step: LoadStep,
        why: &str,
    ) {
        let IncomingComponent { source, name, .. } = component;
        let file = component.file.as_deref();
        if may_log(&self.refusal_lines) {
            let sent_as = name.as_ref().map_or("", InterpreterName::as_str);
            let sent_as = file.unwrap_or(sent_as);
            tracing::warn!(%source, sent_as, %digest, "interpreter refused: {step}: {why}");
        }
        self.refused.add(RefusedComponent {
            time_ms: self.now_ms(),
            source: *source,
            name: name.clone(),
            file: component.file.clone(),
            digest: Some(digest.clone()),
            step,
            why: why.to_owned(),
        });
        let why = format!("{step}: {why}");
        let filled = || file.and_then(|file| self.names_in(*source, file).into_iter().next());
        // The name inside the file is not known, but the name of the file's previous versions is.
        let Some(name) = name.clone().or_else(filled) else {
            return;
        };
        let recorded = self.transact(Loaded::new(), |_, _, state| {
            let Some(entry) = state.edit(&name) else {
                return Ok(Edit::Unchanged(()));
            };
            let report = Outcome {
                name: name.clone(),
                action: CatalogAction::Refuse,
                digest: Some(digest.clone()),
                version: None,
                status: entry.status(),
                detail: why.clone(),
                takes: Vec::new(),
            };
            let versions = entry.sources.entry(*source).or_default();
            // A version that is or was live keeps its state, because only the repeated upload was
            // refused.
            let known = versions.of(digest);
            if known.is_none_or(|version| version.outcome == VersionOutcome::Refused) {
                versions.refuse(self.version(digest, ""), &why);
            }
            entry.record(self.event(&report, Some(*source)));
            Ok(Edit::Changed(()))
        });
        if let Err(error) = recorded {
            tracing::error!(%error, "a refusal was not stored");
        }
    }
}

/// A component that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedComponent {
    /// The time, in Unix milliseconds.
    pub time_ms: i64,
    /// Its source.
    pub source: Source,
    /// The name under which it was sent, if any.
    pub name: Option<InterpreterName>,
    /// Its file in the watched directory, the reference to it, or the name of its ConfigMap.
    pub file: Option<String>,
    /// The digest of its bytes, or `None` if they were not read.
    pub digest: Option<Digest>,
    /// The step that refused it.
    pub step: LoadStep,
    /// The reason.
    pub why: String,
}

/// The last refusals. If a component is refused under an unknown name, this line is its only
/// record.
#[derive(Default)]
pub(crate) struct RefusedLog {
    refused: Mutex<VecDeque<RefusedComponent>>,
}

impl RefusedLog {
    /// Adds a refusal, and drops the oldest. The same component occurs only once under the same
    /// name or in the same file.
    pub(crate) fn add(&self, refused: RefusedComponent) {
        let why = clip(&refused.why);
        let refused = RefusedComponent { why, ..refused };
        let mut log = locked(&self.refused);
        log.retain(|known| {
            known.digest != refused.digest
                || known.name != refused.name
                || known.file != refused.file
        });
        log.push_front(refused);
        log.truncate(REFUSED_MAX);
    }

    pub(crate) fn newest_first(&self) -> Vec<RefusedComponent> {
        locked(&self.refused).iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_refusals_the_first_are_logged() {
        let rate = LogRate::default();
        assert_eq!((0..1000).filter(|_| may_log(&rate)).count(), 20);
    }

    #[test]
    fn the_last_refusals_are_remembered_each_once() {
        let log = RefusedLog::default();
        let refused = |number: i64| RefusedComponent {
            time_ms: number,
            source: Source::Upload,
            name: Some("junk".parse().expect("a name")),
            file: None,
            digest: Some(Digest::of(&number.to_le_bytes())),
            step: LoadStep::Validated,
            why: "x".repeat(10_000),
        };
        for number in 0..1000 {
            log.add(refused(number));
        }
        log.add(refused(990));
        let newest = log.newest_first();
        assert_eq!(newest.len(), REFUSED_MAX);
        assert_eq!((newest[0].time_ms, newest[1].time_ms), (990, 999));
        assert!(newest.iter().all(|refused| refused.why.len() <= 2048));
    }
}
