//! Batches as transactions, and the outcome of one that got no answer.

use std::sync::Arc;

use etcd_client::{
    Compare, CompareOp, DeleteOptions, GetOptions, KeyValue, Txn, TxnOp, TxnOpResponse, TxnResponse,
};

use tokio::time::Instant;

use super::failure::Failure;
use super::key_space::KeySpace;
use super::link::{Link, number, on_the_wire};
use super::paging::{self, Reading};
use crate::{Batch, Condition, Error, Result, Revision, Write, chain};

/// Earlier values of a key that are looked at to find whether a batch was written.
const EARLIER_MAX: usize = 32;

/// Applies a batch, and reads back what came of it where no answer comes. One that was not applied is
/// tried again until the deadline.
pub(super) async fn apply(link: Arc<Link>, batch: Batch) -> Result<Revision> {
    let until = Instant::now() + link.deadline;
    let before = link.seen();
    let txn = transaction(&link.keys, &batch);
    // Of the tries before, which may have been late.
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
            // The answer to conditions that do not hold has what is stored under their keys.
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

fn transaction(keys: &KeySpace, batch: &Batch) -> Txn {
    let conditions = batch.conditions().iter();
    let compares: Vec<Compare> = conditions.clone().map(|it| compare(keys, it)).collect();
    let writes: Vec<TxnOp> = batch
        .writes()
        .iter()
        .map(|it| operation(keys, it))
        .collect();
    let otherwise: Vec<TxnOp> = conditions.map(|it| read(keys, it)).collect();
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
        // The revision of a key that is absent.
        Condition::Unchanged { since, .. } if *since == Revision::default() => {
            Compare::version(key, CompareOp::Less, 0)
        }
        Condition::Unchanged { since, .. } => {
            Compare::mod_revision(key, CompareOp::Equal, on_the_wire(*since))
        }
    }
}

fn operation(keys: &KeySpace, write: &Write) -> TxnOp {
    match write {
        Write::Put { key, value } => TxnOp::put(keys.key(key), value.clone(), None),
        Write::Delete { key } => TxnOp::delete(keys.key(key), None),
        Write::DeletePrefix { prefix } => {
            let span = keys.under(prefix);
            let options = DeleteOptions::new().with_range(span.end);
            TxnOp::delete(span.from, Some(options))
        }
    }
}

/// The read that says why a condition does not hold.
fn read(keys: &KeySpace, condition: &Condition) -> TxnOp {
    let options = match condition {
        Condition::Equals { .. } => GetOptions::new(),
        Condition::Absent { .. } | Condition::Present { .. } | Condition::Unchanged { .. } => {
            GetOptions::new().with_keys_only()
        }
    };
    TxnOp::get(keys.key(condition.key()), Some(options))
}

/// The conflict of a batch whose conditions do not all hold: the first of them.
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
    condition.holds(stored.map(|it| (it.value(), changed(it))))
}

fn changed(stored: &KeyValue) -> Revision {
    Revision::new(number(stored.mod_revision()))
}

/// Finds out what came of a batch: the revision at which it was applied, or none where it was not and
/// could be. One of which another writer wrote the very same bytes counts as applied.
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
        reason: format!("{reason}, and it could not be read back: {}", chain(error)),
    }
}

/// The revision at which a batch was applied after `before`; none where it was not.
///
/// # Errors
/// Also where the first key was written too often since for that to be found out.
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

/// Tells whether all these keys were put with these values at a revision.
async fn is_put(link: &Link, puts: &[(&str, &[u8])], revision: Revision) -> Result<bool> {
    for (key, value) in puts {
        let stored = paging::read_key(link, key, Some(revision)).await?;
        if !stored.is_some_and(|it| it.value() == *value && changed(&it) == revision) {
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
                paging::read(link, &span, Reading::Keys).await?.0.is_empty()
            }
        };
        if !is_gone {
            return Ok(false);
        }
    }
    Ok(true)
}
