//! Parts of times and durations.

use kindsight_contract::time as rfc_3339;

use super::Called;
use crate::error::Evaluated;
use crate::time::{SECOND, Timestamp};
use crate::{EvaluationError, Value};

/// Seconds of a day.
const DAY_S: i64 = 86_400;

/// A part of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimePart {
    /// The day of the month, from 1.
    Date,
    /// The day of the month, from 0.
    DayOfMonth,
    /// The day of the week, from 0 for Sunday.
    DayOfWeek,
    /// The day of the year, from 0.
    DayOfYear,
    FullYear,
    Hours,
    Milliseconds,
    Minutes,
    /// The month, from 0.
    Month,
    Seconds,
}

pub(super) fn call<'a>(part: TimePart, arguments: &[Value<'a>]) -> Called<'a> {
    match arguments {
        [Value::Timestamp(time)] => Some(Ok(Value::Int(of_time(part, *time)))),
        [Value::Timestamp(time), Value::String(zone)] => Some(in_zone(part, *time, zone.as_str())),
        [Value::Duration(nanoseconds)] => of_duration(part, *nanoseconds).map(Value::Int).map(Ok),
        _ => None,
    }
}

fn of_duration(part: TimePart, nanoseconds: i64) -> Option<i64> {
    match part {
        TimePart::Hours => Some(nanoseconds / (3600 * SECOND)),
        TimePart::Minutes => Some(nanoseconds / (60 * SECOND)),
        TimePart::Seconds => Some(nanoseconds / SECOND),
        TimePart::Milliseconds => Some(nanoseconds / 1_000_000),
        _ => None,
    }
}

/// A part of a time in a zone: `UTC`, or an offset such as `+02:00`. Names of zones need a data base,
/// which a component does not have.
fn in_zone<'a>(part: TimePart, time: Timestamp, zone: &str) -> Evaluated<Value<'a>> {
    let invalid = || {
        let what = format!("`{zone}` is not a time zone: use UTC or an offset such as +02:00");
        EvaluationError::Invalid(what)
    };
    let offset_s = if zone == "UTC" {
        0
    } else {
        let signed = if zone.starts_with(['+', '-']) {
            zone.to_owned()
        } else {
            format!("+{zone}")
        };
        let midnight = rfc_3339::unix_ms(&format!("1970-01-01T00:00:00{signed}"));
        -midnight.ok_or_else(invalid)? / 1000
    };
    let local = time
        .plus(offset_s * SECOND)
        .ok_or(EvaluationError::Overflow("timestamp"))?;
    Ok(Value::Int(of_time(part, local)))
}

fn of_time(part: TimePart, time: Timestamp) -> i64 {
    let seconds = time.seconds();
    let (day, second) = (seconds.div_euclid(DAY_S), seconds.rem_euclid(DAY_S));
    let text = rfc_3339::rfc_3339(seconds.saturating_mul(1000));
    let field = |from: usize, to: usize| -> i64 {
        let digits = text.get(from..to).unwrap_or_default();
        digits.parse().unwrap_or_default()
    };
    match part {
        TimePart::FullYear => field(0, 4),
        TimePart::Month => field(5, 7) - 1,
        TimePart::Date => field(8, 10),
        TimePart::DayOfMonth => field(8, 10) - 1,
        TimePart::DayOfWeek => (day + 4).rem_euclid(7),
        TimePart::DayOfYear => {
            let first = rfc_3339::unix_ms(&format!("{:04}-01-01T00:00:00Z", field(0, 4)));
            day - first.unwrap_or_default().div_euclid(DAY_S * 1000)
        }
        TimePart::Hours => second / 3600,
        TimePart::Minutes => second / 60 % 60,
        TimePart::Seconds => second % 60,
        TimePart::Milliseconds => time.milliseconds(),
    }
}
