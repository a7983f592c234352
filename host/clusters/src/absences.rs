//! Questions to the sources of clusters: whether an object is known not to exist.
//!
//! The sender of resources asks before it sends the first resource of an app. The index of a watched cluster knows the
//! identity of every object, so most questions need no request to the API server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kindsight_model::ClusterName;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// Maximum number of questions that wait for the source of one cluster.
const QUESTIONS_MAX: usize = 64;
/// Time for the answer of a source. A later answer does not count.
const ANSWER_MAX: Duration = Duration::from_millis(500);

/// The names of an object, in any version of its Kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ObjectName {
    /// The group; empty for the core group.
    pub(crate) group: String,
    pub(crate) kind: String,
    /// Empty for a cluster-scoped object.
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// A question whether an object is known not to exist.
#[derive(Debug)]
pub(crate) struct AbsenceQuestion {
    pub(crate) object: ObjectName,
    pub(crate) answer: oneshot::Sender<bool>,
}

/// The sources that know which objects their clusters have. Clones share the sources.
///
/// An index is some milliseconds behind its cluster, or longer if a watch hangs. So an absence permits to send an object only on the condition that
/// it does not exist.
#[derive(Debug, Clone, Default)]
pub struct Absences(Arc<Mutex<HashMap<ClusterName, mpsc::Sender<AbsenceQuestion>>>>);

impl Absences {
    /// Returns whether the source of a cluster knows that an object does not exist. False if the source does not know, or
    /// does not answer in time.
    pub(crate) async fn has(&self, cluster: &ClusterName, object: ObjectName) -> bool {
        let Some(questions) = self.lock().get(cluster).cloned() else {
            return false;
        };
        let (answer, answered) = oneshot::channel();
        let asked = async {
            let question = AbsenceQuestion { object, answer };
            questions.send(question).await.ok()?;
            answered.await.ok()
        };
        timeout(ANSWER_MAX, asked).await.ok().flatten() == Some(true)
    }

    /// Registers a source for as long as it keeps the receiver.
    pub(crate) fn questions(&self, cluster: &ClusterName) -> mpsc::Receiver<AbsenceQuestion> {
        let (questions, receiver) = mpsc::channel(QUESTIONS_MAX);
        let mut sources = self.lock();
        sources.retain(|_, source| !source.is_closed());
        sources.insert(cluster.clone(), questions);
        receiver
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ClusterName, mpsc::Sender<AbsenceQuestion>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
