//! An action controller: loads a context by its id, changes a resource, and adds one.

use std::sync::Arc;

use kindsight_appcontext::{AppContexts, Error, NewContext, ResourceName, ResourceOrder};
use kindsight_model::{ClusterName, ContextId};
use kindsight_store::RedbStore;

fn main() -> Result<(), Error> {
    let contexts = AppContexts::new(Arc::new(RedbStore::in_memory()?));
    // Its orchestrator would create and fill it.
    let id = contexts.create(&NewContext::default())?;
    let cluster: ClusterName = "provider+edge01".parse().expect("`provider+name`");
    let app = contexts.load(&id)?.add_app("sink")?;
    let config = ResourceName::new("sink-config", "ConfigMap")?;
    app.add_cluster(&cluster)?
        .add_resource(&config, "kind: ConfigMap\n")?;
    customize(&contexts, &id, "sink", &cluster)
}

/// Appends to the manifest of a resource, and adds one behind it in the order. Of two controllers that
/// do so at a time, none loses what the other wrote.
pub(crate) fn customize(
    contexts: &AppContexts,
    id: &ContextId,
    app: &str,
    cluster: &ClusterName,
) -> Result<(), Error> {
    let cluster = contexts.load(id)?.app(app)?.cluster(cluster)?;
    let config = cluster.resource(&ResourceName::new("sink-config", "ConfigMap")?)?;
    config
        .manifest()
        .update(|manifest| manifest.map(|yaml| yaml + "data:\n  level: debug\n"))?;
    let route = ResourceName::new("sink-route", "Service")?;
    cluster.add_resource(&route, "kind: Service\n")?;
    cluster.resource_order().update(|order| {
        let mut order = order.unwrap_or_else(|| ResourceOrder::new([config.name().to_string()]));
        order.resources.push(route.to_string());
        Some(order)
    })?;
    Ok(())
}
