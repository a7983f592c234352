//! Clusters know which of them clients wait for.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::Mutex;

use super::streams::Reader;
use super::*;
use crate::ClusterWaits;

/// The clusters of open streams, one entry for each stream.
#[derive(Default, Clone)]
pub(super) struct SampleWaits(Arc<Mutex<Vec<BTreeSet<ClusterName>>>>);

/// A wait, until it is dropped.
struct SampleWait(SampleWaits, BTreeSet<ClusterName>);

impl ClusterWaits for SampleWaits {
    fn begin(&self, clusters: BTreeSet<ClusterName>) -> Box<dyn Any + Send + Sync> {
        self.0.lock().unwrap().push(clusters.clone());
        Box::new(SampleWait(self.clone(), clusters))
    }
}

impl Drop for SampleWait {
    fn drop(&mut self) {
        let mut waits = self.0.0.lock().unwrap();
        let place = waits.iter().position(|clusters| *clusters == self.1);
        waits.remove(place.unwrap());
    }
}

#[tokio::test]
async fn a_stream_waits_for_the_clusters_of_its_application_until_it_ends() {
    let (model, waits) = (published(), SampleWaits::default());
    let mut state = state_of(&model, Limits::default());
    state.waits = Arc::new(waits.clone());
    let router = router(state);
    let mut stream = Reader::open(router.clone(), &format!("{STATUS}/watch"), None).await;
    stream.event().await;
    let edge = ClusterName::new("vfw-cluster-provider", "edge01").unwrap();
    assert_eq!(*waits.0.lock().unwrap(), [BTreeSet::from([edge])]);
    drop(stream);
    assert!(waits.0.lock().unwrap().is_empty());
    // The list shows all clusters, and its reader waits for none of them.
    let mut list = Reader::open(router, "/v2/applications/watch", None).await;
    list.event().await;
    assert_eq!(*waits.0.lock().unwrap(), [BTreeSet::new()]);
}
