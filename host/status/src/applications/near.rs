//! Names that are near to one that does not exist.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use kindsight_model::DigName;

use crate::problem::KNOWN_SHOWN_MAX;

/// The names that have most in common with `asked`, the nearest first; the first names where none has.
pub(super) fn near<'n>(
    names: impl IntoIterator<Item = &'n DigName>,
    asked: &str,
) -> Vec<&'n DigName> {
    let asked = asked.to_ascii_lowercase();
    let mut near = BTreeSet::new();
    for name in names {
        near.insert((Reverse(in_common(name, &asked)), name));
        if near.len() > KNOWN_SHOWN_MAX {
            near.pop_last();
        }
    }
    let is_any_near = near.first().is_some_and(|(common, _)| common.0 > 0);
    let near = near.into_iter();
    let near = near.filter(|(common, _)| !is_any_near || common.0 > 0);
    near.map(|(_, name)| name).collect()
}

/// The number of characters that a name has in common with `asked`: all of it where it has it anywhere, else
/// those at the beginning.
fn in_common(name: &DigName, asked: &str) -> usize {
    let parts = [&name.composite_app, &name.dig].map(|part| part.to_ascii_lowercase());
    let of_part = |part: &String| {
        if part.contains(asked) {
            return asked.len();
        }
        let both = part.bytes().zip(asked.bytes());
        both.take_while(|(a, b)| a == b).count()
    };
    parts.iter().map(of_part).max().unwrap_or_default()
}
