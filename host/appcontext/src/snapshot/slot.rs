//! The value of one key, decoded.

use super::decode::Decoded;

/// The decoded value of one key: absent, readable, or unreadable for a reason.
#[derive(Debug)]
pub(super) struct Slot<T>(Option<Decoded<T>>);

/// The state of a value: absent, readable, or the reason why it cannot be read.
pub(super) type SlotState<'s> = Option<Result<(), &'s str>>;

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Slot<T> {
    /// Replaces the value. `None` means that the key was deleted.
    pub(super) fn set(&mut self, value: Option<&[u8]>, decode: impl FnOnce(&[u8]) -> Decoded<T>) {
        self.0 = value.map(decode);
    }

    /// The value, if it is present and readable.
    pub(super) fn get(&self) -> Option<&T> {
        self.0.as_ref()?.as_ref().ok()
    }

    pub(super) fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_mut()?.as_mut().ok()
    }

    pub(super) fn is_present(&self) -> bool {
        self.0.is_some()
    }

    /// The state of the value.
    pub(super) fn state(&self) -> SlotState<'_> {
        let value = self.0.as_ref()?;
        Some(value.as_ref().map(|_| ()).map_err(String::as_str))
    }

    /// Returns whether the key is present and its value cannot be read.
    pub(super) fn is_unreadable(&self) -> bool {
        self.fault().is_some()
    }

    /// The reason why the value cannot be read, if it is present.
    pub(super) fn fault(&self) -> Option<&str> {
        self.0.as_ref()?.as_ref().err().map(String::as_str)
    }
}
