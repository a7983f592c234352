//! The history of the application, as people get it.

use serde_json::Value;

use crate::stage::Stage;

/// All of it: the tests make fewer transitions.
const HISTORY: &str =
    "/v2/projects/-/composite-apps/shop/-/deployment-intent-groups/web/history?limit=1000";

/// The transitions as `name from > to`, oldest first; those of the application as a whole have `-` as a name.
pub(crate) fn transitions(stage: &Stage) -> Vec<String> {
    read(stage, HISTORY)
}

/// Those of resources in one cluster, in order of their names.
pub(crate) fn transitions_in(stage: &Stage, cluster: &str) -> Vec<String> {
    let mut told = read(stage, &format!("{HISTORY}&cluster=kubeconfig%2B{cluster}"));
    told.sort();
    told
}

/// The transitions of the application as a whole as `from > to`, oldest first.
pub(crate) fn transitions_of_whole(stage: &Stage) -> Vec<String> {
    let all = transitions(stage);
    let whole = all.iter().filter_map(|it| it.strip_prefix("- "));
    whole.map(ToOwned::to_owned).collect()
}

fn read(stage: &Stage, target: &str) -> Vec<String> {
    let answer = stage.server.get(target).unwrap_or_default();
    assert!(answer["next"].is_null(), "there are more: {answer:#}");
    assert!(answer["dropped"].is_null(), "there were more: {answer:#}");
    let all = answer["transitions"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let mut told: Vec<String> = all
        .map(|it| {
            let (from, to) = (&it["from"]["state"], &it["to"]["state"]);
            assert_eq!(it["cause"], "observed", "{it:#}");
            format!("{} {} > {}", text(&it["name"]), text(from), text(to))
        })
        .collect();
    told.reverse();
    told
}
