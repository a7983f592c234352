//! Random numbers that a seed determines.

/// A generator by the method of `SplitMix64`.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a limit, which is at least 1.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// One of several values.
    pub(crate) fn pick<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        let at = self.below(values.len() as u64);
        &values[usize::try_from(at).expect("a position")]
    }

    /// A generator of its own.
    pub(crate) fn split(&mut self) -> Self {
        Self(self.next())
    }
}
