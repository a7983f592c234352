//! Objects that are being deleted.
//!
//! A deletion that waits for finalizers is normal at first. Ten minutes after its deletion time,
//! the verdict names the finalizers as the cause, because most of the controllers that remove them
//! take seconds. kstatus and Argo CD name no cause.

use std::borrow::Cow;

use crate::{Input, Object, Verdict};

/// The fields that [`deletion`] and [`super::presence`] read.
pub const DELETION_FIELDS: [&str; 2] = ["/metadata/deletionTimestamp", "/metadata/finalizers"];

/// Terminating, with the finalizers for which the deletion waits. Ten minutes after the deletion
/// time, the reason is `FinalizersRemain`.
///
/// Its Kind must be declared with [`crate::Kind::deletion_check`]. If the Kind does not request the
/// time, the reason does not change.
pub fn deletion(object: &Object<'_>, input: &Input<'_>) -> Option<Verdict> {
    let finalizers = object.deletion()?.finalizers;
    Some(deletion_waiting_for(object, input, &finalizers))
}

/// The same verdict, with these finalizers. For Kinds that have further finalizers.
pub fn deletion_waiting_for(
    object: &Object<'_>,
    input: &Input<'_>,
    finalizers: &[&str],
) -> Verdict {
    if finalizers.is_empty() {
        return Verdict::terminating("Deleting", "being deleted");
    }
    let names = finalizers.join(", ");
    let message = format!("being deleted, waits for finalizers: {names}");
    let early = Verdict::terminating("Deleting", message);
    deletion_delayed_by(object, input, early, || {
        let message = format!(
            "its deletion is delayed by finalizers that their controllers have not removed for more than ten minutes: {names}"
        );
        ("FinalizersRemain".into(), message)
    })
}

/// The verdict `early` until ten minutes after the deletion time, and Terminating with the reason
/// and the message of `cause` afterwards. For causes other than finalizers.
///
/// Returns `early` without a recheck if the object has no deletion time or its Kind does not
/// request the time.
pub fn deletion_delayed_by(
    object: &Object<'_>,
    input: &Input<'_>,
    early: Verdict,
    cause: impl FnOnce() -> (Cow<'static, str>, String),
) -> Verdict {
    let delayed_from_ms = object
        .deletion()
        .and_then(|deletion| deletion.delayed_from_ms());
    let (Some(delayed_from_ms), Some(now_ms)) = (delayed_from_ms, input.requested_now_ms()) else {
        return early;
    };
    early.until(delayed_from_ms, now_ms, || {
        let (reason, message) = cause();
        Verdict::terminating(reason, message)
    })
}

#[cfg(test)]
mod tests {
    use crate::harness::judge_at;
    use crate::prelude::*;

    const BUCKET: &str = r#"{"apiVersion": "v1", "kind": "Bucket", "metadata": {
        "deletionTimestamp": "1970-01-01T01:00:00Z", "finalizers": ["a.b/c", "d.e/f"]}}"#;

    /// One Kind receives the time, and one does not.
    struct Buckets;

    impl Interpreter for Buckets {
        fn describe() -> Description {
            let timeless = Kind::new("", "*", "Timeless").fields(&standard::DELETION_FIELDS);
            Description::new("buckets", "1.0.0", "Buckets")
                .kinds([Kind::new("", "*", "Bucket").deletion_check(), timeless])
                .states(&[PRESENT])
        }

        fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
            Ok(standard::presence(object, input))
        }
    }

    #[test]
    fn finalizers_are_the_cause_after_ten_minutes() {
        let judged_at = |now_ms| judge_at::<Buckets>(BUCKET, now_ms).unwrap();
        let early = judged_at(4_199_999);
        assert_eq!((early.state, &*early.reason), (TERMINATING, "Deleting"));
        assert_eq!(
            early.message,
            "being deleted, waits for finalizers: a.b/c, d.e/f"
        );
        assert_eq!(early.recheck_at_ms, Some(4_200_000));
        let late = judged_at(4_200_000);
        assert_eq!(
            (late.state, &*late.reason),
            (TERMINATING, "FinalizersRemain")
        );
        assert!(late.message.ends_with(": a.b/c, d.e/f"));
        assert_eq!(late.recheck_at_ms, None);
    }

    #[test]
    fn an_unknown_deletion_time_or_no_finalizer_needs_no_recheck() {
        let table = [
            BUCKET.replace(r#"["a.b/c", "d.e/f"]"#, "[]"),
            BUCKET.replace("1970-01-01T01:00:00Z", "yesterday"),
            BUCKET.replace("Bucket", "Timeless"),
        ];
        for object in table {
            let verdict = judge_at::<Buckets>(&object, i64::MAX).unwrap();
            assert_eq!((verdict.state, &*verdict.reason), (TERMINATING, "Deleting"));
            assert_eq!(verdict.recheck_at_ms, None, "{object}");
        }
    }
}
