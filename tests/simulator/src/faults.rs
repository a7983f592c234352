//! Faults of a server: answers that are errors.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::failure::Failure;

/// An error answer on demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The status 429 with the header `Retry-After`.
    TooManyRequests {
        /// Seconds of the header.
        retry_after: u32,
    },
    /// The status 500.
    InternalError,
    /// The status 401.
    Unauthorized,
    /// The status 410.
    Gone,
}

impl Fault {
    pub(crate) fn failure(self) -> Failure {
        match self {
            Self::TooManyRequests { retry_after } => Failure::too_many_requests(retry_after),
            Self::InternalError => Failure::internal("simulated error".to_owned()),
            Self::Unauthorized => Failure::unauthorized(),
            Self::Gone => Failure::expired("simulated compaction".to_owned(), None),
        }
    }
}

/// The faults of the next requests.
#[derive(Debug, Default)]
pub(crate) struct Faults(Mutex<VecDeque<(Fault, u32)>>);

impl Faults {
    /// Adds a fault for a number of requests, after the faults that were added before.
    pub(crate) fn add(&self, fault: Fault, requests: u32) {
        self.lock().push_back((fault, requests));
    }

    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    /// The fault of the next request.
    pub(crate) fn next(&self) -> Option<Fault> {
        let mut faults = self.lock();
        loop {
            let (fault, requests) = faults.front_mut()?;
            if let Some(rest) = requests.checked_sub(1) {
                *requests = rest;
                return Some(*fault);
            }
            faults.pop_front();
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Fault, u32)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_follow_each_other_and_end() {
        let faults = Faults::default();
        faults.add(Fault::Gone, 1);
        faults.add(Fault::InternalError, 2);
        let next: Vec<_> = (0..4).map(|_| faults.next()).collect();
        let internal = Some(Fault::InternalError);
        assert_eq!(next, [Some(Fault::Gone), internal, internal, None]);
    }
}
