//! A placement controller: reads the groups of clusters of an app, and keeps one cluster of each.

use std::sync::Arc;

use kindsight_appcontext::{AppContexts, Error, NewContext};
use kindsight_model::{ClusterName, ContextId};
use kindsight_store::RedbStore;

fn main() -> Result<(), Error> {
    let contexts = AppContexts::new(Arc::new(RedbStore::in_memory()?));
    // Its orchestrator would create and fill it.
    let id = contexts.create(&NewContext::default())?;
    let app = contexts.load(&id)?.add_app("sink")?;
    for name in ["provider+edge01", "provider+edge02"] {
        let cluster: ClusterName = name.parse().expect("`provider+name`");
        app.add_cluster(&cluster)?.group().set(&"1".to_owned())?;
    }
    for rejected in place(&contexts, &id, "sink", |cluster| &*cluster.name == "edge02")? {
        println!("rejected {rejected}");
    }
    Ok(())
}

/// Keeps of each group the first cluster that is accepted, and deletes the others; answers those.
pub(crate) fn place(
    contexts: &AppContexts,
    id: &ContextId,
    app: &str,
    is_accepted: impl Fn(&ClusterName) -> bool,
) -> Result<Vec<ClusterName>, Error> {
    let app = contexts.load(id)?.app(app)?;
    let mut rejected = Vec::new();
    for clusters in app.group_map()?.into_values() {
        let kept = clusters.iter().find(|name| is_accepted(name)).cloned();
        for name in clusters {
            if Some(&name) != kept.as_ref() && app.cluster(&name)?.delete()? {
                rejected.push(name);
            }
        }
    }
    Ok(rejected)
}
