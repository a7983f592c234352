//! `os.time` and `os.date`, with the time of the call and in UTC.

use kindsight_contract::time;

use super::Arguments;
use crate::error::Failure;
use crate::number;
use crate::value::{Builtin, Value};

const DAY_S: i64 = 86_400;
const DAYS: [&str; 7] = [
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// Seconds of the years 0 to 9999.
const YEARS_S: std::ops::RangeInclusive<i64> = -62_167_219_200..=253_402_300_799;

pub(super) fn call(arguments: &mut Arguments<'_, '_>, builtin: Builtin) -> Result<(), Failure> {
    if builtin == Builtin::OsDate {
        return date(arguments);
    }
    let seconds = match arguments.get(1) {
        Value::Nil => arguments.machine.now_s,
        _ => of_table(arguments)?,
    };
    arguments.give(whole(seconds));
    Ok(())
}

fn whole(value: i64) -> Value {
    let value = value.clamp(*YEARS_S.start(), *YEARS_S.end());
    Value::Number(number::of_seconds(value))
}

/// The seconds of a table with year, month, day and so on. Values over their range carry.
fn of_table(arguments: &mut Arguments<'_, '_>) -> Result<i64, Failure> {
    let table = arguments.table(1)?;
    let mut part = |name: &str, default: i64| -> Result<i64, Failure> {
        let value = match arguments.machine.heap.field(table, name)? {
            Value::Number(value) => Some(value),
            // As in gopher-lua, a number with leading zeros is not octal here.
            Value::String(text) => number::converted(arguments.machine.heap.text(text), None),
            _ => None,
        };
        let value = value.map_or(default, number::truncated);
        Ok(value.clamp(-1_000_000_000_000, 1_000_000_000_000))
    };
    let (year, month, day) = (part("year", -1)?, part("month", -1)?, part("day", -1)?);
    let seconds = part("hour", 12)? * 3600 + part("min", 0)? * 60 + part("sec", 0)?;
    let (year, month) = (
        year + (month - 1).div_euclid(12),
        (month - 1).rem_euclid(12) + 1,
    );
    let year = year.clamp(0, 9999);
    let first = time::unix_ms(&format!("{year:04}-{month:02}-01T00:00:00Z"));
    Ok(first.unwrap_or_default() / 1000 + (day - 1) * DAY_S + seconds)
}

/// The parts of a time, as texts with leading zeros.
struct Parts {
    year: String,
    month: String,
    day: String,
    hour: String,
    minute: String,
    second: String,
    /// Days since Thursday.
    weekday: usize,
}

impl Parts {
    fn of(seconds: i64) -> Self {
        let seconds = seconds.clamp(*YEARS_S.start(), *YEARS_S.end());
        let text = time::rfc_3339(seconds * 1000);
        let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default().to_owned();
        let weekday = seconds.div_euclid(DAY_S).rem_euclid(7);
        Self {
            year: part(0, 4),
            month: part(5, 7),
            day: part(8, 10),
            hour: part(11, 13),
            minute: part(14, 16),
            second: part(17, 19),
            weekday: usize::try_from(weekday).unwrap_or_default(),
        }
    }

    fn month_name(&self) -> &'static str {
        let month: usize = self.month.parse().unwrap_or(1);
        MONTHS
            .get(month.wrapping_sub(1))
            .copied()
            .unwrap_or_default()
    }

    fn day_name(&self) -> &'static str {
        DAYS.get(self.weekday).copied().unwrap_or_default()
    }

    /// The day of the week from Sunday as 0.
    fn day_of_week(&self) -> usize {
        (self.weekday + 4) % 7
    }

    fn half_day_hour(&self) -> String {
        let hour: u32 = self.hour.parse().unwrap_or_default();
        format!("{:02}", (hour + 11) % 12 + 1)
    }

    fn half_day(&self) -> &'static str {
        if self.hour.as_str() < "12" {
            "AM"
        } else {
            "PM"
        }
    }

    fn short_year(&self) -> &str {
        self.year.get(2..).unwrap_or_default()
    }

    /// The text of a directive of `os.date`. `None` if it is unknown.
    fn directive(&self, letter: char) -> Option<String> {
        let short = |name: &str| name.get(..3).unwrap_or_default().to_owned();
        Some(match letter {
            // gopher-lua uses a layout that Go does not know, so every day has this name.
            'a' => "mon".to_owned(),
            'A' => self.day_name().to_owned(),
            'b' => short(self.month_name()),
            'B' => self.month_name().to_owned(),
            'c' => {
                let (day, month, year) = (&self.day, short(self.month_name()), self.short_year());
                format!("{day} {month} {year} {}:{} UTC", self.hour, self.minute)
            }
            'd' => self.day.clone(),
            'F' => format!("{}-{}-{}", self.year, self.month, self.day),
            'H' => self.hour.clone(),
            'I' => self.half_day_hour(),
            'm' => self.month.clone(),
            'M' => self.minute.clone(),
            'p' => self.half_day().to_owned(),
            'P' => self.half_day().to_lowercase(),
            'S' => self.second.clone(),
            'w' => self.day_of_week().to_string(),
            'x' => format!("{}/{}/{}", self.hour, self.minute, self.second),
            'X' => format!("{}:{}:{}", self.hour, self.minute, self.second),
            'y' => self.short_year().to_owned(),
            'Y' => self.year.clone(),
            'z' => "+0000".to_owned(),
            'Z' => "UTC".to_owned(),
            _ => return None,
        })
    }
}

fn date(arguments: &mut Arguments<'_, '_>) -> Result<(), Failure> {
    let format = match arguments.get(1) {
        Value::Nil => b"%c".to_vec(),
        _ => arguments.text(1)?,
    };
    let format = String::from_utf8_lossy(&format).into_owned();
    let format = format.trim_start_matches('!');
    let seconds = arguments.whole_or(2, arguments.machine.now_s)?;
    let parts = Parts::of(seconds);
    if format.starts_with("*t") {
        return date_table(arguments, &parts);
    }
    let mut text = String::new();
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            text.push(letter);
            continue;
        }
        match letters.next() {
            Some('%') | None => text.push('%'),
            Some(letter) => match parts.directive(letter) {
                Some(part) => text.push_str(&part),
                None => text.extend(['%', letter]),
            },
        }
    }
    arguments.give_text(text.into_bytes())
}

fn date_table(arguments: &mut Arguments<'_, '_>, parts: &Parts) -> Result<(), Failure> {
    let table = Value::Table(arguments.machine.heap.table()?);
    let number = |text: &str| Value::Number(text.parse().unwrap_or_default());
    let members = [
        ("year", number(&parts.year)),
        ("month", number(&parts.month)),
        ("day", number(&parts.day)),
        ("hour", number(&parts.hour)),
        ("min", number(&parts.minute)),
        ("sec", number(&parts.second)),
        ("wday", Value::Number(number::of(parts.day_of_week() + 1))),
        ("yday", Value::Number(0.0)),
        ("isdst", Value::Bool(false)),
    ];
    for (name, value) in members {
        let name = arguments.machine.heap.borrowed(name.as_bytes());
        arguments.machine.raw_set(table, name, value)?;
    }
    arguments.give(table);
    Ok(())
}
