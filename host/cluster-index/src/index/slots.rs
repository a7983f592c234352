//! Values by number.
//!
//! The crate `slab` grows by copying all values into a larger allocation. It took 3 MiB more for 60,000 objects
//! (`cargo bench -p kindsight-tests --bench clusters -- memory`).

/// Number of slots that are allocated at a time. Growth copies no values, and few slots remain unused.
const CHUNK: usize = 256;

/// Values by number. The number of a removed value is used again for the next value.
#[derive(Debug)]
pub(super) struct Slots<T> {
    chunks: Vec<Vec<Option<T>>>,
    free: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self {
            chunks: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Slots<T> {
    /// Number of values.
    pub(super) fn len(&self) -> usize {
        self.made() - self.free.len()
    }

    /// Number of slots.
    fn made(&self) -> usize {
        let full = self.chunks.len().saturating_sub(1) * CHUNK;
        full + self.chunks.last().map_or(0, Vec::len)
    }

    pub(super) fn get(&self, number: u32) -> Option<&T> {
        let at = number as usize;
        self.chunks.get(at / CHUNK)?.get(at % CHUNK)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.slot(number)?.as_mut()
    }

    /// All values with their numbers, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let all = (0..).zip(self.chunks.iter().flatten());
        all.filter_map(|(number, slot)| Some((number, slot.as_ref()?)))
    }

    /// Adds a value, and returns its number.
    pub(super) fn add(&mut self, thing: T) -> u32 {
        if let Some(free) = self.free.pop() {
            if let Some(slot) = self.slot(free) {
                *slot = Some(thing);
            }
            return free;
        }
        // The limits on all users of slots are far below this number.
        let number = u32::try_from(self.made()).unwrap_or(u32::MAX);
        if self.chunks.last().is_none_or(|chunk| chunk.len() >= CHUNK) {
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.push(Some(thing));
        }
        number
    }

    /// Removes a value.
    pub(super) fn remove(&mut self, number: u32) -> Option<T> {
        let thing = self.slot(number)?.take()?;
        self.free.push(number);
        Some(thing)
    }

    fn slot(&mut self, number: u32) -> Option<&mut Option<T>> {
        let at = number as usize;
        self.chunks.get_mut(at / CHUNK)?.get_mut(at % CHUNK)
    }
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
