//! Numbers as texts, as gopher-lua reads and prints them.

use std::fmt::Write as _;

/// The number in a text: decimal, hexadecimal (`0x10`), with blanks around it.
pub(crate) fn parse(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let text = text.trim_matches([' ', '\t', '\n', '\r']);
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if let Some(digits) = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        return in_base(digits, 16).map(|value| sign * value);
    }
    // Rust also accepts `inf` and `nan`, which are names in Lua.
    let is_number = digits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    if !is_number {
        return None;
    }
    digits.parse::<f64>().ok().map(|value| sign * value)
}

/// The whole number in a text with digits of a base from 2 to 36.
pub(crate) fn in_base(digits: &str, base: u32) -> Option<f64> {
    let mut value = 0.0;
    for digit in digits.chars() {
        value = value * f64::from(base) + f64::from(digit.to_digit(base)?);
    }
    (!digits.is_empty()).then_some(value)
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

/// The text of a number: whole numbers without a fraction, others with the fewest digits that read
/// as the same number, from 1e21 on with an exponent.
pub(crate) fn print(value: f64) -> String {
    if let Some(whole) = whole(value) {
        return whole.to_string();
    }
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..21).contains(&exponent) {
        return value.to_string();
    }
    with_exponent(digits, exponent, 'e')
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
        return match whole(value) {
            // Go prints `%g` of large whole numbers with an exponent from 1e21 on.
            Some(_) => value.to_string(),
            None => print(value),
        };
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
            (-0.5, "-0.5"),
            (1e15, "1000000000000000"),
            (1e21, "1e+21"),
            (1.5e-7, "1.5e-07"),
            (0.1 + 0.2, "0.30000000000000004"),
            (f64::INFINITY, "+Inf"),
        ] {
            assert_eq!(print(value), text);
        }
        assert_eq!(general(0.000_012_345, Some(3), 'e'), "1.23e-05");
        assert_eq!(general(100_000.0, Some(6), 'e'), "100000");
        assert_eq!(scientific(12345.678, 2, 'e'), "1.23e+04");
    }

    #[test]
    fn numbers_are_read_as_in_lua() {
        for (text, value) in [
            ("10", Some(10.0)),
            (" 0x10 ", Some(16.0)),
            ("1e3", Some(1000.0)),
            (".5", Some(0.5)),
            ("inf", None),
            ("nan", None),
            ("", None),
            ("1x", None),
        ] {
            assert_eq!(parse(text.as_bytes()), value, "{text}");
        }
    }
}
