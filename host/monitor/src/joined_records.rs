//! The deployments of the source: from ResourceBundleStates and from the server.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_clusters::{Recorded, RecordedDeployment};
use kindsight_model::{ClusterName, DeploymentId};
use tokio::sync::watch;

/// The numbers of one deployment in both records; none where it is not recorded.
type Numbers = (Option<u64>, Option<u64>);

/// Joins the deployments of two records into one record.
pub(crate) struct JoinedRecords {
    cluster: ClusterName,
    /// The numbers of each deployment in both records, and its number in the joined record.
    known: BTreeMap<DeploymentId, (Numbers, u64)>,
    /// The last number.
    last: u64,
}

impl JoinedRecords {
    pub(crate) fn new(cluster: ClusterName) -> Self {
        Self {
            cluster,
            known: BTreeMap::new(),
            last: 0,
        }
    }

    /// Sends the joined record to the source whenever one of the records changes, until their senders are dropped.
    pub(crate) async fn follow(
        mut self,
        mut own: watch::Receiver<Arc<Recorded>>,
        mut server: watch::Receiver<Arc<Recorded>>,
        joined: watch::Sender<Arc<Recorded>>,
    ) {
        loop {
            let next = {
                let (own, server) = (own.borrow_and_update(), server.borrow_and_update());
                self.join(&own, &server)
            };
            joined.send_replace(Arc::new(next));
            tokio::select! {
                Ok(()) = own.changed() => {}
                Ok(()) = server.changed() => {}
                else => return,
            }
        }
    }

    /// The joined record. A deployment with another number in one of the records gets another number.
    fn join(&mut self, own: &Recorded, server: &Recorded) -> Recorded {
        let (own, server) = (own.of(&self.cluster), server.of(&self.cluster));
        let mut joined = Recorded::default();
        let mut known = BTreeMap::new();
        let ids: BTreeSet<&DeploymentId> = own.keys().chain(server.keys()).collect();
        for id in ids {
            let of_server = server.get(id);
            let numbers = (
                own.get(id).map(|record| record.number),
                of_server.map(|record| record.number),
            );
            let before = self.known.get(id).filter(|(before, _)| *before == numbers);
            let number = if let Some((_, number)) = before {
                *number
            } else {
                self.last += 1;
                self.last
            };
            known.insert(id.clone(), (numbers, number));
            let namespace = of_server.map(|record| Arc::clone(&record.namespace));
            let record = RecordedDeployment {
                namespace: namespace.unwrap_or_default(),
                number,
            };
            joined.insert(&self.cluster, id.clone(), record);
        }
        self.known = known;
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deployment_of_both_records_has_one_number_that_changes_with_either() {
        let cluster: ClusterName = "lab+edge".parse().unwrap();
        let record = |pairs: &[(&str, u64)]| {
            let mut recorded = Recorded::default();
            for (id, number) in pairs {
                let record = RecordedDeployment {
                    namespace: "web".into(),
                    number: *number,
                };
                recorded.insert(&cluster, id.parse().unwrap(), record);
            }
            recorded
        };
        let mut records = JoinedRecords::new(cluster.clone());
        let number = |recorded: &Recorded, id: &str| {
            let id: DeploymentId = id.parse().unwrap();
            recorded.of(&cluster).get(&id).map(|record| record.number)
        };
        let first = records.join(&record(&[("1-a", 1), ("2-b", 2)]), &record(&[("2-b", 9)]));
        assert_eq!(first.of(&cluster).len(), 2);
        let same = records.join(&record(&[("1-a", 1), ("2-b", 2)]), &record(&[("2-b", 9)]));
        assert_eq!(first, same);
        let changed = records.join(&record(&[("2-b", 2)]), &record(&[("2-b", 10)]));
        assert_eq!(number(&changed, "1-a"), None);
        assert!(number(&changed, "2-b") > number(&first, "2-b"));
    }
}
