//! Batches as transactions, and the outcome of a batch that got no answer.

use std::sync::Arc;

use etcd_client::{
    Compare, CompareOp, DeleteOptions, GetOptions, KeyValue, PutOptions, Txn, TxnOp, TxnOpResponse,
    TxnResponse,
};

use tokio::time::Instant;

use super::failure::Failure;
use super::key_space::KeySpace;
use super::link::{Link, number, on_the_wire};
use super::paging::{self, Reading};
use crate::{Batch, Condition, Error, Result, Revision, Write, chain};

/// The number of earlier values of a key that are checked to find out whether a batch was applied.
const EARLIER_MAX: usize = 32;

/// The lease of keys that remain until a program deletes them.
pub(super) const NO_LEASE: i64 = 0;

/// Applies a batch, and attaches the keys that it puts to a lease of etcd. If no answer arrives, reads back whether the batch was applied, and repeats it
/// until the deadline if it was not.
pub(super) async fn apply(link: Arc<Link>, batch: Batch, lease: i64) -> Result<Revision> {
    let until = Instant::now() + link.deadline;
    let before = link.seen();
    let txn = transaction(&link.keys, &batch, lease);
    // The reason of the last attempt without an answer. Such an attempt may still have been applied
    // later.
    let mut unanswered: Option<String> = None;
    loop {
        let answer = link.write(until, |mut client| {
            let txn = txn.clone();
            async move { client.txn(txn).await }
        });
        let reason = match answer.await {
            Ok(answer) => {
                let revision = link.revision(answer.header());
                if answer.succeeded() {
                    return Ok(revision);
                }
                let conflict = conflict(&batch, &answer);
                let Some(reason) = unanswered else {
                    return Err(conflict);
                };
                let applied = applied(&link, &batch, before).await;
                let applied = applied.map_err(|error| unknown(&batch, &reason, &error))?;
                return applied.ok_or(conflict);
            }
            Err(Failure::Unanswered(reason)) => reason,
            // If conditions do not hold, the answer contains the stored values of their keys, and
            // can be too large.
            Err(Failure::AnswerTooLarge) => "the answer is too large".to_owned(),
            Err(failure) => return Err(failure.into_error()),
        };
        if let Some(revision) = read_back(&link, &batch, before, &reason).await? {
            return Ok(revision);
        }
        if Instant::now() >= until {
            return Err(Error::Unavailable { reason });
        }
        unanswered = Some(reason);
    }
}

fn transaction(keys: &KeySpace, batch: &Batch, lease: i64) -> Txn {
    let conditions = batch.conditions().iter();
    let compares: Vec<Compare> = conditions
        .clone()
        .map(|condition| compare(keys, condition))
        .collect();
    let writes: Vec<TxnOp> = batch
        .writes()
        .iter()
        .map(|write| operation(keys, write, lease))
        .collect();
    let otherwise: Vec<TxnOp> = conditions.map(|condition| read(keys, condition)).collect();
    Txn::new()
        .when(compares)
        .and_then(writes)
        .or_else(otherwise)
}

fn compare(keys: &KeySpace, condition: &Condition) -> Compare {
    let key = keys.key(condition.key());
    match condition {
        Condition::Absent { .. } => Compare::version(key, CompareOp::Equal, 0),
        Condition::Present { .. } => Compare::version(key, CompareOp::Greater, 0),
        Condition::Equals { value, .. } => Compare::value(key, CompareOp::Equal, value.clone()),
        // The default revision belongs to a key that does not exist, so the condition never holds.
        Condition::Unchanged { since, .. } if *since == Revision::default() => {
            Compare::version(key, CompareOp::Less, 0)
        }
        Condition::Unchanged { since, .. } => {
            Compare::mod_revision(key, CompareOp::Equal, on_the_wire(*since))
        }
    }
}

fn operation(keys: &KeySpace, write: &Write, lease: i64) -> TxnOp {
    match write {
        Write::Put { key, value } => {
            let options = PutOptions::new().with_lease(lease);
            TxnOp::put(keys.key(key), value.clone(), Some(options))
        }
        Write::Delete { key } => TxnOp::delete(keys.key(key), None),
        Write::DeletePrefix { prefix } => {
            let span = keys.under(prefix);
            let options = DeleteOptions::new().with_range(span.end);
            TxnOp::delete(span.from, Some(options))
        }
    }
}

/// The read that shows why a condition does not hold.
fn read(keys: &KeySpace, condition: &Condition) -> TxnOp {
    let options = match condition {
        Condition::Equals { .. } => GetOptions::new(),
        Condition::Absent { .. } | Condition::Present { .. } | Condition::Unchanged { .. } => {
            GetOptions::new().with_keys_only()
        }
    };
    TxnOp::get(keys.key(condition.key()), Some(options))
}

/// The conflict of a batch with conditions that do not hold. It names the first of them.
fn conflict(batch: &Batch, answer: &TxnResponse) -> Error {
    let answers = answer.op_responses().into_iter();
    let mut conditions = batch.conditions().iter().zip(answers);
    let failed = conditions.find(|(condition, answer)| match answer {
        TxnOpResponse::Get(answer) => !holds(condition, answer.kvs().first()),
        TxnOpResponse::Put(_) | TxnOpResponse::Delete(_) | TxnOpResponse::Txn(_) => false,
    });
    let key = failed.map_or_else(|| batch.first_key(), |(condition, _)| condition.key());
    Error::Conflict {
        key: key.to_owned(),
    }
}

fn holds(condition: &Condition, stored: Option<&KeyValue>) -> bool {
    condition.holds(stored.map(|pair| (pair.value(), changed(pair))))
}

fn changed(stored: &KeyValue) -> Revision {
    Revision::new(number(stored.mod_revision()))
}

/// Finds out whether a batch was applied. Returns its revision, or `None` if the batch was not
/// applied but still could be. If another writer wrote exactly the same bytes, the batch counts as
/// applied.
async fn read_back(
    link: &Link,
    batch: &Batch,
    before: Revision,
    reason: &str,
) -> Result<Option<Revision>> {
    let unknown = |error| unknown(batch, reason, &error);
    if let Some(revision) = applied(link, batch, before).await.map_err(unknown)? {
        return Ok(Some(revision));
    }
    for condition in batch.conditions() {
        let stored = paging::read_key(link, condition.key(), None).await;
        if !holds(condition, stored.map_err(unknown)?.as_ref()) {
            return Err(Error::Conflict {
                key: condition.key().to_owned(),
            });
        }
    }
    Ok(None)
}

fn unknown(batch: &Batch, reason: &str, error: &Error) -> Error {
    Error::OutcomeUnknown {
        key: batch.first_key().to_owned(),
        reason: format!(
            "{reason}, and the batch could not be read back: {}",
            chain(error)
        ),
    }
}

/// The revision after `before` at which a batch was applied, or `None` if it was not applied.
///
/// # Errors
/// Also if the first key was written too often since then to find this out.
async fn applied(link: &Link, batch: &Batch, before: Revision) -> Result<Option<Revision>> {
    let puts = batch.writes().iter().filter_map(|write| match write {
        Write::Put { key, value } => Some((key.as_str(), value.as_slice())),
        Write::Delete { .. } | Write::DeletePrefix { .. } => None,
    });
    let puts: Vec<_> = puts.collect();
    let Some((first, _)) = puts.first() else {
        return Ok(is_deleted(link, batch).await?.then(|| link.seen()));
    };
    let mut at = None;
    for _ in 0..EARLIER_MAX {
        let Some(stored) = paging::read_key(link, first, at).await? else {
            return Ok(None);
        };
        let revision = changed(&stored);
        if revision <= before {
            return Ok(None);
        }
        if is_put(link, &puts, revision).await? {
            return Ok(Some(revision));
        }
        at = revision.previous();
    }
    let why = format!("`{first}` was written more than {EARLIER_MAX} times since");
    Err(Error::Backend(why.into()))
}

/// Returns whether all these keys were put with these values at a revision.
async fn is_put(link: &Link, puts: &[(&str, &[u8])], revision: Revision) -> Result<bool> {
    for (key, value) in puts {
        let stored = paging::read_key(link, key, Some(revision)).await?;
        if !stored.is_some_and(|pair| pair.value() == *value && changed(&pair) == revision) {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn is_deleted(link: &Link, batch: &Batch) -> Result<bool> {
    for write in batch.writes() {
        let is_gone = match write {
            Write::Put { .. } => false,
            Write::Delete { key } => paging::read_key(link, key, None).await?.is_none(),
            Write::DeletePrefix { prefix } => {
                let span = link.keys.under(prefix);
                let (keys, _) = paging::read(link, &span, Reading::Keys, None).await?;
                keys.is_empty()
            }
        };
        if !is_gone {
            return Ok(false);
        }
    }
    Ok(true)
}
