//! Constructors of tables, and assignments to members.

use super::Machine;
use crate::error::Failure;
use crate::number;
use crate::program::Op;
use crate::value::{TableId, Value};

impl Machine<'_> {
    pub(super) fn table_op(&mut self, op: Op) -> Result<(), Failure> {
        match op {
            Op::Table => {
                let table = self.heap.table()?;
                self.push(Value::Table(table));
            }
            Op::SetIndex(above) => {
                let value = self.pop();
                let above = usize::from(above);
                let (key, table) = (self.below(above), self.below(above + 1));
                self.set_index(table, key, value)?;
            }
            Op::InitField { name, above } => {
                let value = self.pop();
                let table = self.below(usize::from(above));
                self.set_index(table, self.constant(name), value)?;
            }
            Op::InitIndex(above) => {
                let value = self.pop();
                let key = self.pop();
                let table = self.below(usize::from(above));
                self.set_index(table, key, value)?;
            }
            Op::Append { first, items, open } => {
                let count = usize::from(items) + if open { self.open } else { 0 };
                let from = self.stack.len().saturating_sub(count);
                let items = self.stack.split_off(from);
                if let Value::Table(table) = self.below(0) {
                    self.append(table, first as usize, items)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Sets the items of a constructor at the positions behind `first`. They replace the values of
    /// explicit keys.
    fn append(&mut self, table: TableId, first: usize, items: Vec<Value>) -> Result<(), Failure> {
        let known = self.heap.opened(table)?;
        if known.has_numbers || known.list.len() != first {
            for (offset, item) in items.into_iter().enumerate() {
                let key = Value::Number(number::of(first + offset + 1));
                self.heap.set(table, key, item)?;
            }
            return Ok(());
        }
        self.heap.charge(items.len() * size_of::<Value>())?;
        if let Some(table) = self.heap.opened_mut(table)? {
            table.list.extend(items);
        }
        Ok(())
    }
}
