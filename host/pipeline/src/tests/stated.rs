//! Reports of kindsight's monitor, which state their coverage.

use std::sync::Arc;

use kindsight_appcontext::{AppContexts, NewResource};
use kindsight_model::{
    Bundle, BundleFormat, KindCoverage, KindState, Origin, Report, Scope, decode_bundle,
    decode_status, encode_bundle,
};

use super::stage::{Stage, context, reported};

/// A report of kindsight's monitor without objects, which may not read the Kind Network, or covers it.
fn network_report(state: KindState) -> Bundle {
    let mut report = Report::empty(Origin::Direct);
    let coverage = KindCoverage::new(state);
    let (group, kind) = ("k8s.plugin.opnfv.org", "Network");
    report.coverage.set(group, kind, Scope::Cluster, coverage);
    let encoded = encode_bundle(&"7-a".parse().unwrap(), &report, &BundleFormat::default());
    let mut document = encoded.first.manifest("default");
    document["status"] = serde_json::from_str(&encoded.first.status).unwrap();
    decode_bundle(document.to_string().as_bytes()).unwrap()
}

#[test]
fn the_coverage_of_kindsights_monitor_holds_after_another_monitor_and_after_a_restart() {
    let state = |stage: &Stage| {
        let view = stage.view("7");
        let resources = view.apps[0].clusters()[0].resources();
        resources.first().unwrap().verdict.state.to_string()
    };
    for (of_network, expected) in [
        (KindState::Forbidden, "Unknown"),
        (KindState::Complete, "NotPresent"),
    ] {
        let mut stage = Stage::new(&[]);
        let mut new = context(&["a"]);
        new.apps[0].clusters[0].resources = vec![NewResource {
            resource: "net+Network".parse().unwrap(),
            manifest: "apiVersion: k8s.plugin.opnfv.org/v1\nkind: Network\nmetadata: {name: net}"
                .to_owned(),
        }];
        let contexts = AppContexts::new(Arc::clone(&stage.store));
        contexts.create_as(&"7".parse().unwrap(), &new).unwrap();
        stage.follow_stores(500);
        stage.own(&["7"]);
        let original = br#"{"resourceStatuses": []}"#;
        let original = decode_status("7-a".parse().unwrap(), original).unwrap();
        stage.pipeline.handle(reported("p+c", original), 1000);
        assert_eq!(state(&stage), "NotPresent");
        let report = reported("p+c", network_report(of_network));
        stage.pipeline.handle(report, 2000);
        assert_eq!(state(&stage), expected);
        stage.store_bundles();
        let restarted = stage.take_pipeline();
        drop(restarted);
        let _ = stage.pipeline.load(3000).unwrap();
        assert_eq!(state(&stage), expected, "after a restart");
    }
}
