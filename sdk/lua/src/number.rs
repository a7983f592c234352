//! Numbers as texts, as gopher-lua reads and prints them.

use std::fmt::Write as _;

/// The number of a literal in a script: decimal, or hexadecimal (`0x10`).
pub(crate) fn literal(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    match hexadecimal(text) {
        Some(digits) => integer(digits, 16),
        None => text.parse().ok(),
    }
}

/// The number in a text that a script uses as a number, such as `'10' + 1`.
///
/// As in gopher-lua, the text has the syntax of Go instead of the syntax of Lua: `010` is octal, and `0b11`,
/// `0o17`, `inf` and `nan` are numbers. Underscores between digits and hexadecimal fractions, which Go
/// accepts too, are not numbers here.
pub(crate) fn parse(text: &[u8]) -> Option<f64> {
    let text = trimmed(text)?;
    integer(text, 0).or_else(|| fraction(text))
}

/// The number that `tonumber` gives for a text.
///
/// As in gopher-lua, and unlike Lua 5.1: without a point, the text is a whole number of 64 bits, so
/// `1e3` is none. Without a base, it is decimal, also with leading zeros, or hexadecimal. With a point,
/// the base has no effect.
pub(crate) fn converted(text: &[u8], base: Option<i64>) -> Option<f64> {
    let text = trimmed(text)?;
    if text.contains('.') {
        return fraction(text);
    }
    match (base, hexadecimal(text)) {
        (None, Some(digits)) => integer(digits, 16),
        (base, _) => integer(text, base.unwrap_or(10)),
    }
}

/// The text without the blanks around it that gopher-lua ignores.
fn trimmed(text: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(text).ok()?;
    Some(text.trim_matches([' ', '\t', '\n']))
}

/// The text behind the prefix of a hexadecimal number.
fn hexadecimal(text: &str) -> Option<&str> {
    let lower = text.strip_prefix("0x");
    lower.or_else(|| text.strip_prefix("0X"))
}

/// A whole number of 64 bits with an optional sign, as `strconv.ParseInt` of Go reads it. In base 0,
/// the text names its base. Another base is from 2 to 36.
fn integer(text: &str, base: i64) -> Option<f64> {
    let is_negative = text.starts_with('-');
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (digits, base) = match base {
        0 => named_base(digits),
        base => (digits, u32::try_from(base).ok()?),
    };
    // A second sign is no digit.
    if !(2..=36).contains(&base) || digits.starts_with(['-', '+']) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, base).ok()?;
    let value = if is_negative {
        0_i64.checked_sub_unsigned(magnitude)
    } else {
        i64::try_from(magnitude).ok()
    };
    #[expect(
        clippy::cast_precision_loss,
        reason = "as in gopher-lua, the nearest number counts"
    )]
    value.map(|value| value as f64)
}

/// The digits of a number behind the prefix that names its base, and the base.
fn named_base(digits: &str) -> (&str, u32) {
    const PREFIXES: [(&str, u32); 7] = [
        ("0x", 16),
        ("0X", 16),
        ("0b", 2),
        ("0B", 2),
        ("0o", 8),
        ("0O", 8),
        ("0", 8),
    ];
    let named = PREFIXES.iter().find_map(|(prefix, base)| {
        let rest = digits.strip_prefix(prefix)?;
        (!rest.is_empty()).then_some((rest, *base))
    });
    named.unwrap_or((digits, 10))
}

/// A decimal number, with or without a fraction and an exponent, as `strconv.ParseFloat` of Go reads
/// it. A number that is too large is none; `inf` is the name of a number.
fn fraction(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    let is_too_large = value.is_infinite() && text.contains(|letter: char| letter.is_ascii_digit());
    (!is_too_large).then_some(value)
}

/// The number as a whole number, if it is one.
pub(crate) fn whole(value: f64) -> Option<i64> {
    /// 2^63, the first number that is too large.
    const END: f64 = 9_223_372_036_854_775_808.0;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the value is whole and in the range"
    )]
    let whole = || value as i64;
    (value.fract() == 0.0 && (-END..END).contains(&value)).then(whole)
}

/// The number without its fraction, as a position or a count: too large numbers become the largest.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the conversion of Rust saturates"
)]
pub(crate) fn truncated(value: f64) -> i64 {
    value as i64
}

/// A whole number as a count or position: negative ones are 0, too large ones the largest. The size of
/// a position differs between a guest and the host.
pub(crate) fn count(value: i64) -> usize {
    usize::try_from(value.max(0)).unwrap_or(usize::MAX)
}

/// Seconds as a number.
#[expect(
    clippy::cast_precision_loss,
    reason = "the seconds of the years 0 to 9999 are below 2^53"
)]
pub(crate) fn of_seconds(seconds: i64) -> f64 {
    seconds as f64
}

/// A count or position as a number.
#[expect(
    clippy::cast_precision_loss,
    reason = "no count or position of a run is over 2^53"
)]
pub(crate) fn of(count: usize) -> f64 {
    count as f64
}

/// The text of a number: whole numbers of 64 bits without a fraction, and others as Go prints them.
pub(crate) fn print(value: f64) -> String {
    match whole(value) {
        Some(whole) => whole.to_string(),
        None => shortest(value, 'e'),
    }
}

/// The fewest digits that read as the same number, with an exponent below 0.0001 and from 1e6 on, as
/// the directives `%g` and `%v` of Go.
fn shortest(value: f64, letter: char) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return value.to_string();
    }
    with_exponent(digits, exponent, letter)
}

/// Digits and exponent as C writes them: a sign and at least two digits of the exponent.
fn with_exponent(digits: &str, exponent: i32, letter: char) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    let mut text = String::with_capacity(digits.len() + 5);
    // Writing to a String does not fail.
    let _ = write!(text, "{digits}{letter}{sign}{:02}", exponent.unsigned_abs());
    text
}

/// The directive `%e` with a precision.
pub(crate) fn scientific(value: f64, precision: usize, letter: char) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    with_exponent(digits, exponent.parse().unwrap_or_default(), letter)
}

/// The directive `%g`: at most `precision` significant digits, or the fewest that suffice.
pub(crate) fn general(value: f64, precision: Option<usize>, letter: char) -> String {
    let Some(precision) = precision.map(|precision| precision.max(1)) else {
        return shortest(value, letter);
    };
    let text = format!("{value:.*e}", precision - 1);
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let trimmed = |digits: &str| {
        if digits.contains('.') {
            digits
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_owned()
        } else {
            digits.to_owned()
        }
    };
    let limit = i32::try_from(precision).unwrap_or(i32::MAX);
    if (-4..limit).contains(&exponent) {
        let fraction = usize::try_from(limit - 1 - exponent).unwrap_or_default();
        return trimmed(&format!("{value:.fraction$}"));
    }
    with_exponent(&trimmed(digits), exponent, letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_in_go() {
        for (value, text) in [
            (1.0, "1"),
            (-0.0, "0"),
            (-0.5, "-0.5"),
            (1e15, "1000000000000000"),
            (1e18, "1000000000000000000"),
            (1e19, "1e+19"),
            (-1e19, "-1e+19"),
            (1e21, "1e+21"),
            (123_456.5, "123456.5"),
            (1_234_567.5, "1.2345675e+06"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (0.1 + 0.2, "0.30000000000000004"),
            (f64::INFINITY, "+Inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(print(value), text);
        }
        assert_eq!(general(0.000_012_345, Some(3), 'e'), "1.23e-05");
        assert_eq!(general(100_000.0, Some(6), 'e'), "100000");
        assert_eq!(general(100_000.0, None, 'e'), "100000");
        assert_eq!(general(1_000_000.0, None, 'E'), "1E+06");
        assert_eq!(general(0.0, None, 'e'), "0");
        assert_eq!(scientific(12345.678, 2, 'e'), "1.23e+04");
    }

    #[test]
    fn literals_are_read_as_in_lua() {
        for (text, value) in [
            ("10", Some(10.0)),
            ("010", Some(10.0)),
            ("0x1F", Some(31.0)),
            ("1e3", Some(1000.0)),
            (".5", Some(0.5)),
            ("3.", Some(3.0)),
            ("0b11", None),
            ("0x", None),
            ("1.5.5", None),
        ] {
            assert_eq!(literal(text.as_bytes()), value, "{text}");
        }
    }

    /// The expected values are the ones of gopher-lua 1.1.2.
    #[test]
    fn texts_are_numbers_as_in_gopher_lua() {
        for (text, in_arithmetic, by_tonumber) in [
            ("10", Some(10.0), Some(10.0)),
            (" \t12\n", Some(12.0), Some(12.0)),
            ("12\r", None, None),
            ("", None, None),
            ("1x", None, None),
            ("1e3", Some(1000.0), None),
            ("1.5e3", Some(1500.0), Some(1500.0)),
            ("1.", Some(1.0), Some(1.0)),
            (".5", Some(0.5), Some(0.5)),
            ("010", Some(8.0), Some(10.0)),
            ("-010", Some(-8.0), Some(-10.0)),
            ("08", Some(8.0), Some(8.0)),
            ("00", Some(0.0), Some(0.0)),
            ("0x1F", Some(31.0), Some(31.0)),
            ("-0x10", Some(-16.0), None),
            ("0x-10", None, Some(-16.0)),
            ("0x", None, None),
            ("0b11", Some(3.0), None),
            ("0o17", Some(15.0), None),
            ("+5", Some(5.0), Some(5.0)),
            ("+-5", None, None),
            ("--5", None, None),
            ("99999999999999999999", Some(1e20), None),
            (
                "-9223372036854775808",
                Some(-(2_f64.powi(63))),
                Some(-(2_f64.powi(63))),
            ),
            ("1e400", None, None),
            ("inf", Some(f64::INFINITY), None),
            ("-Infinity", Some(f64::NEG_INFINITY), None),
        ] {
            let bytes = text.as_bytes();
            assert_eq!(parse(bytes), in_arithmetic, "'{text}' + 0");
            assert_eq!(converted(bytes, None), by_tonumber, "tonumber('{text}')");
        }
        for (text, base, value) in [
            ("ff", 16, Some(255.0)),
            ("0xff", 16, None),
            ("z", 36, Some(35.0)),
            ("1.5", 16, Some(1.5)),
            ("0x10", 0, Some(16.0)),
            ("10", 1, None),
            ("10", 37, None),
            ("10", -2, None),
        ] {
            assert_eq!(
                converted(text.as_bytes(), Some(base)),
                value,
                "{text} {base}"
            );
        }
    }
}
