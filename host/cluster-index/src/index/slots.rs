//! Values by number.

use slab::Slab;

/// Values by number. The number of a removed value is used again for the next value. Numbers have 32 bits, because
/// an object is referred to many times.
#[derive(Debug)]
pub(super) struct Slots<T>(Slab<T>);

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self(Slab::new())
    }
}

impl<T> Slots<T> {
    /// Number of values.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get(&self, number: u32) -> Option<&T> {
        self.0.get(number as usize)
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.0.get_mut(number as usize)
    }

    /// All values with their numbers, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.0.iter().map(|(number, value)| (short(number), value))
    }

    /// Adds a value, and returns its number.
    pub(super) fn add(&mut self, value: T) -> u32 {
        short(self.0.insert(value))
    }

    /// Removes a value.
    pub(super) fn remove(&mut self, number: u32) -> Option<T> {
        self.0.try_remove(number as usize)
    }
}

/// A number in 32 bits. The limits on all users of slots are far below the largest.
fn short(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_used_again_and_returns_the_new_value() {
        let mut slots = Slots::default();
        let numbers: Vec<u32> = (0..600).map(|value| slots.add(value)).collect();
        assert!(
            numbers
                .iter()
                .all(|number| slots.get(*number) == Some(number))
        );
        assert_eq!(slots.remove(300), Some(300));
        assert_eq!(
            (slots.remove(300), slots.get(300), slots.len()),
            (None, None, 599)
        );
        assert_eq!(slots.iter().count(), 599);
        assert_eq!(slots.add(7), 300);
        assert_eq!((slots.get(300), slots.len()), (Some(&7), 600));
        assert_eq!((slots.add(8), slots.get(600)), (600, Some(&8)));
        assert_eq!(slots.get(601), None);
    }
}
