//! Versions of components that reuse a number or go back to an older one.

use kindsight_interpreter::Interpreter;
use kindsight_model::{Source, VersionOutcome};
use semver::Version;

use crate::state::Entry;

/// The problem of a component's version beside the live version of the same source, or else of the
/// next lower one: the same version with other bytes, or an older version. `None` if there is no
/// problem. A reused number hides which bytes are live from everyone who compares versions.
pub(crate) fn problem(entry: &Entry, source: Source, interpreter: &Interpreter) -> Option<String> {
    let by = interpreter.by();
    let mut sources = entry.sources.range(..=source).rev();
    let (from, live) = sources.find_map(|(from, versions)| {
        let live = versions.with(VersionOutcome::Live)?;
        Some((*from, live))
    })?;
    if live.digest == by.digest {
        return None;
    }
    let (new, old) = (&by.version, &live.version);
    // The contract permits only semantic versions; texts that are none cannot be compared.
    let order = Version::parse(new)
        .ok()?
        .cmp_precedence(&Version::parse(old).ok()?);
    match order {
        std::cmp::Ordering::Greater => None,
        std::cmp::Ordering::Equal => Some(format!(
            "{new} is also the version of other bytes from {from}: give each build a version of its own"
        )),
        std::cmp::Ordering::Less => Some(format!("{new} is older than {old} from {from}")),
    }
}
