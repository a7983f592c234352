//! A store with deployment intent groups.

use std::sync::Arc;

use kindsight_appcontext::{
    AppContexts, ContextMeta, NewApp, NewCluster, NewContext, NewResource, Record, Records,
    ResourceName,
};
use kindsight_model::{ContextId, DigName};
use kindsight_store::Store;
use serde_json::json;

/// Stores a group of one app in one cluster, with `resources` resources, and its context with this id.
pub(crate) fn fill(store: &Arc<dyn Store>, dig: &DigName, id: &str, resources: usize) {
    let resources = (0..resources).map(|number| {
        let name = format!("{}-{number}", "x".repeat(200));
        NewResource {
            resource: ResourceName::new(&name, "ConfigMap").expect("a name"),
            manifest: format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n"),
        }
    });
    let cluster = NewCluster {
        cluster: "provider+edge01".parse().expect("a cluster"),
        group: None,
        resources: resources.collect(),
    };
    let context = NewContext {
        meta: ContextMeta::of_dig(dig),
        apps: vec![NewApp {
            name: "app".to_owned(),
            clusters: vec![cluster],
        }],
    };
    let context_id: ContextId = id.parse().expect("an id");
    let contexts = AppContexts::new(Arc::clone(store));
    contexts
        .create_as(&context_id, &context)
        .expect("a context");
    let action = json!({"state": "Instantiated", "instance": id, "time": "2026-11-22T12:00:00Z"});
    let record = Record {
        profile: None,
        actions: vec![serde_json::from_value(action).expect("an action")],
    };
    let records = Records::new(Arc::clone(store));
    records.create(dig, &record).expect("a record");
}
