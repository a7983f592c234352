//! The five fields of a cron expression.

use super::field::{DAYS, HOURS, MINUTES, MONTHS, Values, WEEKDAYS};

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

const MINUTES_PER_DAY: i64 = 24 * 60;

/// The days that are searched for the next run: five years, as in the controller.
const SEARCH_DAYS: i64 = 5 * 366;

/// A parsed cron expression.
#[derive(Debug)]
pub(crate) struct Expression {
    minutes: Values,
    hours: Values,
    days: Values,
    months: Values,
    weekdays: Values,
}

impl Expression {
    /// Parses five fields or a macro. `None` if the controller would refuse the text.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let is_macro = |(name, _): &&(&str, &str)| *name == text;
        let text = MACROS.iter().find(is_macro).map_or(text, |(_, full)| full);
        let mut fields = text.split_ascii_whitespace();
        let expression = Self {
            minutes: Values::parse(fields.next()?, &MINUTES)?,
            hours: Values::parse(fields.next()?, &HOURS)?,
            days: Values::parse(fields.next()?, &DAYS)?,
            months: Values::parse(fields.next()?, &MONTHS)?,
            weekdays: Values::parse(fields.next()?, &WEEKDAYS)?,
        };
        fields.next().is_none().then_some(expression)
    }

    /// The first due minute after a minute, both counted since 1970-01-01T00:00 in local time.
    pub(super) fn next(&self, after: i64) -> Option<i64> {
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
