//! A binary without the driver of MongoDB.

use kindsight_pipeline::QueuedEvent;
use tokio::sync::mpsc::Sender;

use super::MongodbSettings;
use crate::tasks::Tasks;

/// The reason why states cannot be read.
#[derive(Debug, thiserror::Error)]
#[error(
    "this kindsight was built without MongoDB; `cargo build --release --features mongodb` builds one that can read it"
)]
pub struct MongodbError;

/// A source of states, which this binary cannot have.
pub(crate) enum StatesSource {}

/// Refuses every setting.
pub(crate) async fn open(
    settings: Option<MongodbSettings>,
) -> Result<Option<StatesSource>, MongodbError> {
    settings.map_or(Ok(None), |_| Err(MongodbError))
}

/// Does nothing, because this binary has no source of states.
pub(crate) fn begin(_: Option<StatesSource>, _: &Tasks, _: Sender<QueuedEvent>) {}
