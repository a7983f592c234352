//! Applications by the time of their next change that comes by itself.

use std::collections::{BTreeSet, HashMap};

use kindsight_status::ApplicationKey;

/// Applications by the time at which each is due.
#[derive(Default)]
pub(crate) struct DueQueue {
    by_time: BTreeSet<(i64, ApplicationKey)>,
    by_key: HashMap<ApplicationKey, i64>,
}

impl DueQueue {
    /// Sets the time at which an application is due; none if it never is.
    pub(crate) fn set(&mut self, key: &ApplicationKey, at_ms: Option<i64>) {
        let before = self.by_key.get(key).copied();
        if before == at_ms {
            return;
        }
        match at_ms {
            Some(at_ms) => self.by_key.insert(key.clone(), at_ms),
            None => self.by_key.remove(key),
        };
        if let Some(before) = before {
            self.by_time.remove(&(before, key.clone()));
        }
        self.by_time.extend(at_ms.map(|at_ms| (at_ms, key.clone())));
    }

    /// The first time at which an application is due.
    pub(crate) fn next_ms(&self) -> Option<i64> {
        self.by_time.first().map(|(at_ms, _)| *at_ms)
    }

    /// The applications that are due, in the order of their times.
    pub(crate) fn due(&self, now_ms: i64) -> Vec<ApplicationKey> {
        let due = self
            .by_time
            .iter()
            .take_while(|(at_ms, _)| *at_ms <= now_ms);
        due.map(|(_, key)| key.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: &str) -> ApplicationKey {
        ApplicationKey::Context(id.parse().unwrap())
    }

    #[test]
    fn applications_are_due_in_the_order_of_their_times() {
        let mut queue = DueQueue::default();
        for (id, at_ms) in [("1", 300), ("2", 100), ("3", 200)] {
            queue.set(&key(id), Some(at_ms));
        }
        assert_eq!(queue.next_ms(), Some(100));
        assert_eq!(queue.due(250), [key("2"), key("3")]);
        queue.set(&key("2"), Some(400));
        queue.set(&key("3"), None);
        assert_eq!(queue.due(350), [key("1")]);
        assert_eq!(queue.due(99), []);
        queue.set(&key("1"), None);
        assert_eq!(queue.next_ms(), Some(400));
        queue.set(&key("2"), None);
        assert!(queue.by_key.is_empty() && queue.by_time.is_empty());
    }
}
