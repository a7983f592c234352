//! Confirmations of statuses.

use std::collections::BTreeMap;

use kindsight_model::InvolvedKinds;

use super::*;
use crate::Confirm;

/// Clusters that confirm every Kind except ConfigMaps, and name the Kinds that they do not confirm.
pub(super) struct SampleClusters;

impl Confirm for SampleClusters {
    fn confirm(
        &self,
        clusters: BTreeMap<ClusterName, InvolvedKinds>,
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
        let mut all = clusters.iter();
        let unconfirmed = all.find_map(|(cluster, kinds)| {
            let mut kinds = kinds.iter();
            let of_kind = kinds.find(|((_, kind), _)| &**kind == "ConfigMap");
            let namespaces = of_kind.map(|(_, namespaces)| namespaces);
            namespaces.map(|namespaces| format!("cluster {cluster}: ConfigMaps in {namespaces:?}"))
        });
        Box::pin(std::future::ready(unconfirmed.map_or(Ok(()), Err)))
    }
}

#[tokio::test]
async fn clusters_are_asked_for_the_kinds_of_the_application() {
    let answer = get(&format!("{STATUS}/confirmation?type=cluster")).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    let json = answer.json();
    assert_eq!(json["confirmed"], false);
    // The manifest names no namespace.
    let reason = "cluster vfw-cluster-provider+edge01: ConfigMaps in {\"\"}";
    assert_eq!(json["reason"], reason);
    let found = get(&format!("{}/confirmation", applications::SHOP)).await;
    assert_eq!(found.text, r#"{"confirmed":true}"#);
}

#[tokio::test]
async fn statuses_of_clusters_and_logical_clouds_are_confirmed() {
    for path in [CLUSTER_STATUS, LOGICAL_CLOUD_STATUS] {
        let answer = get(&format!("{path}/confirmation?type=cluster")).await;
        assert_eq!(answer.text, r#"{"confirmed":true}"#, "{path}");
        let unknown = get(&format!("{path}/confirmation?app=nobody")).await;
        unknown.problem(StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn a_confirmation_of_an_unknown_application_or_app_is_a_problem() {
    let unknown = get(&format!("{STATUS}/confirmation?app=nobody")).await;
    unknown.problem(StatusCode::NOT_FOUND);
    let missing = applications::SHOP.replace("/shop/", "/missing/");
    let missing = get(&format!("{missing}/confirmation")).await;
    missing.problem(StatusCode::NOT_FOUND);
}
