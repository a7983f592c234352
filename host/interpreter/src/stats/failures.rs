//! Inputs and objects on which calls failed recently: all of them are distinguished, and a few
//! inputs are kept.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kindsight_model::Object;

use crate::failed_input::FailedInput;
use crate::limits::{FAILED_INPUT_BYTES_MAX, FAILED_INPUTS_MAX, FAULTS_KNOWN_MAX};

/// Minimum time for which an input is known as failed, if the counters are read.
const KNOWN_FOR: Duration = Duration::from_mins(1);

/// Failed inputs of one interpreter. Locked when a call ends in a fault, and by readers.
#[derive(Default)]
pub(super) struct Failures(Mutex<RecentFailures>);

#[derive(Default)]
struct RecentFailures {
    /// Uses a random key, so that no author can make two inputs that count as one.
    hasher: RandomState,
    inputs: Known,
    objects: Known,
    turned: Option<Instant>,
    kept: Vec<FailedInput>,
}

/// Hashes of inputs, or of objects, that failed within the last minute.
#[derive(Default)]
struct Known {
    now: HashSet<u64>,
    before: HashSet<u64>,
    /// Number of failures with a known hash.
    repeated: u64,
}

/// Numbers of failed calls that do not count, because the same failed before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Repeated {
    /// Number of calls with an input that had failed.
    pub(super) inputs: u64,
    /// Number of calls for an object for which a call had failed.
    pub(super) objects: u64,
}

impl Failures {
    /// Returns whether a call with the same input failed within the last minute. If so, counts it
    /// as repeated.
    pub(super) fn is_repeated(&self, input: &[u8]) -> bool {
        let mut state = self.state();
        let hash = state.hasher.hash_one(input);
        state.inputs.is_repeated(hash)
    }

    /// Records that a call for this object failed. Objects are distinguished by Kind, namespace,
    /// name and uid.
    pub(super) fn note_object(&self, object: &Object) {
        let mut state = self.state();
        let identity = (&object.gvk, &object.namespace, &object.name, &object.uid);
        let hash = state.hasher.hash_one(identity);
        state.objects.is_repeated(hash);
    }

    /// Numbers of failed calls that do not count.
    pub(super) fn repeated(&self) -> Repeated {
        let state = self.state();
        Repeated {
            inputs: state.inputs.repeated,
            objects: state.objects.repeated,
        }
    }

    /// Forgets, in two steps, the inputs that failed more than a minute ago.
    pub(super) fn forget(&self, now: Instant) {
        let mut state = self.state();
        let turned = *state.turned.get_or_insert(now);
        if now.saturating_duration_since(turned) >= KNOWN_FOR {
            state.turned = Some(now);
            state.inputs.turn();
            state.objects.turn();
            if state.inputs.before.is_empty() {
                state.kept = Vec::new();
            }
        }
    }

    /// Stores an input if there is space. The smallest inputs are kept.
    pub(super) fn keep(&self, input: FailedInput) {
        let mut state = self.state();
        let kept = &mut state.kept;
        kept.retain(|kept| kept.object.json != input.object.json);
        kept.push(input);
        kept.sort_by_key(FailedInput::bytes);
        let mut bytes = 0_usize;
        let fitting = kept.iter().take(FAILED_INPUTS_MAX).take_while(|kept| {
            bytes = bytes.saturating_add(kept.bytes());
            bytes <= FAILED_INPUT_BYTES_MAX
        });
        let fitting = fitting.count();
        // A single input is kept whatever its size.
        kept.truncate(fitting.max(1));
    }

    /// The stored inputs, smallest first.
    pub(super) fn kept(&self) -> Vec<FailedInput> {
        self.state().kept.clone()
    }

    fn state(&self) -> MutexGuard<'_, RecentFailures> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// Returns whether this hash is known, and counts it as repeated if so. Else it is known from
    /// now on.
    fn is_repeated(&mut self, hash: u64) -> bool {
        let is_known = self.before.contains(&hash) || self.now.contains(&hash);
        if is_known {
            self.repeated += 1;
        } else {
            if self.now.len() >= FAULTS_KNOWN_MAX {
                self.turn();
            }
            self.now.insert(hash);
        }
        is_known
    }

    fn turn(&mut self) {
        self.before = std::mem::take(&mut self.now);
    }

    #[cfg(test)]
    fn count(&self) -> usize {
        self.now.len() + self.before.len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::related::Siblings;

    fn input(bytes: usize) -> FailedInput {
        let json = r#"{"kind": "K", "pad": ""}"#;
        let pad = "x".repeat(bytes - json.len());
        let json = json.replace(r#""pad": """#, &format!(r#""pad": "{pad}""#));
        FailedInput {
            object: Object::from_json(json).expect("an object"),
            related: Arc::default(),
            now_ms: 0,
        }
    }

    #[test]
    fn an_input_counts_once_a_minute() {
        let (failures, start) = (Failures::default(), Instant::now());
        failures.forget(start);
        assert!(!failures.is_repeated(b"a"));
        assert!(failures.is_repeated(b"a"));
        assert!(!failures.is_repeated(b"b"));
        failures.forget(start + KNOWN_FOR);
        assert!(
            failures.is_repeated(b"a"),
            "it may have failed a moment ago"
        );
        failures.forget(start + KNOWN_FOR * 2);
        assert!(!failures.is_repeated(b"a"));
        assert_eq!(failures.repeated().inputs, 2);
    }

    #[test]
    fn an_object_counts_once_a_minute_whatever_its_input() {
        let failures = Failures::default();
        let object = |name: &str, phase: &str| {
            let json = format!(
                r#"{{"kind": "K", "metadata": {{"name": "{name}"}}, "status": {{"phase": "{phase}"}}}}"#
            );
            Object::from_json(json).expect("an object")
        };
        for (name, phase) in [("a", "Up"), ("b", "Up"), ("a", "Down"), ("c", "Up")] {
            failures.note_object(&object(name, phase));
        }
        assert_eq!(failures.repeated().objects, 1);
    }

    #[test]
    fn there_is_a_limit_to_the_inputs_that_are_known() {
        let failures = Failures::default();
        for number in 0..FAULTS_KNOWN_MAX * 5 {
            assert!(!failures.is_repeated(number.to_string().as_bytes()));
        }
        assert!(failures.state().inputs.count() <= FAULTS_KNOWN_MAX * 2);
    }

    #[test]
    fn the_smallest_inputs_are_kept_while_they_fail() {
        let (failures, start) = (Failures::default(), Instant::now());
        failures.forget(start);
        for bytes in (100..120).rev() {
            assert!(!failures.is_repeated(bytes.to_string().as_bytes()));
            failures.keep(input(bytes));
            failures.keep(input(bytes));
        }
        let bytes = |failures: &Failures| -> Vec<usize> {
            failures.kept().iter().map(FailedInput::bytes).collect()
        };
        assert_eq!(bytes(&failures), (100..108).collect::<Vec<_>>());
        failures.forget(start + KNOWN_FOR);
        assert_eq!(bytes(&failures).len(), FAILED_INPUTS_MAX);
        failures.forget(start + KNOWN_FOR * 2);
        assert_eq!(bytes(&failures), [0; 0]);
        let largest = kindsight_model::OBJECT_BYTES_MAX;
        for _ in 0..3 {
            failures.keep(input(largest));
            failures.keep(input(largest - 1));
            failures.keep(input(largest - 2));
        }
        assert_eq!(bytes(&failures), [largest - 2, largest - 1]);
    }

    #[test]
    fn a_single_input_is_kept_whatever_its_size() {
        let failures = Failures::default();
        let related = input(kindsight_model::OBJECT_BYTES_MAX).object;
        for bytes in [200, 100, 300] {
            failures.keep(FailedInput {
                related: Arc::new(Siblings::of([related.clone(), related.clone()])),
                ..input(bytes)
            });
        }
        let kept = failures.kept();
        let kept: Vec<usize> = kept.iter().map(|kept| kept.object.json.len()).collect();
        assert_eq!(kept, [100]);
    }
}
