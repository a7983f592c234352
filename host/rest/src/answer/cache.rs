//! The cache of small status answers: dashboards send equal requests again and again.

use std::hash::Hash;
use std::sync::Arc;

use axum::body::Bytes;
use kindsight_api::status::Dialect;
use kindsight_status::{Subject, SubjectVersion};
use quick_cache::sync::Cache;
use quick_cache::{Equivalent, Weighter};

/// Memory of an answer beside its JSON and its request, in bytes: the version, the memory of a view that is gone, and the
/// entry of the table.
const ENTRY_BYTES: usize = 600;
/// The expected size of an answer with its request, in bytes, to size the table.
const ENTRY_BYTES_EXPECTED: usize = 6 * 1024;

/// Small status answers by request. An answer is used while its subject has the version that the answer was made from.
#[derive(Debug)]
pub(super) struct AnswerCache {
    answers: Cache<Key, Arc<Answer>, Weight>,
}

/// A status request: equal requests about one version of a subject have equal answers.
#[derive(Debug, Clone, Copy, Hash)]
pub(crate) struct RequestKey<'r> {
    pub(crate) dialect: Dialect,
    /// Path and query, as they were sent.
    pub(crate) url: &'r str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    dialect: Dialect,
    url: Box<str>,
}

impl Equivalent<Key> for RequestKey<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.dialect == key.dialect && *self.url == *key.url
    }
}

#[derive(Debug)]
struct Answer {
    version: SubjectVersion,
    json: Bytes,
}

/// The memory of an entry, in bytes.
#[derive(Debug, Clone)]
struct Weight;

impl Weighter<Key, Arc<Answer>> for Weight {
    fn weight(&self, key: &Key, answer: &Arc<Answer>) -> u64 {
        (ENTRY_BYTES + key.url.len() + answer.json.len()) as u64
    }
}

impl AnswerCache {
    /// Makes a cache for `bytes_max` bytes.
    pub(super) fn new(bytes_max: usize) -> Self {
        let expected = bytes_max / ENTRY_BYTES_EXPECTED;
        Self {
            answers: Cache::with_weighter(expected, bytes_max as u64, Weight),
        }
    }

    /// The answer to this request, if it was made from the present version of the subject.
    pub(super) fn get(&self, request: RequestKey<'_>, subject: &Subject) -> Option<Bytes> {
        let answer = self.answers.get(&request)?;
        answer.version.is_of(subject).then(|| answer.json.clone())
    }

    /// Keeps an answer in place of the answer from an earlier version.
    pub(super) fn insert(&self, request: RequestKey<'_>, version: SubjectVersion, json: Bytes) {
        let RequestKey { dialect, url } = request;
        let url = url.into();
        let answer = Answer { version, json };
        self.answers.insert(Key { dialect, url }, Arc::new(answer));
    }
}

#[cfg(test)]
mod tests;
