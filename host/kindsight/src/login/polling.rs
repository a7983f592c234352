//! The wait until the user has approved a device code (RFC 8628, 3.5).

use std::time::{Duration, Instant};

use super::issuer::{DeviceCode, Issuer, OAuthError, TokenAnswer};

/// Longest wait for the user of a login, also if the code is valid for longer.
const LOGIN_WAIT_MAX: Duration = Duration::from_mins(30);

/// Time between two requests if the issuer sets none.
const INTERVAL: Duration = Duration::from_secs(5);

/// Shortest time between two requests for the tokens of a login.
const POLL_INTERVAL_MIN: Duration = Duration::from_secs(1);

/// Longest time between two requests for the tokens of a login.
const POLL_INTERVAL_MAX: Duration = Duration::from_mins(1);

/// Time by which the interval grows if the issuer answers `slow_down`.
const SLOWER: Duration = Duration::from_secs(5);

/// The error for a code that was not approved in time.
const TOO_LATE: &str = "the code expired before it was approved; run `kindsight login` again";

/// Failed requests in sequence that end the wait for a login.
const POLL_FAILURES_MAX: u32 = 5;

/// Requests the tokens until the user has approved the code. Blocks.
///
/// # Errors
/// The user refused or was too late, or the issuer refuses or cannot be reached.
pub(super) fn wait(issuer: &Issuer<'_>, code: &DeviceCode) -> anyhow::Result<TokenAnswer> {
    let lifetime = Duration::from_secs(code.expires_in).min(LOGIN_WAIT_MAX);
    let until = Instant::now() + lifetime;
    let mut pace = Pace::of(code);
    while Instant::now() < until {
        std::thread::sleep(pace.interval);
        if let Some(answer) = pace.take(issuer.exchange(code))? {
            return Ok(answer);
        }
    }
    anyhow::bail!(TOO_LATE)
}

/// The pace of requests.
struct Pace {
    interval: Duration,
    /// Failed requests in sequence.
    failures: u32,
}

impl Pace {
    fn of(code: &DeviceCode) -> Self {
        let interval = code.interval.map_or(INTERVAL, Duration::from_secs);
        Self {
            interval: interval.clamp(POLL_INTERVAL_MIN, POLL_INTERVAL_MAX),
            failures: 0,
        }
    }

    /// Takes the result of a request; `None` if another request must follow.
    fn take(&mut self, result: anyhow::Result<TokenAnswer>) -> anyhow::Result<Option<TokenAnswer>> {
        let error = match result {
            Ok(answer) => return Ok(Some(answer)),
            Err(error) => error,
        };
        let Some(refusal) = error.downcast_ref::<OAuthError>() else {
            self.failures += 1;
            self.slow_down(self.interval);
            return if self.failures < POLL_FAILURES_MAX {
                Ok(None)
            } else {
                Err(error)
            };
        };
        self.failures = 0;
        match refusal.error.as_str() {
            "authorization_pending" => Ok(None),
            "slow_down" => {
                self.slow_down(SLOWER);
                Ok(None)
            }
            "access_denied" => Err(error.context("the login was refused")),
            // Some issuers do not know an expired code any more.
            "expired_token" | "invalid_grant" => Err(error.context(TOO_LATE)),
            _ => Err(error),
        }
    }

    fn slow_down(&mut self, by: Duration) {
        self.interval = (self.interval + by).min(POLL_INTERVAL_MAX);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pace(interval: Option<u64>) -> Pace {
        let code = json!({"device_code": "d", "user_code": "u", "verification_uri": "https://l",
            "expires_in": 60, "interval": interval});
        Pace::of(&serde_json::from_value(code).unwrap())
    }

    fn refusal(error: &str) -> anyhow::Result<TokenAnswer> {
        let refusal: OAuthError = serde_json::from_value(json!({"error": error})).unwrap();
        Err(refusal.into())
    }

    #[test]
    fn the_issuer_sets_the_pace_within_limits() {
        for (interval, expected) in [(None, 5), (Some(0), 1), (Some(7), 7), (Some(1 << 40), 60)] {
            assert_eq!(pace(interval).interval, Duration::from_secs(expected));
        }
        let mut pace = pace(Some(7));
        assert!(
            pace.take(refusal("authorization_pending"))
                .unwrap()
                .is_none()
        );
        assert_eq!(pace.interval, Duration::from_secs(7));
        assert!(pace.take(refusal("slow_down")).unwrap().is_none());
        assert_eq!(pace.interval, Duration::from_secs(12));
    }

    #[test]
    fn a_refusal_ends_the_wait_and_a_failure_only_slows_it_down() {
        for (error, expected) in [
            ("access_denied", "the login was refused"),
            ("expired_token", "the code expired"),
            ("invalid_grant", "the code expired"),
            ("invalid_client", "the issuer answers invalid_client"),
        ] {
            let end = pace(None).take(refusal(error)).err().unwrap();
            assert!(format!("{end:#}").starts_with(expected), "{end:#}");
        }
        let mut pace = pace(Some(2));
        for interval in [4, 8, 16, 32] {
            let lost = pace.take(Err(anyhow::anyhow!("unreachable")));
            assert!(lost.unwrap().is_none());
            assert_eq!(pace.interval, Duration::from_secs(interval));
        }
        assert!(pace.take(Err(anyhow::anyhow!("unreachable"))).is_err());
    }
}
