//! The history of the application, as users see it.

use serde_json::Value;

use crate::stage::Stage;

/// Path of the complete history; the limit exceeds the transitions of every test.
const HISTORY: &str =
    "/v2/projects/-/composite-apps/shop/-/deployment-intent-groups/web/history?limit=1000";

/// The transitions as `name from > to`, oldest first. Transitions of the application itself have the name `-`.
pub(crate) fn transitions(stage: &Stage) -> Vec<String> {
    read(stage, HISTORY)
}

/// The transitions of resources in one cluster, in order of their names.
pub(crate) fn transitions_in(stage: &Stage, cluster: &str) -> Vec<String> {
    let mut lines = read(stage, &format!("{HISTORY}&cluster=kubeconfig%2B{cluster}"));
    lines.sort();
    lines
}

/// The transitions of the application itself as `from > to`, oldest first.
pub(crate) fn transitions_of_application(stage: &Stage) -> Vec<String> {
    let all = transitions(stage);
    let whole = all.iter().filter_map(|line| line.strip_prefix("- "));
    whole.map(ToOwned::to_owned).collect()
}

fn read(stage: &Stage, target: &str) -> Vec<String> {
    let answer = stage.server.get(target).unwrap_or_default();
    assert!(answer["next"].is_null(), "there are more: {answer:#}");
    assert!(answer["dropped"].is_null(), "there were more: {answer:#}");
    let all = answer["transitions"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let mut lines: Vec<String> = all
        .map(|transition| {
            let (from, to) = (&transition["from"]["state"], &transition["to"]["state"]);
            assert_eq!(transition["cause"], "observed", "{transition:#}");
            format!(
                "{} {} > {}",
                text(&transition["name"]),
                text(from),
                text(to)
            )
        })
        .collect();
    lines.reverse();
    lines
}
