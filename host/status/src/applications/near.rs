//! Names that are similar to a name that does not exist.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use kindsight_model::DigName;

use crate::problem::KNOWN_SHOWN_MAX;

/// The names that are most similar to `asked`, the most similar first. If no name is similar, the first
/// names.
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

/// The number of characters that a name has in common with `asked`: the length of `asked` if the name
/// contains it, else the length of the common prefix.
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
