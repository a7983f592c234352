//! Notifications of transitions: the task that sends them, and the answers of the REST API.

use std::sync::Arc;

use kindsight_api::notify::{NotifyReceiverList, NotifyRefusal, NotifyResend, NotifyTest};
use kindsight_model::SubjectSet;
use kindsight_notify::{Notifications, Notifier};
use kindsight_pipeline::Unsynced;
use kindsight_read_model::ReadModel;

use crate::clock::now_ms;
use crate::error::Error;
use crate::settings::Settings;
use crate::tasks::Tasks;

/// Makes the receivers of the settings ready; `None` if there are none.
pub(crate) fn open(
    settings: &mut Settings,
    read_model: &ReadModel,
    unsynced: &Unsynced,
) -> Result<Option<Notifier>, Error> {
    if settings.notify.is_empty() {
        return Ok(None);
    }
    let notifier = Notifier::new(
        std::mem::take(&mut settings.notify),
        &settings.outgoing,
        Arc::clone(&settings.store),
        read_model.clone(),
        unsynced.subscribe(),
        now_ms,
    )?;
    Ok(Some(notifier))
}

/// Begins to send notifications. Returns the receivers for the REST API and for metrics.
pub(crate) fn begin(tasks: &Tasks, notifier: Option<Notifier>) -> Option<Notifications> {
    let notifier = notifier?;
    let notifications = notifier.notifications();
    tasks.spawn("sender of notifications", notifier.run(tasks.shutdown()));
    Some(notifications)
}

/// The receivers for the REST API, whose crate does not depend on them.
struct NotifyApi(Notifications);

/// The receivers for the REST API; `None` if there are none.
pub(crate) fn api(of: Option<Notifications>) -> Option<Arc<dyn kindsight_rest::Notifications>> {
    of.map(|notifications| Arc::new(NotifyApi(notifications)) as Arc<_>)
}

impl kindsight_rest::Notifications for NotifyApi {
    fn list(&self, visible: &SubjectSet) -> Result<NotifyReceiverList, NotifyRefusal> {
        self.0.list(visible)
    }

    fn test(&self, receiver: &str) -> Result<NotifyTest, NotifyRefusal> {
        self.0.test(receiver)
    }

    fn resend(&self, receiver: &str) -> Result<NotifyResend, NotifyRefusal> {
        self.0.resend(receiver)
    }
}
