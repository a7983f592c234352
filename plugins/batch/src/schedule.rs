//! Schedules of CronJobs, as their controller reads them.
//!
//! The controller uses robfig/cron: five fields with lists, ranges, steps and names, a macro such
//! as `@hourly`, or an interval (`@every 90m`). A field of days that is not `*` counts as an
//! alternative to the other field of days. An interval begins at the last scheduled run or, before
//! the first run, at the creation.
//!
//! A component has no time zone data. If the zone of a schedule is not UTC, its offset is unknown,
//! and every offset in use is possible. Without a zone, the zone of the controller applies, which
//! nothing reports.

mod expression;
mod field;
mod interval;

use kindsight_sdk::prelude::*;

use expression::Expression;

/// Names of UTC in the time zone database.
const UTC: [&str; 8] = [
    "Etc/GMT", "Etc/UCT", "Etc/UTC", "Etc/Zulu", "GMT", "UCT", "UTC", "Zulu",
];

/// Prefixes of an expression that contains its time zone.
const ZONE_PREFIXES: [&str; 2] = ["CRON_TZ=", "TZ="];

const MINUTE_MS: i64 = 60_000;

/// Offsets of local time from UTC in minutes: every zone is between these two.
const WEST_MAX: i64 = -12 * 60;
const EAST_MAX: i64 = 14 * 60;
/// Every offset is a multiple of this number of minutes.
const OFFSET_STEP: usize = 15;

/// The largest change of an offset between two runs, in milliseconds: daylight saving time.
const OFFSET_CHANGE_MS: i64 = 3_600_000;

/// A parsed schedule.
#[derive(Debug)]
pub(crate) enum Schedule {
    /// Times of the calendar.
    Calendar {
        expression: Expression,
        /// True if its times are in UTC. Otherwise, their offset is unknown.
        is_utc: bool,
    },
    /// `@every`, in milliseconds.
    Interval(i64),
}

impl Schedule {
    /// The schedule of a CronJob, if it can be read.
    pub(crate) fn of(object: &Object<'_>) -> Option<Self> {
        let zone = object.at("/spec/timeZone").text_or_empty();
        Self::parse(object.at("/spec/schedule").text()?, zone)
    }

    /// Parses `spec.schedule` and `spec.timeZone`. `None` if the controller would refuse the
    /// schedule.
    fn parse(text: &str, zone: &str) -> Option<Self> {
        let mut prefixes = ZONE_PREFIXES.iter();
        let (zone, text) = match prefixes.find_map(|prefix| text.strip_prefix(prefix)) {
            Some(rest) => rest.split_once(' ')?,
            None => (zone, text),
        };
        let text = text.trim();
        if let Some(duration) = text.strip_prefix("@every ") {
            return interval::parse_ms(duration).map(Self::Interval);
        }
        Some(Self::Calendar {
            expression: Expression::parse(text)?,
            is_utc: UTC.contains(&zone),
        })
    }

    /// The latest possible time of the due run at this position after `after_ms`, in Unix
    /// milliseconds: 1 is the next one. `None` if there may be no such run within five years.
    pub(crate) fn latest_due_ms(&self, after_ms: i64, position: usize) -> Option<i64> {
        let (expression, is_utc) = match self {
            Self::Interval(interval_ms) => {
                let length_ms = interval_ms.checked_mul(i64::try_from(position).ok()?)?;
                return after_ms.checked_add(length_ms);
            }
            Self::Calendar { expression, is_utc } => (expression, *is_utc),
        };
        let offsets = if is_utc { 0..=0 } else { WEST_MAX..=EAST_MAX };
        let mut latest_ms = None;
        for offset in offsets.step_by(OFFSET_STEP) {
            let mut minute = after_ms.div_euclid(MINUTE_MS) + offset;
            for _ in 0..position {
                minute = expression.next(minute)?;
            }
            latest_ms = latest_ms.max(Some((minute - offset) * MINUTE_MS));
        }
        latest_ms
    }

    /// Returns whether a run was certainly due between two times, both in Unix milliseconds.
    pub(crate) fn has_run_between(&self, after_ms: i64, before_ms: i64) -> bool {
        let after_ms = match self {
            Self::Calendar { is_utc: false, .. } => after_ms.saturating_add(OFFSET_CHANGE_MS),
            Self::Calendar { .. } | Self::Interval(_) => after_ms,
        };
        let due_ms = self.latest_due_ms(after_ms, 1);
        due_ms.is_some_and(|due_ms| due_ms < before_ms)
    }
}

#[cfg(test)]
mod tests;
