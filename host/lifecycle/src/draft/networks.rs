//! Drafts of the network intents of clusters.

use kindsight_appcontext::{Intent, NETWORK_INTENTS};
use kindsight_model::ClusterName;

use super::{Draft, DraftApp, DraftProblem, Problems};
use crate::manifest;

/// The API group of network intents. Other Kinds belong to applications, whose projects decide their rights.
pub const NETWORK_GROUP: &str = "k8s.plugin.opnfv.org";

/// Checks the manifests of a draft as the network intents of a cluster: one app in this cluster. The paths of problems
/// begin with `manifests`.
pub(super) fn checked(draft: Draft, cluster: &ClusterName) -> Result<Intent, Vec<DraftProblem>> {
    let manifests = draft.apps.into_iter().flat_map(|app| app.manifests);
    let app = DraftApp {
        name: NETWORK_INTENTS.to_owned(),
        clusters: vec![cluster.to_string()],
        any_of: Vec::new(),
        manifests: manifests.collect(),
        depends_on: Vec::new(),
        resource_dependencies: Vec::new(),
    };
    let draft = Draft {
        apps: vec![app],
        ..Draft::default()
    };
    let checked = draft.checked();
    let intent =
        checked.map_err(|problems| problems.into_iter().map(of_cluster).collect::<Vec<_>>())?;
    let mut problems = Problems::default();
    let manifests = intent.apps.iter().flat_map(|app| &app.manifests);
    for (position, yaml) in manifests.enumerate() {
        let (group, _) = manifest::identity(yaml).unwrap_or_default();
        if group != NETWORK_GROUP {
            let detail = format!("its API group is `{group}`, so it is no network intent");
            let expected =
                format!("a Kind of `{NETWORK_GROUP}`, such as `Network` or `ProviderNetwork`");
            problems.add(&format!("manifests[{position}]"), detail, expected);
        }
    }
    if problems.0.is_empty() {
        Ok(intent)
    } else {
        Err(problems.0)
    }
}

fn of_cluster(mut problem: DraftProblem) -> DraftProblem {
    if let Some(path) = problem.path.strip_prefix("apps[0].") {
        problem.path = path.to_owned();
    }
    problem
}
