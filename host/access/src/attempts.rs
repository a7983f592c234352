//! A limit on failed attempts of each client address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Failed attempts of one address in [`SPAN`] after which further unknown credentials are refused without a check.
const FAILURES_MAX: u32 = 20;
/// The span in which failures count.
const SPAN: Duration = Duration::from_mins(1);
/// Maximum number of addresses whose failures are counted. Further addresses share one count.
const ADDRESSES_MAX: usize = 4096;

/// Attempts by client address that have not succeeded. Only credentials that are not known to be valid count, so that
/// nobody can lock out the users behind a shared address.
#[derive(Debug, Default)]
pub(crate) struct Attempts(Mutex<HashMap<Option<IpAddr>, Failures>>);

#[derive(Debug, Clone, Copy)]
struct Failures {
    since: Instant,
    count: u32,
}

/// A counted attempt whose outcome is not known. Dropping it takes the attempt back, so that an attempt does not count if
/// its client disconnects before the outcome is known.
#[must_use]
#[derive(Debug)]
pub(crate) struct Attempt<'a> {
    attempts: &'a Attempts,
    /// The address; `None` once the attempt has failed.
    from: Option<IpAddr>,
}

impl Attempts {
    /// Returns the time to wait if an address has failed too often.
    pub(crate) fn wait(&self, from: IpAddr, now: Instant) -> Option<Duration> {
        let failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = key(&failures, from);
        let of = failures.get(&key)?;
        let age = now.saturating_duration_since(of.since);
        (of.count >= FAILURES_MAX && age < SPAN).then(|| SPAN.saturating_sub(age))
    }

    /// Counts an attempt, before its outcome is known: attempts at the same time are limited too.
    pub(crate) fn begin(&self, from: IpAddr, now: Instant) -> Attempt<'_> {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() >= ADDRESSES_MAX {
            failures.retain(|_, of| now.saturating_duration_since(of.since) < SPAN);
        }
        let key = key(&failures, from);
        let first = Failures {
            since: now,
            count: 0,
        };
        let of = failures.entry(key).or_insert(first);
        if now.saturating_duration_since(of.since) >= SPAN {
            *of = first;
        }
        of.count = of.count.saturating_add(1);
        Attempt {
            attempts: self,
            from: Some(from),
        }
    }

    fn take_back(&self, from: IpAddr) {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = key(&failures, from);
        if let Some(of) = failures.get_mut(&key) {
            of.count = of.count.saturating_sub(1);
        }
    }
}

impl Attempt<'_> {
    /// The attempt failed, and continues to count.
    pub(crate) fn failed(mut self) {
        self.from = None;
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if let Some(from) = self.from {
            self.attempts.take_back(from);
        }
    }
}

/// The key of an address: its own, or the shared one if too many addresses are counted.
fn key(failures: &HashMap<Option<IpAddr>, Failures>, from: IpAddr) -> Option<IpAddr> {
    let own = Some(network(from));
    let has_room = failures.len() < ADDRESSES_MAX || failures.contains_key(&own);
    own.filter(|_| has_room)
}

/// The address, or the first 64 bits of an IPv6 address: one client usually has all addresses of such a network.
fn network(of: IpAddr) -> IpAddr {
    match of.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fail(attempts: &Attempts, from: &str, now: Instant, count: u32) {
        for _ in 0..count {
            attempts.begin(from.parse().unwrap(), now).failed();
        }
    }

    #[test]
    fn an_address_that_fails_too_often_waits_and_the_others_do_not() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        let wait = |from: &str, now| attempts.wait(from.parse().unwrap(), now);
        fail(&attempts, "10.0.0.1", now, FAILURES_MAX - 1);
        assert_eq!(wait("10.0.0.1", now), None);
        fail(&attempts, "::ffff:10.0.0.1", now, 1);
        assert_eq!(wait("10.0.0.1", now), Some(SPAN));
        assert_eq!(wait("10.0.0.2", now), None);
        assert_eq!(wait("10.0.0.1", now + SPAN), None);
        fail(&attempts, "10.0.0.1", now + SPAN, FAILURES_MAX - 1);
        let attempt = attempts.begin("10.0.0.1".parse().unwrap(), now + SPAN);
        assert_eq!(wait("10.0.0.1", now + SPAN), Some(SPAN));
        drop(attempt);
        assert_eq!(wait("10.0.0.1", now + SPAN), None);
    }

    #[test]
    fn addresses_of_one_network_share_a_count() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        for host in 0..FAILURES_MAX {
            fail(&attempts, &format!("2001:db8::{host:x}"), now, 1);
        }
        assert!(
            attempts
                .wait("2001:db8::ffff".parse().unwrap(), now)
                .is_some()
        );
        assert!(
            attempts
                .wait("2001:db8:1::1".parse().unwrap(), now)
                .is_none()
        );
    }

    #[test]
    fn the_number_of_addresses_is_limited() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        for host in 0..u32::try_from(ADDRESSES_MAX).unwrap() + 100 {
            let address = std::net::Ipv4Addr::from(host).into();
            attempts.begin(address, now).failed();
        }
        assert!(attempts.0.lock().unwrap().len() <= ADDRESSES_MAX + 1);
        let unknown = "200.0.0.1".parse().unwrap();
        assert!(attempts.wait(unknown, now).is_some(), "the shared count");
        attempts.begin(unknown, now + SPAN).failed();
        assert_eq!(attempts.0.lock().unwrap().len(), 1);
    }
}
