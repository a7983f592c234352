//! Kinds that the source of a cluster does not cover.

use std::sync::Arc;

use kindsight_model::Gvk;
use kindsight_status::ConnectionView;

/// Kinds that are not covered, as the source tells them to people: `Kind: …`, `Kind.group: …` (each also with
/// ` in namespace` before the colon), or `group/version: …` for all Kinds of a group.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Uncovered<'f>(&'f [Arc<str>]);

impl<'f> Uncovered<'f> {
    /// Those of a cluster with this connection.
    pub(crate) fn of(connection: Option<&'f ConnectionView>) -> Self {
        let facts = connection.and_then(|it| it.facts.as_ref());
        Self(facts.map_or(&[], |it| &it.not_covered))
    }

    /// Returns whether a Kind is not covered, in one namespace at least.
    pub(super) fn has(self, gvk: &Gvk) -> bool {
        self.0.iter().any(|told| {
            let name = told.split([':', ' ']).next().unwrap_or_default();
            match (name.split_once('/'), &*gvk.group) {
                (Some((group, _)), of) => group == of,
                (None, "") => name == &*gvk.kind,
                (None, group) => name.split_once('.') == Some((&gvk.kind, group)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use kindsight_status::{ConnectionState, FactsView};

    use super::*;

    #[test]
    fn a_kind_is_known_by_its_name_its_namespace_or_its_group() {
        let told = [
            "Secret: not allowed: forbidden",
            "Deployment.apps in web: not allowed",
            "example.org/v1: the group does not answer",
            "objects over the limit of 7",
        ];
        let facts = FactsView {
            not_covered: told.map(Arc::from).into(),
            ..FactsView::default()
        };
        let connection = ConnectionView {
            state: ConnectionState::Connected,
            since_ms: 0,
            reason: None,
            faults: Arc::default(),
            heard_ms: None,
            facts: Some(Arc::new(facts)),
        };
        let uncovered = Uncovered::of(Some(&connection));
        for (group, kind, is_it) in [
            ("", "Secret", true),
            ("apps", "Deployment", true),
            ("example.org", "Crane", true),
            ("", "ConfigMap", false),
            ("other", "Secret", false),
            ("apps", "StatefulSet", false),
            ("", "Deployment", false),
        ] {
            assert_eq!(uncovered.has(&Gvk::new(group, "v1", kind)), is_it, "{kind}");
        }
        assert!(!Uncovered::of(None).has(&Gvk::new("", "v1", "Secret")));
    }
}
