//! An orchestrator: creates a context with apps, clusters, resources and their order.

use std::sync::Arc;

use kindsight_appcontext::{
    AppContexts, AppDependency, AppOrder, ContextMeta, DependsOn, Error, NewApp, NewCluster,
    NewContext, NewResource, ResourceName, ResourceOrder,
};
use kindsight_model::{ClusterName, ContextId, ContextStatus, DigName};
use kindsight_store::RedbStore;

fn main() -> Result<(), Error> {
    let contexts = AppContexts::new(Arc::new(RedbStore::in_memory()?));
    let clusters = ["provider+edge01", "provider+edge02"];
    for id in [
        instantiate(&contexts, &clusters)?,
        instantiate_in_steps(&contexts, &clusters)?,
    ] {
        for key in contexts.load(&id)?.all_keys()? {
            println!("{key}");
        }
    }
    Ok(())
}

/// Creates the context at once: a reader sees all of it or nothing.
pub(crate) fn instantiate(contexts: &AppContexts, clusters: &[&str]) -> Result<ContextId, Error> {
    let config = NewResource {
        resource: ResourceName::new("sink-config", "ConfigMap")?,
        manifest: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: sink-config\n".to_owned(),
    };
    let cluster = |(number, name): (usize, &&str)| NewCluster {
        cluster: cluster_name(name),
        group: Some((number + 1).to_string()),
        resources: vec![config.clone()],
    };
    let sink = NewApp {
        name: "sink".to_owned(),
        clusters: clusters.iter().enumerate().map(cluster).collect(),
    };
    let firewall = NewApp {
        name: "firewall".to_owned(),
        clusters: Vec::new(),
    };
    contexts.create(&NewContext {
        meta: ContextMeta::of_dig(&group()),
        apps: vec![sink, firewall],
    })
}

/// Creates the same step by step, as the original does: readers see it grow, and take it for
/// complete once it has a state.
pub(crate) fn instantiate_in_steps(
    contexts: &AppContexts,
    clusters: &[&str],
) -> Result<ContextId, Error> {
    let context = contexts.create_composite_app()?;
    context.meta().set(&ContextMeta::of_dig(&group()))?;
    context
        .app_order()
        .set(&AppOrder::new(["sink", "firewall"]))?;
    let sink = context.add_app("sink")?;
    for (number, name) in clusters.iter().enumerate() {
        let cluster = sink.add_cluster(&cluster_name(name))?;
        cluster.group().set(&(number + 1).to_string())?;
        let config = ResourceName::new("sink-config", "ConfigMap")?;
        cluster.add_resource(&config, "kind: ConfigMap\n")?;
        let order = ResourceOrder::new([config.to_string()]);
        cluster.resource_order().set(&order)?;
    }
    let firewall = context.add_app("firewall")?;
    firewall.dependency().set(&AppDependency {
        apps: vec![DependsOn::new("sink", "Ready", 0)],
    })?;
    context.status().set(&ContextStatus::Instantiating)?;
    Ok(context.id().clone())
}

fn group() -> DigName {
    DigName::new("testvfw", "compositevfw", "v1", "vfw_dig").expect("a valid name")
}

fn cluster_name(name: &str) -> ClusterName {
    name.parse().expect("`provider+name`")
}
