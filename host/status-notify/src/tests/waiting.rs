//! Notifications that wait for their turn.

use kindsight_access::{Caller, Lease, Role};
use tokio::sync::OwnedSemaphorePermit;

use super::*;
use crate::clients::{ClientKey, Clients};
use crate::follower::{Follower, Making};
use crate::limits::NOTIFICATIONS_MADE_MAX;
use crate::registration::Registration;

/// Clients whose notifications take turns.
#[derive(Default)]
pub(super) struct Turns {
    pub(super) clients: Arc<Clients>,
    making: Making,
}

impl Turns {
    /// The stream of a client that sees everything.
    pub(super) fn follower(&self, stage: &Stage, id: &str, lease: Option<Lease>) -> Follower {
        let registration = Registration::read(registration(id, StatusValue::Ready)).unwrap();
        let caller = Caller::anyone();
        let visible = caller.rights().subjects(Role::Viewer);
        Follower {
            registered: self.clients.register(key(id)).unwrap(),
            registration: Arc::new(registration),
            model: stage.writer.read_model().visible_to(visible),
            lease,
            making: self.making.clone(),
            stop: stage.stop.clone(),
            sent: None,
            held: None,
            is_over: false,
        }
    }

    /// Takes all slots, so that each notification waits.
    pub(super) async fn take_all(&self) -> OwnedSemaphorePermit {
        let slots = u32::try_from(NOTIFICATIONS_MADE_MAX).unwrap();
        let slots = Arc::clone(&self.making.slots).acquire_many_owned(slots);
        slots.await.unwrap()
    }
}

fn key(id: &str) -> ClientKey {
    ClientKey::new("-", id).unwrap()
}

/// Polls a future once, which is not done yet.
pub(super) async fn assert_waits(future: &mut (impl Future + Unpin)) {
    tokio::select! {
        biased;
        _ = future => panic!("it did not wait"),
        () = std::future::ready(()) => {}
    }
}

#[tokio::test]
async fn a_notification_that_waited_has_the_latest_status() {
    let mut stage = Stage::start().await;
    stage.publish("Instantiated", Phase::Ready);
    let turns = Turns::default();
    let others = turns.take_all().await;
    let mut next = Box::pin(turns.follower(&stage, "a", None).next());
    assert_waits(&mut next).await;
    stage.publish("Instantiated", Phase::Failed);
    drop(others);
    let (notification, _) = next.await.unwrap();
    assert_eq!(notification.unwrap().status_value(), StatusValue::NotReady);
}

#[tokio::test]
async fn a_client_that_is_deregistered_while_it_waits_gets_no_notification() {
    let mut stage = Stage::start().await;
    stage.publish("Instantiated", Phase::Ready);
    let turns = Turns::default();
    let others = turns.take_all().await;
    let mut next = Box::pin(turns.follower(&stage, "a", None).next());
    assert_waits(&mut next).await;
    turns.clients.deregister(&key("a"));
    drop(others);
    assert!(next.await.is_none());
}
