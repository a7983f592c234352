//! The line about a store that is away.

use std::io::{self, Write};

use kindsight_api::store::StoreState;

use crate::table::clean;

/// Prints that the store of `AppContext`s is away, where an answer says so.
pub(crate) fn print(to: &mut impl Write, store: Option<&StoreState<'_>>) -> io::Result<()> {
    let Some(store) = store else {
        return Ok(());
    };
    let since = store.since.map(|it| format!(" since {it}"));
    writeln!(
        to,
        "the store of AppContexts is {}{}, and this is what was last read from it: {}",
        store.state,
        since.unwrap_or_default(),
        clean(&store.reason)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_is_away_is_told_with_its_reason() {
        let line = |json: &str| {
            let mut out = Vec::new();
            let store: Option<StoreState<'_>> = serde_json::from_str(json).unwrap();
            print(&mut out, store.as_ref()).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(line("null"), "");
        assert_eq!(
            line(
                r#"{"state": "away", "since": "2026-11-22T10:00:00Z", "reason": "etcd-0:2379: connection refused"}"#
            ),
            "the store of AppContexts is away since 2026-11-22T10:00:00Z, and this is what was last read from it: etcd-0:2379: connection refused\n"
        );
    }
}
