//! Values of one run, and the memory that holds them.
//!
//! All values live until the run ends, in lists to which a value refers by position. So values are
//! copied freely, and cycles are harmless. Objects are read from their JSON tree when a script first
//! looks into them: most scripts read a small part of an object.

use std::cell::Cell;

use kindsight_contract::Node;

use crate::limits::MEMORY_BYTES_MAX;
use crate::table::Table;

/// A value of a script.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value {
    /// `nil`.
    Nil,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A text, which may contain any bytes.
    String(StringId),
    /// A table.
    Table(TableId),
    /// A function of the script.
    Function(FunctionId),
    /// A function of a library.
    Builtin(Builtin),
    /// A variable that functions share. Only on the stack.
    Cell(CellId),
}

macro_rules! ids {
    ($($name:ident),+) => {$(
        /// A position in the memory of a run.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) struct $name(pub(crate) u32);

        impl $name {
            pub(crate) fn index(self) -> usize {
                usize::try_from(self.0).unwrap_or(usize::MAX)
            }
        }
    )+};
}

ids!(StringId, TableId, FunctionId, CellId);

macro_rules! builtins {
    ($($name:ident),+ $(,)?) => {
        /// A function of a library.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Builtin { $($name),+ }
    };
}

builtins!(
    Assert,
    Error,
    GetMetatable,
    Ipairs,
    IpairsNext,
    Next,
    Pairs,
    Pcall,
    Print,
    RawEqual,
    RawGet,
    RawSet,
    Require,
    Select,
    SetMetatable,
    ToNumber,
    ToString,
    Type,
    Unpack,
    Xpcall,
    TableConcat,
    TableInsert,
    TableMaxN,
    TableRemove,
    TableSort,
    TableLength,
    StringByte,
    StringChar,
    StringFind,
    StringFormat,
    StringGmatch,
    StringGmatchNext,
    StringGsub,
    StringLen,
    StringLower,
    StringMatch,
    StringRep,
    StringReverse,
    StringSub,
    StringUpper,
    MathAbs,
    MathAcos,
    MathAsin,
    MathAtan,
    MathAtan2,
    MathCeil,
    MathCos,
    MathCosh,
    MathDeg,
    MathExp,
    MathFloor,
    MathFmod,
    MathFrexp,
    MathLdexp,
    MathLog,
    MathLog10,
    MathMax,
    MathMin,
    MathMod,
    MathModf,
    MathPow,
    MathRad,
    MathSin,
    MathSinh,
    MathSqrt,
    MathTan,
    MathTanh,
    OsDate,
    OsTime,
);

/// The bytes of a string.
#[derive(Debug)]
enum Text<'a> {
    Borrowed(&'a [u8]),
    Owned(Box<[u8]>),
}

/// A function of the script with its captured variables.
#[derive(Debug)]
pub(crate) struct Closure {
    pub(crate) function: usize,
    pub(crate) captures: Box<[CellId]>,
}

/// The memory of one run.
#[derive(Default)]
pub(crate) struct Heap<'a> {
    strings: Vec<Text<'a>>,
    tables: Vec<Table<'a>>,
    closures: Vec<Closure>,
    cells: Vec<Value>,
    bytes: usize,
    /// Bytes that were compared and hashed since [`Heap::take_work`].
    work: Cell<usize>,
    /// The table that a read gets if its position is not in `tables`.
    empty: Table<'a>,
}

/// The memory of the run is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full;

impl<'a> Heap<'a> {
    /// The bytes that were compared and hashed since the last call. Long texts and colliding keys cost
    /// a run as much as other work.
    pub(crate) fn take_work(&self) -> usize {
        self.work.take()
    }

    fn count_work(&self, bytes: usize) {
        self.work.set(self.work.get().saturating_add(bytes));
    }

    /// Counts bytes of values.
    pub(crate) fn charge(&mut self, bytes: usize) -> Result<(), Full> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MEMORY_BYTES_MAX {
            return Err(Full);
        }
        Ok(())
    }

    pub(crate) fn borrowed(&mut self, text: &'a [u8]) -> Value {
        self.strings.push(Text::Borrowed(text));
        Value::String(StringId(last(self.strings.len())))
    }

    pub(crate) fn string(&mut self, text: Vec<u8>) -> Result<Value, Full> {
        self.charge(text.len() + 24)?;
        self.strings.push(Text::Owned(text.into_boxed_slice()));
        Ok(Value::String(StringId(last(self.strings.len()))))
    }

    pub(crate) fn text(&self, id: StringId) -> &[u8] {
        match self.strings.get(id.index()) {
            Some(Text::Borrowed(text)) => text,
            Some(Text::Owned(text)) => text,
            None => &[],
        }
    }

    pub(crate) fn table(&mut self) -> Result<TableId, Full> {
        self.charge(size_of::<Table<'_>>())?;
        self.tables.push(Table::default());
        Ok(TableId(last(self.tables.len())))
    }

    pub(crate) fn closure(&mut self, closure: Closure) -> Result<Value, Full> {
        self.charge(size_of::<Closure>() + closure.captures.len() * 4)?;
        self.closures.push(closure);
        Ok(Value::Function(FunctionId(last(self.closures.len()))))
    }

    pub(crate) fn function(&self, id: FunctionId) -> Option<&Closure> {
        self.closures.get(id.index())
    }

    pub(crate) fn cell(&mut self, value: Value) -> Result<CellId, Full> {
        self.charge(size_of::<Value>())?;
        self.cells.push(value);
        Ok(CellId(last(self.cells.len())))
    }

    pub(crate) fn shared(&self, id: CellId) -> Value {
        self.cells.get(id.index()).copied().unwrap_or(Value::Nil)
    }

    pub(crate) fn set_shared(&mut self, id: CellId, value: Value) {
        if let Some(cell) = self.cells.get_mut(id.index()) {
            *cell = value;
        }
    }

    /// A value of a JSON tree. Objects and lists are read later.
    pub(crate) fn json(&mut self, node: Node<'a>) -> Result<Value, Full> {
        if let Some(text) = node.text() {
            self.charge(24)?;
            return Ok(self.borrowed(text.as_bytes()));
        }
        if let Some(digits) = node.number() {
            return Ok(Value::Number(digits.parse().unwrap_or_default()));
        }
        if node.is_object() || node.is_array() {
            let id = self.table()?;
            if let Some(table) = self.tables.get_mut(id.index()) {
                table.source = Some(node);
            }
            return Ok(Value::Table(id));
        }
        Ok(node.flag().map_or(Value::Nil, Value::Bool))
    }

    /// Reads the content of a table whose object was not read yet.
    fn open(&mut self, id: TableId) -> Result<(), Full> {
        let source = self
            .tables
            .get_mut(id.index())
            .and_then(|table| table.source.take());
        let Some(node) = source else {
            return Ok(());
        };
        let mut read = Table::default();
        for item in node.items() {
            let item = self.json(item)?;
            if item != Value::Nil {
                read.list.push(item);
            }
        }
        for (name, member) in node.members() {
            let member = self.json(member)?;
            if member != Value::Nil {
                let key = self.borrowed(name.as_bytes());
                self.charge(40)?;
                read.entries.push((key, member));
            }
        }
        self.charge(read.list.len() * size_of::<Value>())?;
        read.index(|key| self.hash(key));
        if let Some(table) = self.tables.get_mut(id.index()) {
            read.metatable = table.metatable;
            *table = read;
        }
        Ok(())
    }

    /// The table to read. Its object is read first.
    pub(crate) fn opened(&mut self, id: TableId) -> Result<&Table<'a>, Full> {
        self.open(id)?;
        Ok(self.tables.get(id.index()).unwrap_or(&self.empty))
    }

    pub(crate) fn opened_mut(&mut self, id: TableId) -> Result<Option<&mut Table<'a>>, Full> {
        self.open(id)?;
        Ok(self.tables.get_mut(id.index()))
    }

    pub(crate) fn metatable(&self, id: TableId) -> Option<TableId> {
        self.tables.get(id.index())?.metatable
    }

    pub(crate) fn set_metatable(&mut self, id: TableId, metatable: Option<TableId>) {
        if let Some(table) = self.tables.get_mut(id.index()) {
            table.metatable = metatable;
        }
    }

    /// Whether both are the same value: equal texts are the same.
    pub(crate) fn same(&self, left: Value, right: Value) -> bool {
        match (left, right) {
            (Value::String(left), Value::String(right)) => {
                if left == right {
                    return true;
                }
                let (left, right) = (self.text(left), self.text(right));
                if left.len() != right.len() {
                    return false;
                }
                self.count_work(left.len());
                left == right
            }
            _ => left == right,
        }
    }

    pub(crate) fn hash(&self, key: Value) -> u32 {
        match key {
            // FNV-1a.
            Value::String(id) => {
                let text = self.text(id);
                self.count_work(text.len());
                text.iter().fold(0x811c_9dc5, |hash, byte| {
                    (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
                })
            }
            Value::Number(value) => {
                let bits = value.to_bits();
                let [a, b] = [bits & 0xffff_ffff, bits >> 32]
                    .map(|half| u32::try_from(half).unwrap_or_default());
                mixed(a ^ mixed(b))
            }
            Value::Bool(value) => u32::from(value),
            Value::Table(TableId(id)) | Value::Function(FunctionId(id)) => mixed(id),
            Value::Nil | Value::Builtin(_) | Value::Cell(_) => 0,
        }
    }

    /// The value under a key, without metatables.
    pub(crate) fn get(&mut self, id: TableId, key: Value) -> Result<Value, Full> {
        self.open(id)?;
        let Some(table) = self.tables.get(id.index()) else {
            return Ok(Value::Nil);
        };
        if let Some(value) = table.item(key) {
            return Ok(value);
        }
        let position = self.position(table, key);
        Ok(position.map_or(Value::Nil, |position| table.value(position)))
    }

    /// The position of the entry with a key.
    fn position(&self, table: &Table<'a>, key: Value) -> Option<usize> {
        table.find(
            || self.hash(key),
            |other| {
                self.count_work(size_of::<Value>());
                self.same(other, key)
            },
        )
    }

    /// The value under a text, without metatables.
    pub(crate) fn field(&mut self, id: TableId, name: &str) -> Result<Value, Full> {
        self.open(id)?;
        let found = self.tables.get(id.index()).and_then(|table| {
            let is_name =
                |key: Value| matches!(key, Value::String(id) if self.text(id) == name.as_bytes());
            let mut entries = table.entries.iter();
            entries.find(|(key, _)| is_name(*key))
        });
        Ok(found.map_or(Value::Nil, |(_, value)| *value))
    }

    /// Sets the value under a key that is neither `nil` nor NaN, without metatables.
    pub(crate) fn set(&mut self, id: TableId, key: Value, value: Value) -> Result<(), Full> {
        self.open(id)?;
        self.charge(0)?;
        self.move_out(id, key);
        let Some(table) = self.tables.get_mut(id.index()) else {
            return Ok(());
        };
        if let Some(grown) = table.set_item(key, value) {
            return self.charge(grown * size_of::<Value>());
        }
        let table = self.tables.get(id.index()).unwrap_or(&self.empty);
        let position = self.position(table, key);
        let hash = self.hash(key);
        let mut rehash = None;
        if let Some(table) = self.tables.get_mut(id.index()) {
            match position {
                Some(position) => table.set_value(position, value),
                None if value == Value::Nil => {}
                None => {
                    if !table.push(key, value, hash) {
                        rehash = Some(std::mem::take(table));
                    }
                }
            }
        }
        if let Some(mut table) = rehash {
            table.index(|key| self.hash(key));
            if let Some(place) = self.tables.get_mut(id.index()) {
                *place = table;
            }
        }
        match position {
            Some(_) => Ok(()),
            None => self.charge(48),
        }
    }

    /// Removes the entry with a number as its key, which may belong to the list now.
    fn move_out(&mut self, id: TableId, key: Value) {
        let Some(table) = self.tables.get(id.index()) else {
            return;
        };
        if !table.has_numbers || !matches!(key, Value::Number(_)) {
            return;
        }
        let position = self.position(table, key);
        if let (Some(position), Some(table)) = (position, self.tables.get_mut(id.index())) {
            table.set_value(position, Value::Nil);
        }
    }

    /// The entry behind the entry with this key: first the list, then the others in their order.
    /// `None` if the key is not in the table.
    pub(crate) fn next(&mut self, id: TableId, key: Value) -> Result<Option<(Value, Value)>, Full> {
        self.open(id)?;
        let table = self.tables.get(id.index()).unwrap_or(&self.empty);
        let from = match key {
            Value::Nil => Some(0),
            _ => table
                .list_position(key)
                .map(|position| position + 1)
                .or_else(|| {
                    let position = self.position(table, key)?;
                    Some(table.list.len() + position + 1)
                }),
        };
        Ok(from.map(|from| table.entry_from(from)))
    }
}

/// A number whose low bits depend on all bits of the given one (the finalizer of ``MurmurHash3``).
fn mixed(bits: u32) -> u32 {
    let bits = (bits ^ (bits >> 16)).wrapping_mul(0x85eb_ca6b);
    let bits = (bits ^ (bits >> 13)).wrapping_mul(0xc2b2_ae35);
    bits ^ (bits >> 16)
}

fn last(length: usize) -> u32 {
    u32::try_from(length.saturating_sub(1)).unwrap_or(u32::MAX)
}
