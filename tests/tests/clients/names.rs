//! Names that do not exist: their cost does not grow with the size of the store.

use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_appcontext::Action;
use kindsight_appcontext::{
    AppContexts, ContextMeta, NewApp, NewCluster, NewContext, Record, Records,
};
use kindsight_model::{DigName, LifecycleState};
use kindsight_store::Store;

use crate::stage::Stage;
use crate::transport::Transport;

/// Resources in the store.
const RESOURCES: usize = 20_000;
/// Deployment intent groups in the store.
const DIGS: usize = 2_000;
/// Names in one query.
const NAMES: usize = 600;
/// Maximum time for one answer, with an unoptimized build on a busy machine.
const ANSWER_MAX: Duration = Duration::from_secs(1);

/// The status of the one group that was instantiated.
pub(crate) const STATUS: &str =
    "/v2/projects/p/composite-apps/ca/v1/deployment-intent-groups/d0/status";

/// Writes a context of one app in one cluster, and its group.
pub(crate) fn instantiate(store: &Arc<dyn Store>) {
    let name = DigName::new("p", "ca", "v1", "d0").expect("a name");
    let context = NewContext {
        meta: ContextMeta::of_dig(&name),
        apps: vec![NewApp {
            name: "a".to_owned(),
            clusters: vec![NewCluster {
                cluster: "p+c".parse().expect("a cluster"),
                group: None,
                resources: Vec::new(),
            }],
        }],
    };
    let id = "7".parse().expect("an id");
    let contexts = AppContexts::new(Arc::clone(store));
    contexts.create_as(&id, &context).expect("a context");
    create(store, "d0", Some("7"));
}

fn create(store: &Arc<dyn Store>, dig: &str, instance: Option<&str>) {
    let action = Action {
        state: LifecycleState::Instantiated,
        instance: instance.map(|id| id.parse().expect("an id")),
        time: "2026-11-22T00:00:00Z".to_owned(),
        revision: 0,
    };
    let record = Record {
        profile: None,
        actions: vec![action],
    };
    let name = DigName::new("p", "ca", "v1", dig).expect("a name");
    let records = Records::new(Arc::clone(store));
    records.create(&name, &record).expect("a record");
}

/// Hundreds of unknown names over a large store, and an unknown group.
pub(crate) fn unknown_names_cost_no_more_than_their_answer(transport: Transport) {
    let stage = Stage::with(transport, |settings, folder| {
        instantiate(&settings.store);
        for number in 1..DIGS {
            create(&settings.store, &format!("d{number}"), None);
        }
        let objects =
            (0..RESOURCES).map(|number| format!(r#"{{"metadata":{{"name":"n{number}"}}}}"#));
        let objects: Vec<String> = objects.collect();
        let report = format!(
            r#"{{"metadata":{{"labels":{{"emco/deployment-id":"7-a"}}}},"status":{{"configMapStatuses":[{}]}}}}"#,
            objects.join(",")
        );
        fs::write(folder.join("a.json"), report).expect("a report");
        let cluster = format!("p+c={}", folder.display());
        settings.clusters.push(cluster.parse().expect("a cluster"));
    });
    let begin = Instant::now();
    let summary = format!("{STATUS}?type=cluster&output=summary");
    while stage.get(&summary).json()["ready-counts"].is_null() {
        assert!(begin.elapsed() < crate::transport::ANSWER_MAX, "no report");
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut target = format!("{STATUS}?");
    for number in 0..NAMES {
        let _ = write!(target, "resource={number:x}&");
    }
    let target = target.trim_end_matches('&');
    let unknown = "/v2/projects/p/composite-apps/ca/v1/deployment-intent-groups/x/status";
    for target in [target, unknown] {
        let begin = Instant::now();
        let answer = stage.get(target);
        let took = begin.elapsed();
        assert_eq!(answer.status, 404, "{answer:?}");
        assert!(took < ANSWER_MAX, "{took:?} for {} bytes", target.len());
        assert!(answer.body.len() < 64 * 1024, "{} bytes", answer.body.len());
        stage.assert_healthy();
    }
}
