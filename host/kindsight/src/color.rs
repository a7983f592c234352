//! Colours of states in tables.
//!
//! Tables always contain the escape codes of colours. The stream that `anstream` wraps around standard output removes
//! them unless standard output is a terminal, or `--color always` or `CLICOLOR_FORCE` requires colours. `NO_COLOR` and
//! `--color never` remove them on a terminal too.

use std::ffi::OsString;

use anstyle::{Ansi256Color, Color, Effects, Style};
use clap::{ColorChoice, ValueEnum as _};
use kindsight_api::clusters::Connection;
use kindsight_api::interpreters::InterpreterStatus;
use kindsight_model::{Phase, RsyncStatus};

/// Green: it works.
const GOOD: Ansi256Color = Ansi256Color(28);
/// Blue: it changes.
const CHANGING: Ansi256Color = Ansi256Color(27);
/// Brown: it works with a problem.
const PROBLEM: Ansi256Color = Ansi256Color(130);
/// Red: it failed.
const BAD: Ansi256Color = Ansi256Color(160);
/// Purple: the state is not known, or may be outdated.
const DOUBTFUL: Ansi256Color = Ansi256Color(97);
/// Grey: it is inactive on purpose.
const INACTIVE: Ansi256Color = Ansi256Color(243);

/// Sets the colours of this process to the value of `--color`.
pub(crate) fn set(choice: ColorChoice) {
    let choice = match choice {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
}

/// The value of `--color` in a command line that is not parsed yet. Help and errors of the command line are printed
/// while it is parsed. Returns `auto` for a value that the parser will refuse.
pub(crate) fn requested(argv: &[OsString]) -> ColorChoice {
    let words = argv.iter().map(|word| word.to_str().unwrap_or_default());
    let mut words = words.take_while(|word| *word != "--");
    let value = words.find_map(|word| match word.strip_prefix("--color")? {
        "" => Some(None),
        value => Some(Some(value.strip_prefix('=')?)),
    });
    let value = value.and_then(|value| value.or_else(|| words.next()));
    let choice = value.and_then(|value| ColorChoice::from_str(value, false).ok());
    choice.unwrap_or_default()
}

/// The style of a state with this phase. A stale state has the style of an unknown one. Without a phase, the style is
/// plain.
pub(crate) fn of_phase(phase: Option<Phase>, is_stale: bool) -> Style {
    let Some(phase) = phase else {
        return Style::new();
    };
    if is_stale {
        return style(DOUBTFUL);
    }
    match phase {
        Phase::Ready | Phase::Present => style(GOOD),
        Phase::Pending | Phase::Terminating => style(CHANGING),
        Phase::Degraded => style(PROBLEM),
        Phase::Failed | Phase::NotPresent => failure(),
        Phase::Suspended => style(INACTIVE),
        Phase::Unknown => style(DOUBTFUL),
    }
}

/// The style of the result of sending a resource to its cluster.
pub(crate) fn of_sent(status: Option<RsyncStatus>) -> Style {
    match status {
        None => Style::new(),
        Some(RsyncStatus::Applied) => style(GOOD),
        Some(RsyncStatus::Pending) => style(CHANGING),
        Some(RsyncStatus::Retrying) => style(PROBLEM),
        Some(RsyncStatus::Failed) => failure(),
        Some(RsyncStatus::Deleted) => style(INACTIVE),
    }
}

/// The style of the connection to a cluster. With partial coverage, it differs from the style of a complete connection.
pub(crate) fn of_connection(connection: Connection, is_partial: bool) -> Style {
    match connection {
        Connection::Connected if is_partial => style(PROBLEM),
        Connection::Connected => style(GOOD),
        Connection::Connecting => style(CHANGING),
        Connection::Stale => style(DOUBTFUL),
    }
}

/// The style of the status of an interpreter.
pub(crate) fn of_interpreter(status: InterpreterStatus, is_faulting: bool) -> Style {
    match status {
        _ if is_faulting => failure(),
        InterpreterStatus::Live => style(GOOD),
        InterpreterStatus::Disabled => style(INACTIVE),
        InterpreterStatus::None => style(DOUBTFUL),
    }
}

fn style(color: Ansi256Color) -> Style {
    Style::new().fg_color(Some(Color::Ansi256(color)))
}

fn failure() -> Style {
    style(BAD).effects(Effects::BOLD)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The relative luminance of a colour of the 6×6×6 cube or of the grey ramp, as WCAG 2 defines it.
    fn luminance(Ansi256Color(index): Ansi256Color) -> f64 {
        let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
        let rgb = match index {
            16..=231 => {
                let cube = index - 16;
                [level(cube / 36), level(cube / 6 % 6), level(cube % 6)]
            }
            232.. => [8 + 10 * (index - 232); 3],
            _ => panic!("a theme decides the colour {index}"),
        };
        let linear = |value: u8| {
            let value = f64::from(value) / 255.0;
            if value <= 0.04045 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        let [red, green, blue] = rgb.map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    #[test]
    fn each_colour_is_visible_on_a_light_and_on_a_dark_background() {
        for color in [GOOD, CHANGING, PROBLEM, BAD, DOUBTFUL, INACTIVE] {
            let luminance = luminance(color) + 0.05;
            let (on_white, on_black) = (1.05 / luminance, luminance / 0.05);
            assert!(
                on_white.min(on_black) >= 3.5,
                "{color:?}: {on_white:.1}, {on_black:.1}"
            );
        }
    }

    #[test]
    fn the_requested_colours_are_known_before_the_command_line_is_parsed() {
        for (line, choice) in [
            ("kindsight serve --color never --help", ColorChoice::Never),
            ("kindsight --color=always serve", ColorChoice::Always),
            ("kindsight serve --color", ColorChoice::Auto),
            ("kindsight --color green", ColorChoice::Auto),
            ("kindsight --colors --color=never", ColorChoice::Never),
            ("kindsight status -- --color never", ColorChoice::Auto),
        ] {
            let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(requested(&argv), choice, "{line}");
        }
    }

    #[test]
    fn a_stale_state_looks_like_an_unknown_one() {
        let unknown = of_phase(Some(Phase::Unknown), false);
        assert_eq!(of_phase(Some(Phase::Ready), true), unknown);
        assert_ne!(of_phase(Some(Phase::Ready), false), unknown);
        assert_eq!(of_phase(None, true), Style::new());
    }
}
