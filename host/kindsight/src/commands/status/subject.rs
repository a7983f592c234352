//! The subject of a status query: a name on the command line, as short as it is unique.

use std::borrow::Cow;

use anyhow::Context as _;

use super::LOGICAL_CLOUDS;
use crate::client::Server;
use crate::commands::applications;

/// Maximum number of full names that are listed if several applications have the short name.
const NAMES_SHOWN_MAX: usize = 20;

/// The subjects that a name may mean.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Resolved<'a> {
    /// The full name of one application, a cluster or a logical cloud.
    One(Cow<'a, str>),
    /// The full names of several applications.
    Ambiguous(Vec<String>),
}

/// Resolves a name: a full name, a cluster and a logical cloud are returned unchanged, a short name is looked up on the
/// server.
///
/// # Errors
/// When the server cannot be reached, or knows no such application.
pub(crate) fn resolved<'a>(server: &Server, name: &'a str) -> anyhow::Result<Resolved<'a>> {
    if name.contains('+') || name.matches('/').count() == 3 || is_logical_cloud(name) {
        return Ok(Resolved::One(name.into()));
    }
    let named = applications::named(server, name);
    let mut names = named.with_context(|| {
        format!("look up the application `{name}` (a cluster is named `provider+cluster`, a logical cloud `project/{LOGICAL_CLOUDS}/name`)")
    })?;
    match names.pop() {
        Some(one) if names.is_empty() => Ok(Resolved::One(one.into())),
        last => {
            names.extend(last);
            Ok(Resolved::Ambiguous(names))
        }
    }
}

/// Returns whether the name has the form of a logical cloud's name.
fn is_logical_cloud(name: &str) -> bool {
    let mut parts = name.split('/').skip(1);
    parts.next() == Some(LOGICAL_CLOUDS) && parts.count() == 1
}

/// The error text for a short name that several applications have.
pub(crate) fn ambiguous(name: &str, names: &[String]) -> String {
    let mut text = format!(
        "{} applications are named `{name}`; name one in full:",
        names.len()
    );
    for full in names.iter().take(NAMES_SHOWN_MAX) {
        text.extend(["\n  ", full]);
    }
    if names.len() > NAMES_SHOWN_MAX {
        text.push_str("\n  and more, which `kindsight applications` lists");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nobody listens there.
    const NOWHERE: &str = "http://127.0.0.1:1";

    #[test]
    fn a_full_name_a_cluster_and_a_logical_cloud_need_no_server() {
        let nowhere = Server::open(NOWHERE).unwrap();
        for name in [
            "p/ca/v1/dig",
            "-/shop/-/web",
            "provider+edge01",
            "p/logical-clouds/lc1",
        ] {
            let found = resolved(&nowhere, name).unwrap();
            assert_eq!(found, Resolved::One(name.into()));
        }
        for name in ["shop", "p/logical-clouds", "logical-clouds/p/lc1"] {
            assert!(resolved(&nowhere, name).is_err(), "{name}");
        }
    }

    #[test]
    fn names_that_are_too_many_are_cut() {
        let names: Vec<String> = (0..30).map(|n| format!("-/shop/-/ns-{n}")).collect();
        let text = ambiguous("shop", &names);
        assert!(
            text.starts_with("30 applications are named `shop`"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 1 + NAMES_SHOWN_MAX + 1);
    }
}
