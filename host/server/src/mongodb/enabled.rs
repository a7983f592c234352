//! A binary that can read a MongoDB.

use std::convert::Infallible;
use std::time::Duration;

use kindsight_mongodb::MongodbOptions;
use kindsight_pipeline::QueuedEvent;
use tokio::sync::mpsc::Sender;

use super::MongodbSettings;
use crate::clock::now_ms;
use crate::tasks::Tasks;

pub(crate) use kindsight_mongodb::{Error as MongodbError, StatesSource};

/// Timeout of one request to a MongoDB.
const ANSWER_DEADLINE: Duration = Duration::from_secs(5);

/// Reads the settings. Does not wait for the MongoDB.
pub(crate) async fn open(
    settings: Option<MongodbSettings>,
) -> Result<Option<StatesSource>, MongodbError> {
    let Some(settings) = settings else {
        return Ok(None);
    };
    let options = MongodbOptions {
        uri: settings.uri.0,
        user: settings.user,
        password: settings.password,
        ca: settings.ca,
        every: settings.every,
        deadline: ANSWER_DEADLINE,
    };
    StatesSource::new(&options, now_ms).await.map(Some)
}

/// Begins to follow the states, if a MongoDB is configured.
pub(crate) fn begin(states: Option<StatesSource>, tasks: &Tasks, events_tx: Sender<QueuedEvent>) {
    let Some(states) = states else { return };
    let shutdown = tasks.shutdown();
    tasks.spawn("reader of MongoDB", async move {
        states.follow(events_tx, shutdown).await;
        Ok::<_, Infallible>(())
    });
}
