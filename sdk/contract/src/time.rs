//! Parses and writes times in RFC 3339 format, which Kubernetes uses, and parses times as Go prints
//! them.
//!
//! It does not use a library, because libraries support every calendar and format, and would be
//! half the size of a component.

/// Parses `text` to Unix milliseconds. Finer digits are truncated.
///
/// Accepts everything that RFC 3339 permits: `t` and `z` in either case, a space instead of the
/// `T`, any number of digits after the decimal point of the seconds, and an offset. A leap second
/// (`:60`) reads as the second before it, because Unix time has none. Returns `None` for anything
/// else, including other forms of ISO 8601.
pub fn unix_ms(text: &str) -> Option<i64> {
    let (local_ms, rest) = local_ms(text.as_bytes())?;
    Some(local_ms - offset_s(rest)? * 1000)
}

/// Parses a time as `Time.String()` of Go prints it, to Unix milliseconds: `2026-01-31
/// 12:00:00.123456 +0000 UTC m=+0.001`. Some controllers write this text into a status. The name of
/// the time zone and the reading of the monotonic clock (`m=…`) are ignored. Finer digits are
/// truncated. Returns `None` for anything else.
pub fn go_unix_ms(text: &str) -> Option<i64> {
    let (local_ms, rest) = local_ms(text.as_bytes())?;
    let &[
        b' ',
        sign @ (b'+' | b'-'),
        h1,
        h0,
        m1,
        m0,
        b' ',
        ref rest @ ..,
    ] = rest
    else {
        return None;
    };
    let rest = std::str::from_utf8(rest).ok()?;
    let (zone, monotonic) = match rest.split_once(" m=") {
        Some((zone, monotonic)) => (zone, Some(monotonic)),
        None => (rest, None),
    };
    let is_zone_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"+-".contains(&byte);
    let is_clock_byte = |byte: u8| byte.is_ascii_digit() || b"+-.".contains(&byte);
    let is_valid = !zone.is_empty()
        && zone.bytes().all(is_zone_byte)
        && monotonic.is_none_or(|clock| !clock.is_empty() && clock.bytes().all(is_clock_byte));
    let seconds = clock(number(&[h1, h0], 23)?, number(&[m1, m0], 59)?);
    let offset_s = if sign == b'+' { seconds } else { -seconds };
    is_valid.then_some(local_ms - offset_s * 1000)
}

/// The milliseconds of date and time of day, without the offset, and the remaining text.
fn local_ms(text: &[u8]) -> Option<(i64, &[u8])> {
    let (date, rest) = text.split_first_chunk::<10>()?;
    let day = days(date)?;
    let (time, rest) = rest.split_first_chunk::<9>()?;
    let &[b'T' | b't' | b' ', h1, h0, b':', m1, m0, b':', s1, s0] = time else {
        return None;
    };
    let seconds =
        clock(number(&[h1, h0], 23)?, number(&[m1, m0], 59)?) + number(&[s1, s0], 60)?.min(59);
    let (ms, rest) = fraction_ms(rest)?;
    Some(((day * 86_400 + seconds) * 1000 + ms, rest))
}

/// Writes Unix milliseconds in the format of Kubernetes: `2026-01-31T12:00:00Z`, with milliseconds
/// if they are not zero. A time outside the years 0 to 9999 is written as the nearest time inside.
pub fn rfc_3339(unix_ms: i64) -> String {
    let unix_ms = unix_ms.clamp(FIRST_MS, LAST_MS);
    let (day, ms) = (
        unix_ms.div_euclid(86_400_000),
        unix_ms.rem_euclid(86_400_000),
    );
    let (year, month, day) = date(day);
    let (seconds, ms) = (ms / 1000, ms % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let fraction = match ms {
        0 => String::new(),
        ms => format!(".{ms:03}"),
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

/// 0000-01-01T00:00:00Z.
const FIRST_MS: i64 = -62_167_219_200_000;
/// 9999-12-31T23:59:59.999Z.
const LAST_MS: i64 = 253_402_300_799_999;

/// Year, month and day of a number of days since 1970-01-01; the reverse of [`days`].
fn date(days: i64) -> (i64, i64, i64) {
    const DAYS_OF_400_YEARS: i64 = 146_097;
    let days = days + DAYS_TO_1970;
    let (era, day) = (
        days.div_euclid(DAYS_OF_400_YEARS),
        days.rem_euclid(DAYS_OF_400_YEARS),
    );
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let year = year + era * 400;
    if month < 10 {
        (year, month + 3, day)
    } else {
        (year + 1, month - 9, day)
    }
}

/// Days since 1970-01-01 of `YYYY-MM-DD`.
fn days(date: &[u8; 10]) -> Option<i64> {
    let &[y3, y2, y1, y0, b'-', m1, m0, b'-', d1, d0] = date else {
        return None;
    };
    let year = number(&[y3, y2, y1, y0], 9999)?;
    let month = number(&[m1, m0], 12).filter(|month| *month > 0)?;
    let day = number(&[d1, d0], days_of(year, month)).filter(|day| *day > 0)?;
    // Years that begin in March have the additional day at their end, so the days of the months
    // before it are the same in every year: 153 days in every five months.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - DAYS_TO_1970)
}

/// Days from 0000-03-01 to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;

fn days_of(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The seconds of hours and minutes.
fn clock(hours: i64, minutes: i64) -> i64 {
    hours * 3600 + minutes * 60
}

/// The milliseconds of the digits after a decimal point, and the remaining text. 0 if there is no
/// decimal point.
fn fraction_ms(text: &[u8]) -> Option<(i64, &[u8])> {
    let Some((b'.', rest)) = text.split_first() else {
        return Some((0, text));
    };
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = rest.split_at_checked(count).filter(|_| count > 0)?;
    let three = [0, 1, 2].map(|index| digits.get(index).copied().unwrap_or(b'0'));
    Some((number(&three, 999)?, rest))
}

/// The offset `Z` or `+HH:MM` in seconds east of UTC.
fn offset_s(text: &[u8]) -> Option<i64> {
    match *text {
        [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), h1, h0, b':', m1, m0] => {
            let seconds = clock(number(&[h1, h0], 23)?, number(&[m1, m0], 59)?);
            Some(if sign == b'+' { seconds } else { -seconds })
        }
        _ => None,
    }
}

/// A number that consists only of digits, up to `max`.
fn number(digits: &[u8], max: i64) -> Option<i64> {
    let number = digits.iter().try_fold(0, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| i64::from(digit - b'0'))?;
        Some(number * 10 + digit)
    });
    number.filter(|number| *number <= max)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_moment_is_read_as_controllers_write_it() {
        let table = [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2024-02-29T12:00:00Z", Some(1_709_208_000_000)),
            ("2024-02-29t12:00:00z", Some(1_709_208_000_000)),
            ("2024-02-29 12:00:00.123456Z", Some(1_709_208_000_123)),
            ("2024-02-29T12:00:00.5+02:30", Some(1_709_199_000_500)),
            ("2016-12-31T23:59:60Z", Some(1_483_228_799_000)),
            ("2023-02-29T12:00:00Z", None),
            ("2024-13-01T00:00:00Z", None),
            ("2024-00-01T00:00:00Z", None),
            ("2024-01-00T00:00:00Z", None),
            ("2024-01-01T24:00:00Z", None),
            ("2024-01-01T00:00:00", None),
            ("2024-01-01T00:00:00.Z", None),
            ("2024-01-01T00:00:00Z ", None),
            ("2024-01-01", None),
            ("2024-01-01T00:00:ä0Z", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(unix_ms(text), expected, "{text}");
        }
    }

    #[test]
    fn a_moment_is_read_as_go_prints_it() {
        let table = [
            ("1970-01-01 00:00:00 +0000 UTC", Some(0)),
            (
                "2024-02-29 12:00:00.123456789 +0000 UTC",
                Some(1_709_208_000_123),
            ),
            ("2024-02-29 12:00:00.5 +0230 +0230", Some(1_709_199_000_500)),
            (
                "2024-02-29 12:00:00 -0500 EST m=+0.000012",
                Some(1_709_226_000_000),
            ),
            (
                "2024-02-29 12:00:00 +0000 UTC m=-12.5",
                Some(1_709_208_000_000),
            ),
            ("2024-02-29 12:00:00 +0000", None),
            ("2024-02-29 12:00:00 +0000 ", None),
            ("2024-02-29 12:00:00 +00:00 UTC", None),
            ("2024-02-29 12:00:00 UTC", None),
            ("2024-02-29 12:00:00 +0000 UTC m=", None),
            ("2024-02-29 12:00:00 +0000 UTC and more", None),
            ("2024-02-29T12:00:00Z", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(go_unix_ms(text), expected, "{text}");
        }
    }

    #[test]
    fn a_moment_is_written_as_kubernetes_writes_it() {
        for text in [
            "1970-01-01T00:00:00Z",
            "0000-01-01T00:00:00Z",
            "1969-12-31T23:59:59.999Z",
            "2024-02-29T12:00:00.050Z",
            "9999-12-31T23:59:59.999Z",
        ] {
            assert_eq!(unix_ms(text).map(rfc_3339).as_deref(), Some(text));
        }
        assert_eq!(rfc_3339(i64::MIN), "0000-01-01T00:00:00Z");
        assert_eq!(rfc_3339(i64::MAX), "9999-12-31T23:59:59.999Z");
    }

    fn by_library(text: &str) -> Option<i64> {
        let time: jiff::Timestamp = text.parse().ok()?;
        Some(time.as_millisecond())
    }

    proptest! {
        #[test]
        fn any_moment_that_is_written_is_read_as_the_same(ms in FIRST_MS..=LAST_MS) {
            let text = rfc_3339(ms);
            prop_assert_eq!(unix_ms(&text), Some(ms), "{}", text);
        }

        #[test]
        fn a_time_is_the_same_as_in_a_library(
            (year, month, day) in (1971_i32..=9998, 1_u32..=12, 1_u32..=31),
            (hour, minute, second) in (0_u32..=24, 0_u32..=60, 0_u32..=60),
            fraction in "(\\.[0-9]{1,9})?",
            offset in "Z|z|[+-](0[0-9]|1[0-9]|2[0-3]):[0-5][0-9]",
        ) {
            let text = format!(
                "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}{offset}"
            );
            prop_assert_eq!(unix_ms(&text), by_library(&text), "{}", text);
        }

        #[test]
        fn a_written_value_is_read_again(ms in -62_167_219_200_000_i64..=253_402_300_799_999) {
            prop_assert_eq!(unix_ms(&rfc_3339(ms)), Some(ms));
        }

        #[test]
        fn any_text_is_read_as_a_library_would_or_not_at_all(text in "[0-9TtZz:. +-]{0,40}|.{0,40}") {
            if let Some(ms) = unix_ms(&text) {
                prop_assert_eq!(Some(ms), by_library(&text), "{}", text);
            }
        }
    }
}
