//! The `status` of a bundle: its lists and the positions of their items, read in one pass over the text.

use std::collections::BTreeMap;

use kindsight_contract::{Cursor, ReadError, Tree};

use super::BUNDLE_ITEMS_MAX;
use super::header;
use super::items::ANY_KIND;
use super::lists::LISTS;

/// Maximum size of the parsed trees that the objects of one bundle keep until they are evaluated, in bytes.
/// Further objects are parsed again for their evaluation.
pub(super) const TREES_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The `status` of a bundle.
pub(super) struct Status<'s> {
    /// Its text.
    pub(super) text: &'s str,
    /// Its lists; `None` if the status is not an object.
    pub(super) lists: Option<Lists<'s>>,
}

/// The lists of a status. `ready` is ignored: no monitor sets it.
#[derive(Default)]
pub(super) struct Lists<'s> {
    /// The header of the report, in a stored status.
    pub(super) header: Option<&'s str>,
    /// `resourceCount`. Only kindsight's monitor keeps it up to date.
    pub(super) count: Option<usize>,
    by_field: BTreeMap<&'static str, List<'s>>,
    /// The values of all other members, and of lists that a later duplicate member replaced.
    pub(super) unread: Vec<&'s str>,
    /// Bytes of the trees of all items. Only the last tree may exceed [`TREES_BYTES_MAX`].
    tree_bytes: usize,
}

/// One list.
pub(super) struct List<'s> {
    /// Its text.
    pub(super) text: &'s str,
    /// Its items; `None` if the list is not an array.
    pub(super) items: Option<ListItems<'s>>,
}

/// The first [`BUNDLE_ITEMS_MAX`] items of a list, and the number of the others.
#[derive(Default)]
pub(super) struct ListItems<'s> {
    pub(super) kept: Vec<ListItem<'s>>,
    pub(super) dropped: usize,
}

/// One item of a list.
pub(super) struct ListItem<'s> {
    /// Its text.
    pub(super) text: &'s str,
    /// Its parsed tree; `None` if the item is not an object, or the trees reached their limit.
    pub(super) tree: Option<Tree>,
}

impl<'s> Status<'s> {
    /// Reads the status at the cursor.
    pub(super) fn read(cursor: &mut Cursor<'s>) -> Result<Self, ReadError> {
        if cursor.first() != Some(b'{') {
            let text = cursor.skip()?;
            return Ok(Self { text, lists: None });
        }
        let mut lists = Lists::default();
        let text = cursor.object(|cursor, key| lists.member(key, cursor))?;
        Ok(Self {
            text,
            lists: Some(lists),
        })
    }
}

impl<'s> Lists<'s> {
    /// The text of a list.
    pub(super) fn text(&self, field: &str) -> Option<&'s str> {
        self.by_field.get(field).map(|list| list.text)
    }

    /// Takes the items of a list. Its text remains.
    pub(super) fn take(&mut self, field: &str) -> Option<List<'s>> {
        let list = self.by_field.get_mut(field)?;
        Some(List {
            text: list.text,
            items: list.items.take(),
        })
    }

    /// The number of items that the status has.
    pub(super) fn items(&self) -> usize {
        let lists = self.by_field.values();
        let items = lists.filter_map(|list| list.items.as_ref());
        items.map(|items| items.kept.len() + items.dropped).sum()
    }

    fn member(&mut self, key: &str, cursor: &mut Cursor<'s>) -> Result<(), ReadError> {
        match key {
            header::MEMBER => {
                let replaced = self.header.replace(cursor.skip()?);
                self.unread.extend(replaced);
                return Ok(());
            }
            "resourceCount" => {
                self.count = cursor.skip()?.parse().ok();
                return Ok(());
            }
            _ => {}
        }
        let mut fields = LISTS.iter().map(|list| list.field).chain([ANY_KIND]);
        let Some(field) = fields.find(|field| *field == key) else {
            self.unread.push(cursor.skip()?);
            return Ok(());
        };
        let list = self.list(cursor)?;
        let replaced = self.by_field.insert(field, list);
        self.unread.extend(replaced.map(|list| list.text));
        Ok(())
    }

    fn list(&mut self, cursor: &mut Cursor<'s>) -> Result<List<'s>, ReadError> {
        if cursor.first() != Some(b'[') {
            let text = cursor.skip()?;
            return Ok(List { text, items: None });
        }
        let mut items = ListItems::default();
        let text = cursor.array(|cursor| {
            if items.kept.len() < BUNDLE_ITEMS_MAX {
                items.kept.push(self.item(cursor)?);
            } else {
                cursor.skip()?;
                items.dropped += 1;
            }
            Ok(())
        })?;
        Ok(List {
            text,
            items: Some(items),
        })
    }

    fn item(&mut self, cursor: &mut Cursor<'s>) -> Result<ListItem<'s>, ReadError> {
        let is_read = cursor.first() == Some(b'{') && self.tree_bytes < TREES_BYTES_MAX;
        let read = is_read.then(|| cursor.tree()).flatten();
        let Some((text, tree)) = read else {
            let text = cursor.skip()?;
            return Ok(ListItem { text, tree: None });
        };
        self.tree_bytes += tree.bytes();
        Ok(ListItem {
            text,
            tree: Some(tree),
        })
    }
}
