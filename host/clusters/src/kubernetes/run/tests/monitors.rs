//! Reports of a monitor whose Kind the server ceases to serve.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kindsight_model::{Origin, ReportMode};

use super::*;
use crate::{Recorded, RecordedDeployment};

const APP: &str = "7-front";
const GROUP: &str = "k8splugin.io";
const KIND: &str = "ResourceBundleState";
const STATES: &str = "/apis/k8splugin.io/v1alpha1/resourcebundlestates";

/// The Kind of the reports on the server.
#[derive(Default)]
struct Served {
    /// True if discovery omits it.
    is_omitted: AtomicBool,
    /// True if requests for it return 404.
    is_missing: AtomicBool,
}

/// A server with a report on [`APP`]. Each discovery that omits the Kind of the report is sent to `omitted`.
fn server(served: &Arc<Served>, omitted: mpsc::UnboundedSender<()>) -> Api {
    let served = Arc::clone(served);
    let missing = || Answer::Json(404, json!({"code": 404, "message": "not found"}));
    let report = json!({
        "metadata": {"namespace": "web", "name": APP, "uid": "report", "resourceVersion": "5",
            "labels": {"emco/deployment-id": APP}},
        "status": {"podStatuses": [{"metadata": {"namespace": "web", "name": "pod"}}]},
    });
    let resource = json!({"resource": "resourcebundlestates", "responseKind": {"kind": KIND},
        "scope": "Namespaced", "verbs": ["list", "watch"]});
    let group = json!({"metadata": {"name": GROUP},
        "versions": [{"version": "v1alpha1", "resources": [resource]}]});
    Api::new(move |target| {
        if target == "/apis" {
            let is_omitted = served.is_omitted.load(Ordering::Relaxed);
            if is_omitted {
                // The test may have ended.
                let _ = omitted.send(());
            }
            let groups = if is_omitted { vec![] } else { vec![&group] };
            return Some(Answer::Json(200, json!({"items": groups})));
        }
        // Each refusal requests discovery.
        if target.starts_with("/api/v1/pods?limit") {
            return Some(missing());
        }
        if !target.starts_with(STATES) {
            return None;
        }
        if served.is_missing.load(Ordering::Relaxed) {
            return Some(missing());
        }
        let is_list = target.contains("?limit");
        is_list.then(|| Answer::Json(200, list(std::slice::from_ref(&report))))
    })
}

/// A source that reports on [`APP`]. Its watches are short, so that requests are repeated soon.
fn source(api: &Api, mode: ReportMode) -> Source {
    let mut recorded = Recorded::default();
    let deployment = RecordedDeployment {
        namespace: "web".into(),
        number: 1,
    };
    let cluster = "p+c".parse().unwrap();
    recorded.insert(&cluster, APP.parse().unwrap(), deployment);
    let needs = Needs {
        recorded: watch::channel(Arc::new(recorded)).1,
        ..Needs::default()
    };
    Source::begin_as(api, needs, |cluster| {
        cluster.with_options(WatchOptions {
            mode,
            watch_lifetime: Duration::from_secs(1),
            ..WatchOptions::default()
        })
    })
}

/// The origin of the next report; none if no source reports on the app any more.
async fn next_origin(source: &mut Source) -> Option<Origin> {
    loop {
        match source.events.recv().await.unwrap() {
            ClusterEvent::Reports { reports, .. } => {
                if let Some((_, report)) = reports.first() {
                    return Some(report.origin);
                }
            }
            ClusterEvent::Gone { .. } => return None,
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_report_whose_definition_is_deleted_without_an_event_is_no_longer_used() {
    for (mode, next) in [
        (ReportMode::Auto, Some(Origin::Direct)),
        (ReportMode::Bundles, None),
    ] {
        let served = Arc::default();
        let api = server(&served, mpsc::unbounded_channel().0);
        let mut source = source(&api, mode);
        assert_eq!(next_origin(&mut source).await, Some(Origin::Monitor));
        served.is_missing.store(true, Ordering::Relaxed);
        served.is_omitted.store(true, Ordering::Relaxed);
        assert_eq!(next_origin(&mut source).await, next, "{mode:?}");
    }
}

#[tokio::test]
async fn a_report_that_only_discovery_omits_is_still_watched() {
    let (omitted_tx, mut omitted) = mpsc::unbounded_channel();
    let served = Arc::default();
    let api = server(&served, omitted_tx);
    let mut source = source(&api, ReportMode::Bundles);
    while next_origin(&mut source).await != Some(Origin::Monitor) {}
    served.is_omitted.store(true, Ordering::Relaxed);
    // The second discovery follows the reports on the first one.
    for _ in 0..2 {
        omitted.recv().await.unwrap();
    }
    let mut found = None;
    while let Ok(event) = source.events.try_recv() {
        match event {
            ClusterEvent::Coverage { coverage, .. } => {
                found = Some(coverage.of(Some(GROUP), KIND, Scope::Cluster).state);
            }
            ClusterEvent::Gone { .. } => panic!("the report still exists"),
            _ => {}
        }
    }
    assert_eq!(found.unwrap_or(KindState::Complete), KindState::Complete);
}
