//! The Kinds of which a report has everything that its objects may name.

use std::collections::BTreeMap;

use kindsight_model::CoveredKinds;

use super::Inventory;
use super::objects::Id;
use crate::kubernetes::decode::Body;

impl Inventory {
    /// The Kinds of which everything was searched that these objects may name, and all of it was read.
    pub(super) fn covered(&self, members: &[Id], beside: &[Id]) -> CoveredKinds {
        let mut complete: BTreeMap<(&str, &str), bool> = BTreeMap::new();
        let entries = |ids| <[Id]>::iter(ids).filter_map(|id| self.objects.get(*id));
        for entry in entries(members) {
            let Some(watched) = self.watched.get(&entry.watch()) else {
                continue;
            };
            let is_read = entry.sought().is_some();
            for rule in watched.rules.iter() {
                if let Some((group, kind)) = &rule.kind {
                    let is_searched = is_read && rule.is_searched(&self.watched, entry.namespace());
                    let known = complete.entry((group, kind)).or_insert(true);
                    *known &= is_searched;
                }
            }
        }
        for (id, watched) in &self.watched {
            let (group, _, kind) = watched.kind.names();
            if let Some(known) = complete.get_mut(&(group, kind)) {
                // Of an object that cannot be read at all it is not known which one it is.
                *known &= self.objects.find(*id, "", "").is_none();
            }
        }
        for entry in entries(members).chain(entries(beside)) {
            if let Some(watched) = self.watched.get(&entry.watch())
                && !matches!(entry.body(), Body::Whole(_))
            {
                let (group, _, kind) = watched.kind.names();
                complete.insert((group, kind), false);
            }
        }
        let complete = complete.into_iter().filter(|(_, is_complete)| *is_complete);
        CoveredKinds::complete_for(complete.map(|(kind, _)| kind))
    }
}
