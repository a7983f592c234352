//! Tables.

use kindsight_contract::Node;

use crate::limits::LIST_GAP_MAX;
use crate::number;
use crate::value::{TableId, Value};

/// Number of entries up to which a search compares keys one by one.
const LINEAR_MAX: usize = 8;
const FREE: u32 = u32::MAX;

/// A table: a list from 1, and further entries in the order of their insertion. A removed entry keeps
/// its place with the value `nil`, so that a loop can remove entries.
#[derive(Default)]
pub(crate) struct Table<'a> {
    /// The JSON object or list that was not read yet.
    pub(crate) source: Option<Node<'a>>,
    pub(crate) list: Vec<Value>,
    pub(crate) entries: Vec<(Value, Value)>,
    /// Positions of entries by the hash of their key, with linear probing. Empty for few entries.
    positions: Vec<u32>,
    pub(crate) metatable: Option<TableId>,
    /// Whether an entry has a number as its key, which may belong to the list later.
    pub(crate) has_numbers: bool,
}

impl Table<'_> {
    /// The number of items: the position of the last item that is not `nil`.
    pub(crate) fn length(&self) -> usize {
        let last = self.list.iter().rposition(|item| *item != Value::Nil);
        last.map_or(0, |last| last + 1)
    }

    /// The position in the list of a key from 1.
    pub(crate) fn list_position(&self, key: Value) -> Option<usize> {
        let position = position_of(key)?;
        (position < self.list.len()).then_some(position)
    }

    pub(crate) fn item(&self, key: Value) -> Option<Value> {
        self.list.get(self.list_position(key)?).copied()
    }

    /// Sets an item of the list. Returns by how many items the list grew, or `None` if the key does
    /// not belong to the list.
    pub(crate) fn set_item(&mut self, key: Value, value: Value) -> Option<usize> {
        let position = position_of(key)?;
        let length = self.list.len();
        if let Some(item) = self.list.get_mut(position) {
            *item = value;
            return Some(0);
        }
        // Absent items in the list would hide an entry with a number as its key.
        if position - length > LIST_GAP_MAX || self.has_numbers && position > length {
            return None;
        }
        if value == Value::Nil {
            return (!self.has_numbers).then_some(0);
        }
        self.list.resize(position, Value::Nil);
        self.list.push(value);
        Some(position + 1 - length)
    }

    /// The position of the entry with a key that has this hash and that `is_key` recognizes.
    pub(crate) fn find(
        &self,
        hash: impl FnOnce() -> u32,
        is_key: impl Fn(Value) -> bool,
    ) -> Option<usize> {
        if self.positions.is_empty() {
            return self.entries.iter().position(|(key, _)| is_key(*key));
        }
        let mask = self.positions.len() - 1;
        let mut place = usize::try_from(hash()).unwrap_or_default() & mask;
        loop {
            let position = *self.positions.get(place)?;
            if position == FREE {
                return None;
            }
            let position = usize::try_from(position).ok()?;
            if self
                .entries
                .get(position)
                .is_some_and(|(key, _)| is_key(*key))
            {
                return Some(position);
            }
            place = (place + 1) & mask;
        }
    }

    pub(crate) fn value(&self, position: usize) -> Value {
        self.entries
            .get(position)
            .map_or(Value::Nil, |(_, value)| *value)
    }

    pub(crate) fn set_value(&mut self, position: usize, value: Value) {
        if let Some((_, old)) = self.entries.get_mut(position) {
            *old = value;
        }
    }

    /// Adds an entry with a new key. Returns whether the search needs no new [`Self::index`].
    pub(crate) fn push(&mut self, key: Value, value: Value, hash: u32) -> bool {
        self.has_numbers |= matches!(key, Value::Number(_));
        self.entries.push((key, value));
        if self.entries.len() <= LINEAR_MAX {
            return true;
        }
        if self.entries.len() * 2 > self.positions.len() {
            return false;
        }
        self.enter(self.entries.len() - 1, hash);
        true
    }

    fn enter(&mut self, position: usize, hash: u32) {
        let mask = self.positions.len().saturating_sub(1);
        let mut place = usize::try_from(hash).unwrap_or_default() & mask;
        while let Some(free) = self.positions.get_mut(place) {
            if *free == FREE {
                *free = u32::try_from(position).unwrap_or(FREE);
                return;
            }
            place = (place + 1) & mask;
        }
    }

    /// Makes the positions by hash, if there are many entries.
    pub(crate) fn index(&mut self, hash: impl Fn(Value) -> u32) {
        if self.entries.len() <= LINEAR_MAX {
            return;
        }
        let places = (self.entries.len() * 4).next_power_of_two();
        self.positions = vec![FREE; places];
        for position in 0..self.entries.len() {
            let key = self
                .entries
                .get(position)
                .map_or(Value::Nil, |(key, _)| *key);
            self.enter(position, hash(key));
        }
    }

    /// The first entry at or behind a position, where the list comes first. `nil` twice at the end.
    pub(crate) fn entry_from(&self, from: usize) -> (Value, Value) {
        let mut list = self.list.iter().enumerate().skip(from);
        if let Some((position, item)) = list.find(|(_, item)| **item != Value::Nil) {
            return (Value::Number(number::of(position + 1)), *item);
        }
        let entries = self.entries.iter();
        let mut entries = entries.skip(from.saturating_sub(self.list.len()));
        let entry = entries.find(|(_, value)| *value != Value::Nil);
        entry.copied().unwrap_or((Value::Nil, Value::Nil))
    }
}

/// The position in a list of a key from 1.
fn position_of(key: Value) -> Option<usize> {
    let Value::Number(key) = key else {
        return None;
    };
    usize::try_from(number::whole(key)?).ok()?.checked_sub(1)
}
