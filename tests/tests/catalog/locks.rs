//! Locks: readers wait for nobody, and commands do not wait for each other's slow work.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::{Host, component, file, name, upload};

/// Time after which something waits.
const WAITS: Duration = Duration::from_secs(20);

/// A component is being stored for as long as it takes: everything else goes on.
#[test]
fn nothing_waits_for_a_component_that_is_stored() {
    let host = Host::new();
    host.load(&upload("b", component("b", "1.0.0")));
    host.load(&upload("b", component("b", "2.0.0")));
    let catalog = Arc::clone(&host.catalog);
    let (tell, told) = mpsc::channel();
    host.store.after_component(Box::new(move || {
        let (done, is_done) = mpsc::channel();
        std::thread::spawn(move || {
            let entries = catalog.entries().len();
            let rolled_back = catalog.rollback(&name("b")).is_ok();
            let disabled = catalog.set_disabled(&name("b"), true).is_ok();
            let _ = done.send((entries, rolled_back, disabled));
        });
        let _ = tell.send(is_done.recv_timeout(WAITS));
    }));
    host.admit(&upload("a", component("a", "1.0.0")))
        .expect("it loads");
    let all = told.recv().expect("the hook was called");
    assert_eq!(all, Ok((1, true, true)), "none of it waited");
    assert_eq!(host.live(), ["a 1.0.0 Upload"]);
}

/// Two changes that are prepared at the same time both hold.
#[test]
fn changes_made_at_the_same_time_all_hold() {
    let host = Host::new();
    std::thread::scope(|scope| {
        for letter in ["a", "b", "c", "d"] {
            let host = &host;
            scope.spawn(move || {
                let (first, second) = (component(letter, "1.0.0"), component(letter, "2.0.0"));
                host.admit(&upload(letter, first)).expect("it loads");
                host.admit(&file(letter, second)).expect("it loads");
            });
        }
    });
    let live = host.live();
    assert_eq!(live.len(), 4, "{live:?}");
    assert_eq!(host.store.kept().components.len(), 8);
    let again = host.again();
    assert_eq!(again.live(), live);
}
