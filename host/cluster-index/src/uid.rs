//! Uids of objects in a compact form, for millions of objects.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;

/// The uid of an object, in two halves. They have the same alignment as other numbers and need no padding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Uid([u64; 2]);

/// Hashes uids that are no UUIDs. Each process has its own seed, because clusters choose the uids.
static HASHERS: LazyLock<[RandomState; 2]> = LazyLock::new(Default::default);

impl Uid {
    /// The uid of an object that has none.
    pub(super) const NONE: Self = Self([0; 2]);

    /// Reads a uid: API servers give UUIDs, and any other text is hashed.
    pub(super) fn of(text: &str) -> Self {
        if text.is_empty() {
            return Self::NONE;
        }
        Self(uuid(text).unwrap_or_else(|| HASHERS.each_ref().map(|hasher| hasher.hash_one(text))))
    }

    /// Returns whether the object has no uid.
    pub(super) fn is_none(self) -> bool {
        self == Self::NONE
    }
}

/// The number of a UUID, in its usual form of 36 characters.
fn uuid(text: &str) -> Option<[u64; 2]> {
    const HYPHENS: [usize; 4] = [8, 13, 18, 23];
    let is_usual = |(at, byte): (usize, u8)| match byte {
        b'-' => HYPHENS.contains(&at),
        byte => byte.is_ascii_hexdigit() && !HYPHENS.contains(&at),
    };
    if text.len() != 36 || !text.bytes().enumerate().all(is_usual) {
        return None;
    }
    let digits = text.replace('-', "");
    let (high, low) = digits.split_at_checked(16)?;
    let number = |digits| u64::from_str_radix(digits, 16).ok();
    Some([number(high)?, number(low)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uids_of_any_form_are_distinguished() {
        let uuid = "6f0c2a3e-9a5b-4c1d-8e2f-0123456789ab";
        let number = [0x6f0c_2a3e_9a5b_4c1d, 0x8e2f_0123_4567_89ab];
        assert_eq!(Uid::of(uuid).0, number);
        for other in ["u1", "6f0c2a3e-9a5b-4c1d-8e2f-+123456789ab", &uuid[1..]] {
            assert_eq!(Uid::of(other), Uid::of(other));
            assert_ne!(Uid::of(other), Uid::of(uuid));
        }
        assert_ne!(Uid::of("u1"), Uid::of("u2"));
        assert!(Uid::of("").is_none() && !Uid::of("u1").is_none());
    }
}
