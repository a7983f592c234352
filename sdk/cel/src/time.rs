//! Timestamps and durations.

use std::fmt;

use kindsight_contract::time as rfc_3339;

/// Nanoseconds of a second.
pub(crate) const SECOND: i64 = 1_000_000_000;

/// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z in Unix seconds, the range of timestamps.
const FIRST_S: i64 = -62_135_596_800;
const LAST_S: i64 = 253_402_300_799;

/// A time from the year 1 to the year 9999, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    seconds: i64,
    nanoseconds: u32,
}

impl Timestamp {
    /// The time at a number of Unix seconds, or `None` if it is out of range.
    pub fn of_seconds(seconds: i64) -> Option<Self> {
        let is_valid = (FIRST_S..=LAST_S).contains(&seconds);
        is_valid.then_some(Self {
            seconds,
            nanoseconds: 0,
        })
    }

    /// The time in a text in RFC 3339 format, as Go parses it: with `T` and `Z` in upper case, and
    /// without leap seconds.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let is_strict = bytes.get(10) == Some(&b'T')
            && !text.ends_with('z')
            && bytes.get(17..19) != Some(b"60");
        let ms = rfc_3339::unix_ms(text).filter(|_| is_strict)?;
        let fraction = text.get(19..).and_then(|rest| rest.strip_prefix('.'));
        let digits = fraction.map_or(0, |fraction| {
            let count = fraction.bytes().take_while(u8::is_ascii_digit).count();
            let nine = format!("{:0<9}", fraction.get(..count.min(9)).unwrap_or_default());
            nine.parse().unwrap_or(0)
        });
        let whole = Self::of_seconds(ms.div_euclid(1000))?;
        Some(Self {
            nanoseconds: digits,
            ..whole
        })
    }

    /// Unix seconds, rounded down.
    pub(crate) fn seconds(self) -> i64 {
        self.seconds
    }

    /// Unix milliseconds, rounded down.
    pub fn unix_ms(self) -> i64 {
        self.seconds * 1000 + i64::from(self.nanoseconds / 1_000_000)
    }

    /// Milliseconds of the second.
    pub(crate) fn milliseconds(self) -> i64 {
        i64::from(self.nanoseconds / 1_000_000)
    }

    /// Returns whether this is the first time, 0001-01-01T00:00:00Z.
    pub(crate) fn is_zero(self) -> bool {
        self.seconds == FIRST_S && self.nanoseconds == 0
    }

    /// This time plus a number of nanoseconds, or `None` if it is out of range.
    pub(crate) fn plus(self, nanoseconds: i64) -> Option<Self> {
        let total = i64::from(self.nanoseconds) + nanoseconds.rem_euclid(SECOND);
        let seconds = self.seconds + nanoseconds.div_euclid(SECOND) + total / SECOND;
        let whole = Self::of_seconds(seconds)?;
        let nanoseconds = u32::try_from(total % SECOND).ok()?;
        Some(Self {
            nanoseconds,
            ..whole
        })
    }

    /// The nanoseconds from `other` to this time, or `None` if they are too many.
    pub(crate) fn minus(self, other: Self) -> Option<i64> {
        let seconds = (self.seconds - other.seconds).checked_mul(SECOND)?;
        seconds.checked_add(i64::from(self.nanoseconds) - i64::from(other.nanoseconds))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = rfc_3339::rfc_3339(self.seconds.saturating_mul(1000));
        f.write_str(whole.trim_end_matches('Z'))?;
        if self.nanoseconds > 0 {
            let digits = format!("{:09}", self.nanoseconds);
            write!(f, ".{}", digits.trim_end_matches('0'))?;
        }
        f.write_str("Z")
    }
}

/// Parses a duration as Go writes it (`1h30m`, `-1.5s`) to nanoseconds.
pub(crate) fn duration(text: &str) -> Option<i64> {
    let (is_negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let (part, after) = duration_part(rest)?;
        total += part;
        rest = after;
    }
    i64::try_from(if is_negative { -total } else { total }).ok()
}

/// The nanoseconds of the first number with a unit, and the remaining text.
fn duration_part(text: &str) -> Option<(i128, &str)> {
    const UNITS: [(&str, i128); 8] = [
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("μs", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, rest) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || whole.len() > 19 || fraction.contains('.') {
        return None;
    }
    let (unit, nanoseconds) = UNITS.into_iter().find(|(unit, _)| rest.starts_with(unit))?;
    let whole: i128 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    // Digits after the eighteenth are below a nanosecond.
    let fraction = fraction.get(..fraction.len().min(18))?;
    let scale = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
    let fraction: i128 = if fraction.is_empty() {
        0
    } else {
        fraction.parse().ok()?
    };
    let total = whole * nanoseconds + fraction * nanoseconds / scale;
    Some((total, rest.get(unit.len()..)?))
}

/// A duration in seconds, as cel-go writes it: `5400s`, `1.5s`.
pub(crate) fn duration_text(nanoseconds: i64) -> String {
    let magnitude = nanoseconds.unsigned_abs();
    let (seconds, rest) = (magnitude / 1_000_000_000, magnitude % 1_000_000_000);
    let sign = if nanoseconds < 0 { "-" } else { "" };
    if rest == 0 {
        return format!("{sign}{seconds}s");
    }
    let fraction = format!("{rest:09}");
    format!("{sign}{seconds}.{}s", fraction.trim_end_matches('0'))
}
