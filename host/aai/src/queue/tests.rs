use std::ops::Range;

use kindsight_api::onap::OnapState;

use super::*;

fn name(text: &str) -> DigName {
    DigName::found(text, None).unwrap()
}

/// A plan with an item for each number.
fn plan(numbers: Range<usize>) -> Plan {
    let items = numbers.map(|number| {
        let id = number.to_string();
        let state = OnapState::Ready;
        let planned = Planned {
            cluster: None,
            content: Some(Content::Vnf { state }),
        };
        (ItemKey::Vnf { id }, planned)
    });
    items.collect()
}

#[test]
fn an_application_that_was_left_off_waits_for_room() {
    let (now, large, small) = (Instant::now(), name("large"), name("small"));
    let more = || plan(ITEMS_MAX..ITEMS_MAX + 2);
    let mut queue = Queue::default();
    let waiting = |queue: &Queue| queue.waiting_for_room().cloned().collect::<Vec<_>>();
    queue.set(&large, plan(0..ITEMS_MAX), now);
    queue.set(&small, more(), now);
    assert!(waiting(&queue).is_empty(), "there is no room");
    assert!(queue.applications().any(|known| *known == small));

    // There is room for one of its two items.
    queue.set(&large, plan(1..ITEMS_MAX), now);
    assert_eq!(waiting(&queue), std::slice::from_ref(&small));
    queue.set(&small, more(), now);
    assert!(waiting(&queue).is_empty(), "there is no room");
    queue.set(&large, Plan::new(), now);
    queue.set(&small, more(), now);
    assert!(waiting(&queue).is_empty(), "no item is left off");
    assert_eq!(queue.held(&small), more());
}
