//! Memo of verdicts: an interpreter is a pure function, so an equal input has an equal answer.

use std::hash::Hash;

use kindsight_model::Verdict;
use quick_cache::{Equivalent, Weighter};

/// Answer of an interpreter that holds for every equal input.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// A verdict, valid until its recheck time.
    Verdict(Verdict),
    /// Not an object it judges.
    Unsupported,
}

/// Verdicts by component, settings and input. Inputs are compared byte by byte, not by a hash.
#[derive(Debug)]
pub struct Memo {
    is_off: bool,
    answers: quick_cache::sync::Cache<Key, Answer, Bytes, foldhash::quality::RandomState>,
}

/// Statistics of a [`Memo`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoStats {
    /// Remembered answers.
    pub entries: usize,
    /// Approximate size of their inputs and answers, in bytes.
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    scope: u128,
    input: Box<str>,
}

#[derive(Hash)]
struct KeyRef<'i> {
    scope: u128,
    input: &'i str,
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.scope == key.scope && *self.input == *key.input
    }
}

/// Weighs an entry by its input, the texts of its answer and a fixed overhead.
#[derive(Debug, Clone)]
struct Bytes;

const ENTRY_BYTES: u64 = 200;
const ENTRY_BYTES_EXPECTED: usize = 800;

impl Weighter<Key, Answer> for Bytes {
    fn weight(&self, key: &Key, answer: &Answer) -> u64 {
        let texts = match answer {
            Answer::Verdict(verdict) => verdict.reason.len() + verdict.message.len(),
            Answer::Unsupported => 0,
        };
        ENTRY_BYTES + (key.input.len() + texts) as u64
    }
}

impl Memo {
    /// Makes a memo of about `bytes_max` bytes of inputs and answers; with 0, it remembers nothing.
    pub fn new(bytes_max: usize) -> Self {
        Self {
            is_off: bytes_max == 0,
            answers: quick_cache::sync::Cache::with(
                bytes_max / ENTRY_BYTES_EXPECTED,
                bytes_max as u64,
                Bytes,
                foldhash::quality::RandomState::default(),
                quick_cache::sync::DefaultLifecycle::default(),
            ),
        }
    }

    /// The answer for an equal input, unless its recheck time has passed.
    pub(crate) fn get(&self, scope: u128, input: &str, now_ms: i64) -> Option<Answer> {
        if self.is_off {
            return None;
        }
        let answer = self.answers.get(&KeyRef { scope, input })?;
        match &answer {
            Answer::Verdict(verdict) if verdict.recheck_at_ms.is_some_and(|at| at <= now_ms) => {
                None
            }
            _ => Some(answer),
        }
    }

    pub(crate) fn put(&self, scope: u128, input: &str, answer: Answer) {
        if self.is_off {
            return;
        }
        let input = input.into();
        self.answers.insert(Key { scope, input }, answer);
    }

    /// Reads its statistics.
    pub fn stats(&self) -> MemoStats {
        MemoStats {
            entries: self.answers.len(),
            bytes: self.answers.weight(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_for_its_component_and_its_input() {
        let memo = Memo::new(1 << 20);
        memo.put(1, "a", Answer::Verdict(Verdict::not_present()));
        assert!(memo.get(1, "a", 0).is_some());
        assert!(memo.get(1, "b", 0).is_none());
        assert!(memo.get(2, "a", 0).is_none());
    }

    #[test]
    fn a_verdict_is_valid_until_its_recheck_time() {
        let memo = Memo::new(1 << 20);
        let mut verdict = Verdict::not_present();
        verdict.recheck_at_ms = Some(100);
        memo.put(1, "a", Answer::Verdict(verdict));
        assert!(memo.get(1, "a", 99).is_some());
        assert!(memo.get(1, "a", 100).is_none());
    }

    #[test]
    fn it_weighs_the_texts_of_answers_too() {
        let memo = Memo::new(64 * 1024);
        for number in 0..1000 {
            let verdict = Verdict::unknown("R", "x".repeat(4096));
            memo.put(1, &format!("{number}"), Answer::Verdict(verdict));
        }
        let stats = memo.stats();
        assert!(stats.entries < 64 * 1024 / 4096, "{stats:?}");
        assert!(stats.entries > 0, "{stats:?}");
    }

    #[test]
    fn it_holds_no_more_than_it_may() {
        let memo = Memo::new(64 * 1024);
        for number in 0..10_000 {
            memo.put(1, &format!("{number}"), Answer::Unsupported);
        }
        assert!(memo.stats().bytes <= 64 * 1024, "{:?}", memo.stats());
        assert!(memo.stats().entries > 10);
    }
}
