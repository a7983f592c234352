//! Small sets as sorted lists: most have one member.

/// A set of few members, sorted.
#[derive(Debug, Clone)]
pub(super) struct Sorted<T>(Vec<T>);

impl<T> Default for Sorted<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Ord> From<Vec<T>> for Sorted<T> {
    fn from(mut members: Vec<T>) -> Self {
        members.sort_unstable();
        members.dedup();
        members.shrink_to_fit();
        Self(members)
    }
}

impl<T: Ord> Sorted<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }

    pub(super) fn contains(&self, member: &T) -> bool {
        self.0.binary_search(member).is_ok()
    }

    /// Adds a member. Returns whether the member is new.
    pub(super) fn insert(&mut self, member: T) -> bool {
        let Err(at) = self.0.binary_search(&member) else {
            return false;
        };
        if self.0.is_empty() {
            self.0.reserve_exact(1);
        }
        self.0.insert(at, member);
        true
    }

    /// Removes a member. Returns whether the set had it.
    pub(super) fn remove(&mut self, member: &T) -> bool {
        let at = self.0.binary_search(member);
        if let Ok(at) = at {
            self.0.remove(at);
        }
        at.is_ok()
    }
}
