//! Ranges, read page by page at one revision.

use etcd_client::{GetOptions, KeyValue};

use super::failure::Failure;
use super::key_space::Span;
use super::link::{Link, on_the_wire};
use crate::{Error, Result, Revision};

/// The number of keys of the first page when values are read.
const FIRST_PAGE: i64 = 1000;
const FIRST_PAGE_OF_KEYS: i64 = 10_000;
/// The intended size of a page, in bytes.
const PAGE_BYTES: usize = 2 * 1024 * 1024;
/// The number of attempts to read a range whose revision is compacted during the read.
const TRIES: usize = 5;

/// The part of the entries that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    Entries,
    Keys,
}

/// Reads a range as it was at one revision: the latest, or an earlier revision. The result may
/// contain keys of other programs.
pub(super) async fn read(
    link: &Link,
    span: &Span,
    reading: Reading,
    earlier: Option<Revision>,
) -> Result<(Vec<KeyValue>, Revision)> {
    let mut tries = 1;
    loop {
        match read_once(link, span, reading, earlier).await {
            // Only the latest revision differs in the next attempt.
            Err(Failure::Compacted) if earlier.is_none() && tries < TRIES => tries += 1,
            done => return done.map_err(|failure| failed(failure, earlier)),
        }
    }
}

async fn read_once(
    link: &Link,
    span: &Span,
    reading: Reading,
    mut at: Option<Revision>,
) -> Result<(Vec<KeyValue>, Revision), Failure> {
    let mut found = Vec::new();
    let mut from = span.from.clone();
    let mut limit = match reading {
        Reading::Entries => FIRST_PAGE,
        Reading::Keys => FIRST_PAGE_OF_KEYS,
    };
    loop {
        let options = options(span, reading, limit, at);
        let page = link.read(|mut client| {
            let (from, options) = (from.clone(), options.clone());
            async move { client.get(from, Some(options)).await }
        });
        let mut page = match page.await {
            Err(Failure::AnswerTooLarge) if limit > 1 => {
                limit = (limit / 8).max(1);
                continue;
            }
            page => page?,
        };
        let seen = link.revision(page.header());
        let at = *at.get_or_insert(seen);
        let (more, page) = (page.more(), page.take_kvs());
        let Some(last) = page.last().filter(|_| more) else {
            found.extend(page);
            return Ok((found, at));
        };
        from = [last.key(), &[0]].concat();
        limit = next_limit(limit, &page);
        found.extend(page);
    }
}

fn options(span: &Span, reading: Reading, limit: i64, at: Option<Revision>) -> GetOptions {
    let options = GetOptions::new()
        .with_range(span.end.clone())
        .with_limit(limit)
        .with_revision(at.map_or(0, on_the_wire));
    match reading {
        Reading::Entries => options,
        Reading::Keys => options.with_keys_only(),
    }
}

/// The number of keys for the next page, so that it has about the intended size if its entries are
/// like these.
fn next_limit(limit: i64, page: &[KeyValue]) -> i64 {
    let size = |pair: &KeyValue| pair.key().len() + pair.value().len();
    let bytes = page.iter().map(size).sum::<usize>().max(1);
    let fitting = page.len().saturating_mul(PAGE_BYTES) / bytes;
    let fitting = i64::try_from(fitting).unwrap_or(i64::MAX);
    fitting.clamp(1, limit.saturating_mul(2))
}

/// Reads one key, at the latest or at an earlier revision.
pub(super) async fn read_key(
    link: &Link,
    key: &str,
    earlier: Option<Revision>,
) -> Result<Option<KeyValue>> {
    let key = link.keys.key(key);
    if key.is_empty() {
        return Err(Error::Backend("an etcd key cannot be empty".into()));
    }
    let options = GetOptions::new().with_revision(earlier.map_or(0, on_the_wire));
    let answer = link.read(|mut client| {
        let (key, options) = (key.clone(), options.clone());
        async move { client.get(key, Some(options)).await }
    });
    let mut answer = answer.await.map_err(|failure| failed(failure, earlier))?;
    link.revision(answer.header());
    Ok(answer.take_kvs().pop())
}

/// The error of a read at the latest or at an earlier revision.
fn failed(failure: Failure, earlier: Option<Revision>) -> Error {
    match (failure, earlier) {
        (Failure::Compacted, Some(revision)) => Error::RevisionCompacted { revision },
        (failure, _) => failure.into_error(),
    }
}
