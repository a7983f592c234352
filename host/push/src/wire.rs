//! The lines of a body.
//!
//! A body is gzip of JSON lines. Each line is an object with one member, which names the line. Lines that have no limit
//! on their number come first, as items: `object`, `rejected`, `claims`, `removed`, `missing` and `text`. A later line
//! takes them in their order: `report` forms a report of them, and `missing-of` the missing resources of an
//! application. `commit` ends the reports of one moment. So every line is small, and the reports of one moment can be in
//! several bodies.
//!
//! A report is the difference from the previous report on the same subject in the same epoch. A member that is absent
//! did not change.

mod coverage;
mod items;
mod needs;
mod report;
mod signals;

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use coverage::{CoverageLine, CoverageSlot, CoverageState};
pub use items::{ClaimsLine, MissingLine, ObjectLine, RejectedLine, RemovedLine, object_line};
pub use needs::{needs_from_wire, needs_to_wire};
pub use report::{MissingOfLine, Part, ReportLine, WireOrigin, WireSubject};
pub use signals::{ConfirmedLine, FactsLine, GoneLine, StaleLine, UnreadableLine};

/// Number of coverages that the lines of an epoch can refer to at a time.
pub const COVERAGE_SLOTS: usize = 32;

/// One line of a body.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line<'l> {
    /// An object of the next report.
    Object(ObjectLine<'l>),
    /// An object of the next report that the agent could not decode.
    Rejected(RejectedLine),
    /// The claims of several applications on an object of the next report.
    Claims(ClaimsLine),
    /// An object that the next report no longer has.
    Removed(RemovedLine),
    /// A missing resource of the next `missing-of`.
    Missing(MissingLine),
    /// A part of the status that a monitor wrote, for the next report.
    Text(Cow<'l, str>),
    /// A report on one subject.
    Report(Box<ReportLine>),
    /// The missing resources of one application.
    MissingOf(MissingOfLine),
    /// The end of the reports of one moment.
    Commit(Nothing),
    /// A coverage that later lines name by its slot.
    CoverageSlot(CoverageSlot),
    /// The coverage of the cluster.
    Coverage(CoverageLine),
    /// The cluster no longer reports on an app.
    Gone(GoneLine),
    /// A report that cannot be used.
    Unreadable(UnreadableLine),
    /// Facts about the cluster.
    Facts(Box<FactsLine>),
    /// Faults without a known app.
    Faults(Vec<String>),
    /// The cluster answered.
    Heard(Nothing),
    /// Everything was reported.
    Synced(Nothing),
    /// The cluster does not answer.
    Stale(StaleLine),
    /// The end of the complete report that began the epoch.
    Complete(Nothing),
    /// The name belongs to another cluster now.
    Forget(Nothing),
    /// The answer to a request for confirmation.
    Confirmed(ConfirmedLine),
}

/// The content of a line that has none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nothing {}

impl<'l> Line<'l> {
    /// Reads a line; `None` for a line of another release, which is ignored.
    ///
    /// # Errors
    /// The line is not JSON, or a known line lacks a member.
    pub fn read(text: &'l str) -> Result<Option<Self>, serde_json::Error> {
        fn of<'l, T: Deserialize<'l>>(
            content: &'l RawValue,
            line: impl FnOnce(T) -> Line<'l>,
        ) -> Result<Option<Line<'l>>, serde_json::Error> {
            serde_json::from_str(content.get()).map(|content| Some(line(content)))
        }
        let Named { name, content } = serde_json::from_str(text)?;
        match &*name {
            "object" => of(content, Self::Object),
            "rejected" => of(content, Self::Rejected),
            "claims" => of(content, Self::Claims),
            "removed" => of(content, Self::Removed),
            "missing" => of(content, Self::Missing),
            "text" => of(content, |text: String| Self::Text(text.into())),
            "report" => of(content, |report| Self::Report(Box::new(report))),
            "missing-of" => of(content, Self::MissingOf),
            "commit" => of(content, Self::Commit),
            "coverage-slot" => of(content, Self::CoverageSlot),
            "coverage" => of(content, Self::Coverage),
            "gone" => of(content, Self::Gone),
            "unreadable" => of(content, Self::Unreadable),
            "facts" => of(content, |facts| Self::Facts(Box::new(facts))),
            "faults" => of(content, Self::Faults),
            "heard" => of(content, Self::Heard),
            "synced" => of(content, Self::Synced),
            "stale" => of(content, Self::Stale),
            "complete" => of(content, Self::Complete),
            "forget" => of(content, Self::Forget),
            "confirmed" => of(content, Self::Confirmed),
            _ => Ok(None),
        }
    }
}

/// The first member of a line. Later members are of another release, and are ignored.
struct Named<'l> {
    name: Cow<'l, str>,
    content: &'l RawValue,
}

impl<'de> Deserialize<'de> for Named<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct First;

        impl<'de> Visitor<'de> for First {
            type Value = Named<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with one member, which names the line")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named<'de>, A::Error> {
                let first = map.next_entry::<Name<'de>, &'de RawValue>()?;
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                let no_member = || serde::de::Error::custom("the object has no member");
                let (Name(name), content) = first.ok_or_else(no_member)?;
                Ok(Named { name, content })
            }
        }

        deserializer.deserialize_map(First)
    }
}

/// A name that is borrowed unless it has escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Name<'l>(#[serde(borrow)] Cow<'l, str>);

#[cfg(test)]
mod tests;
