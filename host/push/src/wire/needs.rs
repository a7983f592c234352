//! Needs of the server, as they are sent to an agent.

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_api::push::{
    AgentNeeds, ConfirmedKind, NeededApp, NeededApplication, NeededConfirmation, NeededDeployment,
    NeededKind, NeededRelation,
};
use kindsight_clusters::{
    ConfiguredApp, ConfiguredApplication, PushedNeeds, RecordedDeployment, RelatedKinds,
};
use kindsight_model::{InvolvedKinds, KindPattern, Relation, parse_selector};

/// The needs for an agent.
pub fn needs_to_wire(needs: &PushedNeeds) -> AgentNeeds {
    let recorded = needs.recorded.iter();
    let confirmations = needs.confirmations.iter();
    AgentNeeds {
        revision: needs.revision,
        related: needs.related.iter().map(relation).collect(),
        recorded: recorded
            .map(|(deployment, recorded)| NeededDeployment {
                deployment: deployment.to_string(),
                namespace: recorded.namespace.to_string(),
                number: recorded.number,
            })
            .collect(),
        applications: needs.applications.iter().map(application).collect(),
        confirmations: confirmations
            .map(|(id, kinds)| NeededConfirmation {
                id: *id,
                kinds: confirmed_kinds(kinds),
            })
            .collect(),
    }
}

/// The needs that a server sent, without needs that this release does not know.
pub fn needs_from_wire(needs: AgentNeeds) -> PushedNeeds {
    let related = needs.related.into_iter().filter_map(related_kinds);
    let recorded = needs.recorded.into_iter().filter_map(|needed| {
        let recorded = RecordedDeployment {
            namespace: needed.namespace.into(),
            number: needed.number,
        };
        Some((needed.deployment.parse().ok()?, recorded))
    });
    let applications = needs.applications.into_iter();
    let confirmations = needs.confirmations.into_iter();
    PushedNeeds {
        revision: needs.revision,
        related: Arc::new(related.collect()),
        recorded: Arc::new(recorded.collect()),
        applications: applications.filter_map(configured).collect(),
        confirmations: confirmations
            .map(|needed| (needed.id, involved_kinds(needed.kinds)))
            .collect(),
    }
}

fn relation(rule: &RelatedKinds) -> NeededRelation {
    let at = match &rule.relation {
        Relation::Owned | Relation::Descendant | Relation::Owner => None,
        Relation::SelectedBy(at) | Relation::Labelled(at) | Relation::Named(at) => Some(at.clone()),
    };
    NeededRelation {
        judged: pattern(&rule.judged),
        when: rule.when.clone(),
        related: pattern(&rule.related),
        relation: rule.relation.as_str().to_owned(),
        at,
        identity_only: rule.is_identity_enough,
    }
}

fn related_kinds(needed: NeededRelation) -> Option<RelatedKinds> {
    let relation = match (&*needed.relation, needed.at) {
        ("owned", _) => Relation::Owned,
        ("descendant", _) => Relation::Descendant,
        ("owner", _) => Relation::Owner,
        ("selected-by", Some(at)) => Relation::SelectedBy(at),
        ("labelled", Some(at)) => Relation::Labelled(at),
        ("named", Some(at)) => Relation::Named(at),
        _ => return None,
    };
    Some(RelatedKinds {
        judged: kind_pattern(needed.judged),
        when: needed.when,
        related: kind_pattern(needed.related),
        relation,
        is_identity_enough: needed.identity_only,
    })
}

fn pattern(pattern: &KindPattern) -> NeededKind {
    NeededKind {
        group: pattern.group.clone(),
        version: pattern.version.clone(),
        kind: pattern.kind.clone(),
    }
}

fn kind_pattern(kind: NeededKind) -> KindPattern {
    KindPattern {
        group: kind.group,
        version: kind.version,
        kind: kind.kind,
    }
}

fn application(application: &ConfiguredApplication) -> NeededApplication {
    let namespaces = application.namespaces.iter();
    let apps = application.apps.iter();
    NeededApplication {
        name: application.name.to_string(),
        namespaces: namespaces.map(ToString::to_string).collect(),
        apps: apps
            .map(|app| NeededApp {
                name: app.name.to_string(),
                selector: app.selector.to_string(),
            })
            .collect(),
    }
}

/// The application; `None` if a part of it cannot be read. With fewer parts, it would select other objects.
fn configured(needed: NeededApplication) -> Option<ConfiguredApplication> {
    let namespaces = needed.namespaces.iter().map(|text| text.parse().ok());
    let apps = needed.apps.into_iter().map(|app| {
        Some(ConfiguredApp {
            name: app.name.into(),
            selector: parse_selector(&app.selector).ok()?,
        })
    });
    Some(ConfiguredApplication {
        name: needed.name.parse().ok()?,
        // The server sends only applications of the cluster.
        clusters: Vec::new(),
        namespaces: namespaces.collect::<Option<_>>()?,
        apps: apps.collect::<Option<_>>()?,
    })
}

fn confirmed_kinds(kinds: &InvolvedKinds) -> Vec<ConfirmedKind> {
    let kinds = kinds
        .iter()
        .map(|((group, kind), namespaces)| ConfirmedKind {
            group: group.as_deref().map(str::to_owned),
            kind: kind.to_string(),
            namespaces: namespaces.iter().map(ToString::to_string).collect(),
        });
    kinds.collect()
}

fn involved_kinds(kinds: Vec<ConfirmedKind>) -> InvolvedKinds {
    let kinds = kinds.into_iter().map(|kind| {
        let namespaces = kind.namespaces.into_iter().map(Arc::from).collect();
        (
            (kind.group.map(Arc::from), Arc::from(kind.kind)),
            namespaces,
        )
    });
    let kinds: BTreeMap<_, _> = kinds.collect();
    kinds
}
