//! Verdicts that change when time passes.

use std::borrow::Cow;

use crate::Verdict;

impl Verdict {
    /// Returns this verdict before `deadline_ms`, with a recheck at that time, and `then` after it.
    /// Both times are in Unix milliseconds.
    #[must_use]
    pub fn until(self, deadline_ms: i64, now_ms: i64, then: impl FnOnce() -> Self) -> Self {
        if now_ms < deadline_ms {
            self.recheck_at(deadline_ms)
        } else {
            then()
        }
    }

    /// Pending before `deadline_ms`, Failed after it, with the same reason and message. Both times
    /// are in Unix milliseconds.
    pub fn pending_until(
        deadline_ms: i64,
        now_ms: i64,
        reason: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (reason, message) = (reason.into(), message.into());
        if now_ms < deadline_ms {
            Self::pending(reason, message).recheck_at(deadline_ms)
        } else {
            Self::failed(reason, message)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_verdict_begins_at_the_deadline() {
        let table = [
            (9, "Pending", Some(10)),
            (10, "Failed", None),
            (11, "Failed", None),
        ];
        for (now_ms, state, recheck_at_ms) in table {
            let verdict = Verdict::pending_until(10, now_ms, "Slow", "it takes long");
            assert_eq!(
                (&*verdict.state, verdict.recheck_at_ms),
                (state, recheck_at_ms)
            );
            assert_eq!(
                (&*verdict.reason, &*verdict.message),
                ("Slow", "it takes long")
            );
        }
    }

    #[test]
    fn anything_may_follow_a_deadline() {
        let judged_at = |now_ms| {
            Verdict::pending("New", "").until(10, now_ms, || Verdict::present("Silent", ""))
        };
        assert_eq!(judged_at(9), Verdict::pending("New", "").recheck_at(10));
        assert_eq!(judged_at(10), Verdict::present("Silent", ""));
    }
}
