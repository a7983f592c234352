//! The coverage of related objects in a report.

use std::collections::BTreeMap;

use kindsight_model::Coverage;

use super::ClusterIndex;
use super::entry::Entry;
use super::objects::Id;
use crate::decoded::Body;

impl ClusterIndex {
    /// The Kinds with complete results: every search that these objects need was made, every found object was read,
    /// and none was left out because it belongs to another application.
    pub(super) fn covered(&self, members: &[Id], beside: &[Id], left_out: &[Id]) -> Coverage {
        let mut complete: BTreeMap<(&str, &str), bool> = BTreeMap::new();
        let entries = |ids| <[Id]>::iter(ids).filter_map(|id| self.objects.get(*id));
        for entry in entries(members) {
            let Some(watched) = self.scopes.get(&entry.scope()) else {
                continue;
            };
            let is_read = entry.sought().is_some();
            for rule in watched.rules.iter() {
                if let Some((group, kind)) = &rule.kind {
                    let is_known = is_read || !rule.reads_content();
                    let is_searched = is_known && rule.is_searched(&self.scopes, entry.namespace());
                    let known = complete.entry((group, kind)).or_insert(true);
                    *known &= is_searched;
                }
            }
        }
        for (id, watched) in &self.scopes {
            let (group, _, kind) = watched.kind.names();
            if let Some(known) = complete.get_mut(&(group, kind)) {
                // An object without a readable identity may be any object of its Kind.
                *known &= self.objects.find(*id, "", "").is_none();
            }
        }
        let is_unread =
            |entry: &&Entry| entry.lacks_body() || !matches!(entry.body(), Body::Whole(_));
        let unread_beside = beside.iter().filter(|id| {
            let is_unread = self.objects.get(**id).as_ref().is_some_and(is_unread);
            is_unread && self.is_content_needed(**id)
        });
        let unread_beside: Vec<Id> = unread_beside.copied().collect();
        let unread = entries(members)
            .filter(is_unread)
            .chain(entries(&unread_beside));
        for entry in unread.chain(entries(left_out)) {
            if let Some(watched) = self.scopes.get(&entry.scope()) {
                let (group, _, kind) = watched.kind.names();
                complete.insert((group, kind), false);
            }
        }
        let complete = complete.into_iter().filter(|(_, is_complete)| *is_complete);
        Coverage::complete_for(complete.map(|(kind, _)| kind))
    }
}
