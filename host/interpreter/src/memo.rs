//! The memo of verdicts: an interpreter is a pure function, so equal inputs have equal answers.

use std::hash::Hash;
use std::sync::Arc;

use kindsight_model::Verdict;
use quick_cache::{Equivalent, Weighter};

/// An answer of an interpreter that is valid for every equal input.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// A verdict that is valid until its recheck time.
    Verdict(Verdict),
    /// The interpreter does not judge the object, with the reason.
    Unsupported(Arc<str>),
}

/// Verdicts by component, settings and input. Inputs are compared byte by byte, not by a hash.
#[derive(Debug)]
pub struct Memo {
    is_off: bool,
    answers: quick_cache::sync::Cache<Key, Entry, Bytes, foldhash::quality::RandomState>,
}

/// Statistics of a [`Memo`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoStats {
    /// Number of answers in the memo.
    pub entries: usize,
    /// Approximate size of their inputs and answers, in bytes.
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    scope: u128,
    input: Box<[u8]>,
}

#[derive(Hash)]
struct KeyRef<'i> {
    scope: u128,
    input: &'i [u8],
}

/// An answer, and the time that the call received, or `None` if the call received no time.
#[derive(Debug, Clone)]
struct Entry {
    answer: Answer,
    now_ms: Option<i64>,
}

impl Entry {
    /// Returns whether the answer is valid at another time: not before the time of its call, and
    /// before the time at which it may change.
    fn holds_at(&self, now_ms: Option<i64>) -> bool {
        let (Some(given_ms), Some(now_ms)) = (self.now_ms, now_ms) else {
            return self.now_ms == now_ms;
        };
        let recheck_at_ms = match &self.answer {
            Answer::Verdict(verdict) => verdict.recheck_at_ms,
            Answer::Unsupported(_) => None,
        };
        now_ms >= given_ms && recheck_at_ms.is_none_or(|at| now_ms < at)
    }
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.scope == key.scope && *self.input == *key.input
    }
}

/// Computes the weight of an entry from its input, the texts of its answer and a fixed overhead.
#[derive(Debug, Clone)]
struct Bytes;

const ENTRY_BYTES: u64 = 200;
const ENTRY_BYTES_EXPECTED: usize = 800;

impl Weighter<Key, Entry> for Bytes {
    fn weight(&self, key: &Key, entry: &Entry) -> u64 {
        let texts = match &entry.answer {
            Answer::Verdict(verdict) => verdict.reason.len() + verdict.message.len(),
            Answer::Unsupported(why) => why.len(),
        };
        ENTRY_BYTES + (key.input.len() + texts) as u64
    }
}

impl Memo {
    /// Makes a memo for about `bytes_max` bytes of inputs and answers. If it is 0, the memo stores
    /// nothing.
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

    /// The answer for an equal input, if it is valid at this time.
    pub(crate) fn get(&self, scope: u128, input: &[u8], now_ms: Option<i64>) -> Option<Answer> {
        if self.is_off {
            return None;
        }
        let entry = self.answers.get(&KeyRef { scope, input })?;
        entry.holds_at(now_ms).then_some(entry.answer)
    }

    pub(crate) fn put(&self, scope: u128, input: &[u8], now_ms: Option<i64>, answer: Answer) {
        if self.is_off {
            return;
        }
        let input = input.into();
        let entry = Entry { answer, now_ms };
        self.answers.insert(Key { scope, input }, entry);
    }

    /// Reads the statistics of the memo.
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
        memo.put(1, b"a", None, Answer::Verdict(Verdict::not_present()));
        assert!(memo.get(1, b"a", None).is_some());
        assert!(memo.get(1, b"b", None).is_none());
        assert!(memo.get(2, b"a", None).is_none());
    }

    #[test]
    fn a_verdict_holds_from_its_time_to_its_recheck_time() {
        let memo = Memo::new(1 << 20);
        let mut verdict = Verdict::not_present();
        memo.put(1, b"no recheck", Some(50), Answer::Verdict(verdict.clone()));
        verdict.recheck_at_ms = Some(100);
        memo.put(1, b"a", Some(50), Answer::Verdict(verdict));
        for (now_ms, holds) in [(49, false), (50, true), (99, true), (100, false)] {
            assert_eq!(memo.get(1, b"a", Some(now_ms)).is_some(), holds, "{now_ms}");
        }
        for (now_ms, holds) in [(49, false), (50, true), (i64::MAX, true)] {
            let answer = memo.get(1, b"no recheck", Some(now_ms));
            assert_eq!(answer.is_some(), holds, "{now_ms}");
        }
        assert!(memo.get(1, b"a", None).is_none(), "another Kind of input");
    }

    #[test]
    fn it_weighs_the_texts_of_answers_too() {
        let memo = Memo::new(64 * 1024);
        for number in 0..1000 {
            let verdict = Verdict::unknown("R", "x".repeat(4096));
            let input = format!("{number}");
            memo.put(1, input.as_bytes(), None, Answer::Verdict(verdict));
        }
        let stats = memo.stats();
        assert!(stats.entries < 64 * 1024 / 4096, "{stats:?}");
        assert!(stats.entries > 0, "{stats:?}");
    }

    #[test]
    fn the_memo_stays_within_its_limit() {
        let memo = Memo::new(64 * 1024);
        for number in 0..10_000 {
            let input = format!("{number}");
            memo.put(1, input.as_bytes(), None, Answer::Unsupported("".into()));
        }
        assert!(memo.stats().bytes <= 64 * 1024, "{:?}", memo.stats());
        assert!(memo.stats().entries > 10);
    }
}
