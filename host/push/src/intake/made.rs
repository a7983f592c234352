//! Limits on the events that the lines of one body make.
//!
//! The events of a body are in memory until the pipeline has taken them. A short line can make a large event: a report
//! without a change has all items of the previous report. So the events of a body count, not only its lines. An agent
//! writes each subject once into a body, so that the reports of the body are at most as large as the cluster.

use std::collections::BTreeSet;

use kindsight_api::push::PushRefusal;
use kindsight_model::DigName;

use super::size::{CLUSTER_BYTES_MAX, CLUSTER_OBJECTS_MAX, Size};
use crate::wire::Line;

/// Maximum number of objects in the reports of a body: a quarter more than in a cluster, for applications without objects
/// and withdrawn deployments. A body of an agent has fewer than 20,000 of them.
pub const BODY_OBJECTS_MAX: usize = CLUSTER_OBJECTS_MAX / 4 * 5;
/// Maximum size of the objects in the reports of a body, in bytes: a quarter more than in a cluster, for removed objects.
pub const BODY_BYTES_MAX: usize = CLUSTER_BYTES_MAX / 4 * 5;
/// Maximum number of signals in a body: lines about the entire cluster. An agent writes the coverage twice, and each
/// other signal once.
pub const BODY_SIGNALS_MAX: usize = 32;

/// Maximum number of lines in a body about reports that cannot be read. The log gets one line for each of them. An agent
/// writes at most 64 of them.
pub const BODY_UNREADABLE_MAX: usize = 256;

/// Maximum number of times that a body ends the reports on an application again. The pipeline publishes the entire
/// application each time. An agent writes each application once into a body.
pub const BODY_REPEATS_MAX: usize = 32;

/// The events that lines made and that the intake still has.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// Reports and missing resources that wait for their `commit`. Earlier bodies can contain their lines.
    pub(super) uncommitted: Size,
    /// The events of the current body.
    pub(super) committed: Size,
    /// Number of signals in the current body.
    signals: usize,
    /// Number of lines in the current body about reports that cannot be read.
    unreadable: usize,
    /// The applications with reports in the current body.
    applications: BTreeSet<DigName>,
    /// How often the current body ended reports on these again.
    repeats: usize,
}

impl Made {
    /// Counts a line that makes an event, unless [`Self::report`] counts it.
    ///
    /// # Errors
    /// The body is over a limit.
    pub(super) fn line(&mut self, line: &Line<'_>) -> Result<(), PushRefusal> {
        match line {
            Line::Gone(_) => {
                self.committed.objects += 1;
                self.check()
            }
            Line::Unreadable(_) => self.unreadable(),
            Line::Coverage(_)
            | Line::Facts(_)
            | Line::Faults(_)
            | Line::Heard(_)
            | Line::Synced(_)
            | Line::Stale(_)
            | Line::Complete(_)
            | Line::Forget(_) => self.signal(),
            Line::Object(_)
            | Line::Rejected(_)
            | Line::Claims(_)
            | Line::Removed(_)
            | Line::Missing(_)
            | Line::Text(_)
            | Line::Report(_)
            | Line::MissingOf(_)
            | Line::Commit(_)
            | Line::CoverageSlot(_)
            | Line::Confirmed(_) => Ok(()),
        }
    }

    /// Counts a report, or the missing resources of an application, until the `commit` and the end of its body.
    ///
    /// # Errors
    /// The body is over a limit.
    pub(super) fn report(&mut self, size: Size) -> Result<(), PushRefusal> {
        self.uncommitted = self.uncommitted.plus(size);
        self.check()
    }

    /// Ends the reports of one moment. They count until the body ends.
    pub(super) fn commit(&mut self) {
        let uncommitted = std::mem::take(&mut self.uncommitted);
        self.committed = self.committed.plus(uncommitted);
    }

    /// Counts reports of one moment on an application.
    ///
    /// # Errors
    /// The body is over a limit.
    pub(super) fn application(&mut self, application: &DigName) -> Result<(), PushRefusal> {
        if !self.applications.contains(application) {
            self.applications.insert(application.clone());
            return Ok(());
        }
        self.repeats += 1;
        if self.repeats > BODY_REPEATS_MAX {
            let why = format!(
                "the body has reports of more than {BODY_REPEATS_MAX} moments on the same applications; run an agent of the release of the server"
            );
            return Err(PushRefusal::TooLarge(why));
        }
        Ok(())
    }

    /// Ends a body: its events leave the intake.
    pub(super) fn end_body(&mut self) {
        *self = Self {
            uncommitted: self.uncommitted,
            ..Self::default()
        };
    }

    fn signal(&mut self) -> Result<(), PushRefusal> {
        self.signals += 1;
        if self.signals > BODY_SIGNALS_MAX {
            let why = format!(
                "the body has more than {BODY_SIGNALS_MAX} lines about the coverage, the connection, the facts and the faults of the cluster; run an agent of the release of the server"
            );
            return Err(PushRefusal::TooLarge(why));
        }
        Ok(())
    }

    fn unreadable(&mut self) -> Result<(), PushRefusal> {
        self.unreadable += 1;
        if self.unreadable > BODY_UNREADABLE_MAX {
            let why = format!(
                "the body has more than {BODY_UNREADABLE_MAX} lines about reports that cannot be read; run an agent of the release of the server"
            );
            return Err(PushRefusal::TooLarge(why));
        }
        Ok(())
    }

    fn check(&self) -> Result<(), PushRefusal> {
        let made = self.committed.plus(self.uncommitted);
        if made.objects > BODY_OBJECTS_MAX || made.bytes > BODY_BYTES_MAX {
            let why = format!(
                "the reports of the body, with reports that wait for their `commit`, have more than {BODY_OBJECTS_MAX} objects or {BODY_BYTES_MAX} bytes; report fewer namespaces or Kinds, and run an agent of the release of the server"
            );
            return Err(PushRefusal::TooLarge(why));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reports_of_a_body_count_after_their_commit() {
        let half = Size {
            objects: BODY_OBJECTS_MAX / 2,
            bytes: BODY_BYTES_MAX / 2,
        };
        let (object, byte) = (
            Size {
                objects: 1,
                bytes: 0,
            },
            Size {
                objects: 0,
                bytes: 1,
            },
        );
        for more in [object, byte] {
            let mut made = Made::default();
            for _ in 0..2 {
                assert_eq!(made.report(half), Ok(()));
                made.commit();
            }
            let refused = made.report(more);
            assert!(
                matches!(refused, Err(PushRefusal::TooLarge(_))),
                "{refused:?}"
            );
        }
        let mut made = Made::default();
        assert_eq!(made.report(half), Ok(()));
        made.commit();
        // These reports wait for a `commit` in the next body.
        assert_eq!(made.report(half), Ok(()));
        made.end_body();
        assert_eq!(made.report(half), Ok(()));
        assert!(made.report(object).is_err());
    }

    #[test]
    fn the_moments_of_an_application_in_a_body_are_limited() {
        let [shop, blog]: [DigName; 2] =
            ["-/shop/-/web", "-/blog/-/web"].map(|name| name.parse().unwrap());
        let mut made = Made::default();
        assert_eq!(made.application(&blog), Ok(()));
        for _ in 0..=BODY_REPEATS_MAX {
            assert_eq!(made.application(&shop), Ok(()));
        }
        let refused = made.application(&shop);
        assert!(
            matches!(refused, Err(PushRefusal::TooLarge(_))),
            "{refused:?}"
        );
        made.end_body();
        assert_eq!(made.application(&shop), Ok(()));
    }

    #[test]
    fn events_about_single_apps_are_limited() {
        for (text, most) in [
            (r#"{"gone":{"deployment":"7-front"}}"#, BODY_OBJECTS_MAX),
            (
                r#"{"unreadable":{"origin":"o","error":"e"}}"#,
                BODY_UNREADABLE_MAX,
            ),
        ] {
            let line = Line::read(text).unwrap().unwrap();
            let mut made = Made::default();
            for _ in 0..most {
                assert_eq!(made.line(&line), Ok(()), "{text}");
            }
            assert!(made.line(&line).is_err(), "{text}");
            made.end_body();
            assert_eq!(made.line(&line), Ok(()), "{text}");
        }
    }
}
