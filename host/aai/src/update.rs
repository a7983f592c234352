//! One update of A&AI: the requests, and the notes in the ledger around them.

use kindsight_store::{Error as StoreError, chain};

use crate::client::{Client, Failure};
use crate::item::ItemKey;
use crate::ledger::{Entry, Ledger};
use crate::queue::{Action, Job};

/// The result of one update.
pub(crate) struct Done {
    pub(crate) key: ItemKey,
    /// The entry of the ledger after the update.
    pub(crate) entry: Option<Entry>,
    pub(crate) result: Result<(), Failure>,
    /// True if another server may have the lease.
    pub(crate) is_lease_lost: bool,
}

/// The reason why an update stopped.
enum Stop {
    Aai(Failure),
    Store(StoreError),
}

/// Runs one update: the note in the ledger before a first write, the requests, and the entry after the acknowledgement.
pub(crate) fn update(job: Job, ledger: &Ledger, client: &Client) -> Done {
    let Job { key, action, entry } = job;
    let mut known = entry;
    let mut run = || match &action {
        Action::Write(after) => {
            let Some(content) = &after.content else {
                return Ok(());
            };
            if known.is_none() {
                let noted = Entry {
                    content: None,
                    ..Entry::clone(after)
                };
                ledger.put(&key, &noted).map_err(Stop::Store)?;
                known = Some(noted);
            }
            let previous = known.as_ref().and_then(|entry| entry.content.as_ref());
            client.write(&key, content, previous).map_err(Stop::Aai)?;
            ledger.put(&key, after).map_err(Stop::Store)?;
            known = Some(Entry::clone(after));
            Ok(())
        }
        Action::Remove => {
            client.remove(&key).map_err(Stop::Aai)?;
            ledger.remove(&key).map_err(Stop::Store)?;
            known = None;
            Ok(())
        }
    };
    let stopped = run();
    let (result, is_lease_lost) = match stopped {
        Ok(()) => (Ok(()), false),
        Err(Stop::Aai(failure)) => (Err(failure), !client.has_lease()),
        Err(Stop::Store(error)) => {
            let is_lease_lost = matches!(error, StoreError::LeaseLost { .. });
            let reason = format!("the store fails: {}", chain(&error));
            let failure = Failure::Away {
                reason,
                retry_after: None,
            };
            (Err(failure), is_lease_lost)
        }
    };
    Done {
        key,
        entry: known,
        result,
        is_lease_lost,
    }
}

#[cfg(test)]
mod tests;
