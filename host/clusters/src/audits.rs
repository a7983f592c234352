//! The pace of audits: the sessions of a host take turns.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Average time between two samples of the audits of a host, by default.
pub const AUDIT_INTERVAL: Duration = Duration::from_mins(1);

/// The pace of audits, which all sources of a host share. Clones share it. By default, there are no audits.
///
/// An audit compares a sample of a cluster with the index. On average, the host takes one sample in each interval, for
/// any number of clusters.
#[derive(Debug, Clone, Default)]
pub struct Audits {
    /// The time between two samples of the host; none without audits.
    interval: Option<Duration>,
    /// Number of sessions that take samples.
    sessions: Arc<AtomicU32>,
}

/// A session that takes samples, until it is dropped.
#[derive(Debug)]
pub(crate) struct AuditTurns(Audits);

impl Audits {
    /// Audits with this average time between two samples of the host. With 0, there are none.
    pub fn every(interval: Duration) -> Self {
        Self {
            interval: Some(interval).filter(|interval| !interval.is_zero()),
            sessions: Arc::default(),
        }
    }

    /// Enters a session.
    pub(crate) fn enter(&self) -> AuditTurns {
        self.sessions.fetch_add(1, Ordering::Relaxed);
        AuditTurns(self.clone())
    }
}

impl AuditTurns {
    /// The time until the next sample of this session; none without audits. It is random, so that the sessions of a
    /// host do not take their samples at the same moment.
    pub(crate) fn wait(&self) -> Option<Duration> {
        let Self(audits) = self;
        let sessions = audits.sessions.load(Ordering::Relaxed).max(1);
        let average = audits.interval?.saturating_mul(sessions);
        Some(average / 2 + average.mul_f64(fastrand::f64()))
    }
}

impl Drop for AuditTurns {
    fn drop(&mut self) {
        self.0.sessions.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_waits_for_the_turns_of_all_sessions() {
        let audits = Audits::every(Duration::from_secs(10));
        let (first, second) = (audits.enter(), audits.clone().enter());
        let both = first.wait().unwrap();
        assert!(both >= Duration::from_secs(10) && both <= Duration::from_secs(30));
        drop(second);
        assert!(first.wait().unwrap() <= Duration::from_secs(15));
        assert_eq!(Audits::every(Duration::ZERO).enter().wait(), None);
        assert_eq!(Audits::default().enter().wait(), None);
    }
}
