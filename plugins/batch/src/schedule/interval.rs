//! Durations of `@every`, as Go writes them: `90s`, `1h30m`, `1.5h`.

/// Units with their lengths in nanoseconds. A unit that begins like another one comes first.
const UNITS: [(&str, i64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND_NS),
    ("m", 60 * SECOND_NS),
    ("h", 3600 * SECOND_NS),
];

const SECOND_NS: i64 = 1_000_000_000;

/// The interval of a duration, in milliseconds. The controller drops parts of a second, and its
/// shortest interval is one second. `None` if the text is not a positive duration of Go.
pub(super) fn parse_ms(text: &str) -> Option<i64> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest.is_empty() {
        return None;
    }
    let mut total_ns = 0_i64;
    while !rest.is_empty() {
        let (part_ns, after) = part_ns(rest)?;
        total_ns = total_ns.checked_add(part_ns)?;
        rest = after;
    }
    Some((total_ns / SECOND_NS).max(1) * 1000)
}

/// The length of the first part of a duration, such as `1.5h`, and the text after it.
fn part_ns(text: &str) -> Option<(i64, &str)> {
    let number = text.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let (digits, after) = text.split_at(text.len() - number.len());
    let (unit_ns, after) = UNITS
        .iter()
        .find_map(|(unit, unit_ns)| Some((*unit_ns, after.strip_prefix(unit)?)))?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let whole_ns = match whole {
        "" => 0,
        whole => whole.parse::<i64>().ok()?.checked_mul(unit_ns)?,
    };
    Some((
        whole_ns.checked_add(fraction_ns(fraction, unit_ns)?)?,
        after,
    ))
}

/// The length of the digits after the point of a number with this unit.
fn fraction_ns(digits: &str, unit_ns: i64) -> Option<i64> {
    let mut place_ns = unit_ns;
    let mut total_ns = 0;
    for digit in digits.chars() {
        place_ns /= 10;
        total_ns += place_ns * i64::from(digit.to_digit(10)?);
    }
    Some(total_ns)
}

#[cfg(test)]
mod tests {
    use super::parse_ms;

    #[test]
    fn a_duration_of_go_is_an_interval_of_whole_seconds() {
        let table = [
            ("1h", 3_600_000),
            ("1h30m", 5_400_000),
            ("1.5h", 5_400_000),
            (".5m", 30_000),
            ("90s", 90_000),
            ("+2m", 120_000),
            ("1500ms", 1_000),
            ("2000000\u{b5}s", 2_000),
            ("1ns", 1_000),
            ("0s", 1_000),
        ];
        for (text, expected) in table {
            assert_eq!(parse_ms(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_text_that_is_no_positive_duration_is_not_read() {
        for text in [
            "",
            "1",
            "h",
            ".h",
            "1.2.3h",
            "1h 30m",
            "-1h",
            "1d",
            "soon",
            "+",
            "9999999999h",
        ] {
            assert_eq!(parse_ms(text), None, "{text}");
        }
    }
}
