//! Cron expressions, as the CronJob controller reads them.
//!
//! The controller uses robfig/cron: five fields with lists, ranges, steps and names, or a macro such
//! as `@hourly`. A field of days that is not `*` counts as an alternative to the other field of
//! days. `@every` is not read, because its runs depend on the times of earlier runs.
//!
//! A component has no time zone data. If the zone of a schedule is not UTC, its offset is unknown,
//! and every offset in use is possible. Without a zone, the zone of the controller applies, which
//! nothing reports.

mod field;

use kindsight_sdk::prelude::*;

use field::{DAYS, HOURS, MINUTES, MONTHS, Values, WEEKDAYS};

/// Macros with their expressions.
const MACROS: [(&str, &str); 7] = [
    ("@annually", "0 0 1 1 *"),
    ("@daily", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
    ("@midnight", "0 0 * * *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@yearly", "0 0 1 1 *"),
];

/// Names of UTC in the time zone database.
const UTC: [&str; 8] = [
    "Etc/GMT", "Etc/UCT", "Etc/UTC", "Etc/Zulu", "GMT", "UCT", "UTC", "Zulu",
];

/// Prefixes of an expression that contains its time zone.
const ZONE_PREFIXES: [&str; 2] = ["CRON_TZ=", "TZ="];

const MINUTE_MS: i64 = 60_000;
const MINUTES_PER_DAY: i64 = 24 * 60;

/// The days that are searched for the next run: five years, as in the controller.
const SEARCH_DAYS: i64 = 5 * 366;

/// Offsets of local time from UTC in minutes: every zone is between these two.
const WEST_MAX: i64 = -12 * 60;
const EAST_MAX: i64 = 14 * 60;
/// Every offset is a multiple of this number of minutes.
const OFFSET_STEP: usize = 15;

/// A parsed cron expression.
#[derive(Debug)]
pub(crate) struct Schedule {
    minutes: Values,
    hours: Values,
    days: Values,
    months: Values,
    weekdays: Values,
    /// True if its times are in UTC. Otherwise, their offset is unknown.
    is_utc: bool,
}

impl Schedule {
    /// The schedule of a CronJob, if it can be read.
    pub(crate) fn of(object: &Object<'_>) -> Option<Self> {
        let zone = object.at("/spec/timeZone").text_or_empty();
        Self::parse(object.at("/spec/schedule").text()?, zone)
    }

    /// Parses `spec.schedule` and `spec.timeZone`. `None` if the controller would refuse the
    /// expression, and for `@every`.
    fn parse(text: &str, zone: &str) -> Option<Self> {
        let mut prefixes = ZONE_PREFIXES.iter();
        let (zone, text) = match prefixes.find_map(|prefix| text.strip_prefix(prefix)) {
            Some(rest) => rest.split_once(' ')?,
            None => (zone, text),
        };
        let text = text.trim();
        let is_macro = |(name, _): &&(&str, &str)| *name == text;
        let text = MACROS.iter().find(is_macro).map_or(text, |(_, full)| full);
        let mut fields = text.split_ascii_whitespace();
        let schedule = Self {
            minutes: Values::parse(fields.next()?, &MINUTES)?,
            hours: Values::parse(fields.next()?, &HOURS)?,
            days: Values::parse(fields.next()?, &DAYS)?,
            months: Values::parse(fields.next()?, &MONTHS)?,
            weekdays: Values::parse(fields.next()?, &WEEKDAYS)?,
            is_utc: UTC.contains(&zone),
        };
        fields.next().is_none().then_some(schedule)
    }

    /// The latest possible time of the due run at this position after `after_ms`, in Unix
    /// milliseconds: 1 is the next one. `None` if there may be no such run within five years.
    pub(crate) fn latest_due_ms(&self, after_ms: i64, position: usize) -> Option<i64> {
        let offsets = if self.is_utc {
            0..=0
        } else {
            WEST_MAX..=EAST_MAX
        };
        let mut latest_ms = None;
        for offset in offsets.step_by(OFFSET_STEP) {
            let mut minute = after_ms.div_euclid(MINUTE_MS) + offset;
            for _ in 0..position {
                minute = self.next(minute)?;
            }
            latest_ms = latest_ms.max(Some((minute - offset) * MINUTE_MS));
        }
        latest_ms
    }

    /// The first due minute after a minute, both counted since 1970-01-01T00:00 in local time.
    fn next(&self, after: i64) -> Option<i64> {
        let first = after + 1;
        let today = first.div_euclid(MINUTES_PER_DAY);
        let mut days = today..today + SEARCH_DAYS;
        days.find_map(|day| {
            let from = (first - day * MINUTES_PER_DAY).max(0);
            let is_due =
                |minute: &i64| self.hours.contain(minute / 60) && self.minutes.contain(minute % 60);
            let minute = self
                .includes(day)
                .then(|| (from..MINUTES_PER_DAY).find(is_due))??;
            Some(day * MINUTES_PER_DAY + minute)
        })
    }

    /// Returns whether a day, counted since 1970-01-01, is a day of this schedule.
    fn includes(&self, day: i64) -> bool {
        let (month, day_of_month) = month_and_day(day);
        // 1970-01-01 was a Thursday.
        let weekday = (day + 4).rem_euclid(7);
        let (is_day, is_weekday) = (
            self.days.contain(day_of_month),
            self.weekdays.contain(weekday),
        );
        let is_included = if self.days.is_any() || self.weekdays.is_any() {
            is_day && is_weekday
        } else {
            is_day || is_weekday
        };
        is_included && self.months.contain(month)
    }
}

/// The month and the day of the month of a day, counted since 1970-01-01.
fn month_and_day(day: i64) -> (i64, i64) {
    const DAYS_FROM_MARCH_OF_YEAR_0: i64 = 719_468;
    const DAYS_OF_400_YEARS: i64 = 146_097;
    // Years that begin in March have the leap day at their end.
    let day = (day + DAYS_FROM_MARCH_OF_YEAR_0).rem_euclid(DAYS_OF_400_YEARS);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    // Five months from March or from August always have 153 days.
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5 + 1;
    ((month + 2) % 12 + 1, day_of_month)
}

#[cfg(test)]
mod tests;
