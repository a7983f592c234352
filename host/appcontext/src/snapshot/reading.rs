//! Reads a context and the contexts that it refers to: one range for each.

use std::collections::{BTreeMap, BTreeSet};

use kindsight_model::ContextId;
use kindsight_store::Store;

use super::ContextSnapshot;
use super::merge::Merge;
use super::stored::StoredContext;
use crate::bundle::{self, Mark};
use crate::keys::ContextKeys;
use crate::{Result, Unreadable};

/// The most contexts that one context is read from, beside itself and its status context. A group
/// refers to one for each of its updates at most, and only to those that acted last on a cluster.
pub const REFERENCES_MAX: usize = 64;

/// Reads a context; none when it does not exist.
pub(crate) fn read(store: &dyn Store, id: &ContextId) -> Result<Option<ContextSnapshot>> {
    let Some(own) = read_stored(store, id)? else {
        return Ok(None);
    };
    let status_id = own.status_context.clone().filter(|status| status != id);
    let status = match &status_id {
        Some(status_id) => read_stored(store, status_id)?,
        None => None,
    };
    let mut merge = Merge {
        own,
        status_id,
        status,
        others: BTreeMap::new(),
        missing: BTreeSet::new(),
    };
    for other in references(&mut merge) {
        match read_stored(store, &other)? {
            Some(context) => drop(merge.others.insert(other, context)),
            None => drop(merge.missing.insert(other)),
        }
    }
    let mut snapshot = merge.finish();
    complete_bundles(store, &mut snapshot)?;
    Ok(Some(snapshot))
}

/// Puts the whole reports in the place of those that are a part of them.
fn complete_bundles(store: &dyn Store, snapshot: &mut ContextSnapshot) -> Result<()> {
    let own = ContextKeys::new(&snapshot.id);
    let status = ContextKeys::new(&snapshot.status_context);
    for app in &mut snapshot.apps {
        for cluster in &mut app.clusters {
            let stored = cluster.bundle_status_json.as_deref();
            let Some(mark) = stored.and_then(Mark::of) else {
                continue;
            };
            let mut whole = None;
            for keys in [&status, &own] {
                let keys = keys.app(&app.name)?.cluster(&cluster.cluster);
                whole = whole.or(bundle::whole(store, &keys, &mark)?);
                if whole.is_some() {
                    break;
                }
            }
            match whole {
                Some(whole) => cluster.bundle_status_json = Some(whole),
                None => snapshot.unreadable.push(Unreadable {
                    key: status.app(&app.name)?.cluster(&cluster.cluster).bundle(),
                    why: format!(
                        "the report is larger than one key takes, and its whole is not there: items of {} are missing",
                        mark.lists()
                    ),
                }),
            }
        }
    }
    Ok(())
}

/// The contexts that are still to be read, up to [`REFERENCES_MAX`].
fn references(merge: &mut Merge) -> Vec<ContextId> {
    let references = merge.references();
    if references.len() > REFERENCES_MAX {
        merge.own.unreadable.push(Unreadable {
            key: ContextKeys::new(&merge.own.id).root().to_owned(),
            why: format!(
                "it refers to {} other contexts, of which {REFERENCES_MAX} are read",
                references.len()
            ),
        });
    }
    references.into_iter().take(REFERENCES_MAX).collect()
}

fn read_stored(store: &dyn Store, id: &ContextId) -> Result<Option<StoredContext>> {
    let range = store.range(ContextKeys::new(id).root())?;
    Ok(StoredContext::read(id, range))
}
