//! The log of refused components.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Instant;

use kindsight_interpreter::LogRate;
use kindsight_model::{Digest, InterpreterName, LoadStep, Source};

use crate::catalog::locked;
use crate::state::clip;

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

/// A component that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedComponent {
    /// The time, in Unix milliseconds.
    pub time_ms: i64,
    /// Its source.
    pub source: Source,
    /// The name under which it was sent, if any.
    pub name: Option<InterpreterName>,
    /// Its file in the watched directory.
    pub file: Option<String>,
    /// The digest of its bytes.
    pub digest: Digest,
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
            digest: Digest::of(&number.to_le_bytes()),
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
