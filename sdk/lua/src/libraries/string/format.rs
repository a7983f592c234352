//! `string.format`.

use crate::error::Failure;
use crate::libraries::{Arguments, base, table};
use crate::limits::FORMAT_WIDTH_MAX;
use crate::number;

/// Flags, width and precision of a directive.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the flags of a directive are independent"
)]
struct Layout {
    left: bool,
    plus: bool,
    space: bool,
    zero: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
}

/// Gives the text of a format with its arguments.
pub(super) fn format(arguments: &mut Arguments<'_, '_>, format: &[u8]) -> Result<(), Failure> {
    let (mut text, mut at, mut position) = (Vec::new(), 0, 2);
    while let Some(byte) = format.get(at).copied() {
        at += 1;
        if byte != b'%' {
            text.push(byte);
            continue;
        }
        if format.get(at) == Some(&b'%') {
            at += 1;
            text.push(b'%');
            continue;
        }
        let layout = layout(format, &mut at)?;
        let Some(letter) = format.get(at).copied() else {
            return Failure::text("invalid format (ends with '%')");
        };
        at += 1;
        if position > arguments.count() {
            return Failure::text(format!("bad argument #{position} (no value)"));
        }
        let part = directive(arguments, &layout, letter, position)?;
        position += 1;
        arguments.machine.work(part.len())?;
        text.extend_from_slice(&part);
        table::within_memory(&text)?;
    }
    arguments.give_text(text)
}

fn layout(format: &[u8], at: &mut usize) -> Result<Layout, Failure> {
    let mut layout = Layout::default();
    while let Some(byte) = format.get(*at) {
        match byte {
            b'-' => layout.left = true,
            b'+' => layout.plus = true,
            b' ' => layout.space = true,
            b'0' => layout.zero = true,
            b'#' => layout.alternate = true,
            _ => break,
        }
        *at += 1;
    }
    layout.width = digits(format, at)?.unwrap_or_default();
    if format.get(*at) == Some(&b'.') {
        *at += 1;
        layout.precision = Some(digits(format, at)?.unwrap_or_default());
    }
    Ok(layout)
}

fn digits(format: &[u8], at: &mut usize) -> Result<Option<usize>, Failure> {
    let mut value = None;
    while let Some(digit) = format.get(*at).filter(|byte| byte.is_ascii_digit()) {
        let next = value.unwrap_or_default() * 10 + usize::from(digit - b'0');
        if next > FORMAT_WIDTH_MAX {
            return Failure::text("invalid format (width or precision too long)");
        }
        value = Some(next);
        *at += 1;
    }
    Ok(value)
}

fn directive(
    arguments: &Arguments<'_, '_>,
    layout: &Layout,
    letter: u8,
    position: usize,
) -> Result<Vec<u8>, Failure> {
    let value = arguments.get(position);
    let whole_value = || arguments.number(position).map(number::truncated);
    Ok(match letter {
        b's' | b'v' => {
            let mut text = base::shown(arguments, value);
            text.truncate(layout.precision.unwrap_or(text.len()));
            layout.padded(text)
        }
        b'q' => layout.padded(quoted(&base::shown(arguments, value))),
        b'c' => {
            let code = u32::try_from(whole_value()?).ok();
            let letter = code.and_then(char::from_u32).unwrap_or('\u{fffd}');
            layout.padded(letter.to_string().into_bytes())
        }
        b'd' | b'i' | b'u' => whole(layout, whole_value()?, |value| value.to_string()),
        b'x' => whole(layout, whole_value()?, |value| {
            format!("{}{value:x}", if layout.alternate { "0x" } else { "" })
        }),
        b'X' => whole(layout, whole_value()?, |value| {
            format!("{}{value:X}", if layout.alternate { "0X" } else { "" })
        }),
        b'o' => whole(layout, whole_value()?, |value| format!("{value:o}")),
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' => {
            float(layout, letter, arguments.number(position)?)
        }
        other => {
            let letter = char::from(other);
            return Failure::text(format!("invalid option '%{letter}' to 'format'"));
        }
    })
}

fn whole(layout: &Layout, value: i64, digits: impl Fn(u64) -> String) -> Vec<u8> {
    let digits = digits(value.unsigned_abs());
    let least = layout.precision.unwrap_or_default();
    let digits = format!("{}{digits}", "0".repeat(least.saturating_sub(digits.len())));
    layout.signed(value < 0, &digits)
}

fn float(layout: &Layout, letter: u8, value: f64) -> Vec<u8> {
    if !value.is_finite() {
        return layout.padded(number::print(value).into_bytes());
    }
    let exponent = if letter.is_ascii_uppercase() {
        'E'
    } else {
        'e'
    };
    let magnitude = value.abs();
    let digits = match letter {
        b'f' | b'F' => format!("{magnitude:.*}", layout.precision.unwrap_or(6)),
        b'e' | b'E' => number::scientific(magnitude, layout.precision.unwrap_or(6), exponent),
        _ => number::general(magnitude, layout.precision, exponent),
    };
    layout.signed(value.is_sign_negative() && value != 0.0, &digits)
}

/// A text in quotes, with escapes.
fn quoted(text: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'"'];
    for byte in text {
        match byte {
            b'"' | b'\\' => quoted.extend_from_slice(&[b'\\', *byte]),
            b'\n' => quoted.extend_from_slice(b"\\n"),
            b'\r' => quoted.extend_from_slice(b"\\r"),
            b'\t' => quoted.extend_from_slice(b"\\t"),
            _ => quoted.push(*byte),
        }
    }
    quoted.push(b'"');
    quoted
}

impl Layout {
    fn signed(&self, is_negative: bool, digits: &str) -> Vec<u8> {
        let sign = match (is_negative, self.plus, self.space) {
            (true, _, _) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            _ => "",
        };
        if self.zero && !self.left {
            let zeros = self.width.saturating_sub(sign.len() + digits.len());
            return format!("{sign}{}{digits}", "0".repeat(zeros)).into_bytes();
        }
        self.padded(format!("{sign}{digits}").into_bytes())
    }

    fn padded(&self, text: Vec<u8>) -> Vec<u8> {
        let length = String::from_utf8_lossy(&text).chars().count();
        let blanks = vec![b' '; self.width.saturating_sub(length)];
        if self.left {
            [text, blanks].concat()
        } else {
            [blanks, text].concat()
        }
    }
}
