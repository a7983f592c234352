//! Locks: readers never wait, and commands do not wait for the slow work of other commands.

use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use kindsight_catalog::CatalogLimits;
use kindsight_interpreter::Interpreters;

use crate::{Host, component, engine_limits, file, name, upload};

/// Time after which a call counts as blocked.
const WAITS: Duration = Duration::from_secs(20);

/// While a component is stored, all other commands continue.
#[test]
fn storing_a_component_delays_no_other_command() {
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

/// The previous version is neither in memory nor in a cache. It is compiled without a delay for other calls.
#[test]
fn readers_and_other_commands_do_not_wait_for_a_rollback_that_compiles() {
    let interpreters = Interpreters::start(engine_limits(), None).expect("an engine");
    let limits = CatalogLimits::default();
    let host = Host::open_on(Arc::default(), &[], limits, Arc::new(interpreters));
    let host = host.expect("a catalog");
    host.load(&upload("b", component("b", "1.0.0")));
    for version in ["1.0.0", "2.0.0", "3.0.0"] {
        host.load(&upload("a", component("a", version)));
    }
    host.catalog.rollback(&name("a")).expect("it is in memory");
    let (mut longest, mut commands) = (Duration::ZERO, 0_u32);
    let took = std::thread::scope(|scope| {
        let begun = Instant::now();
        let going_back = scope.spawn(|| host.catalog.rollback(&name("a")));
        while !going_back.is_finished() {
            let begun = Instant::now();
            assert_eq!(host.catalog.entries().len(), 2);
            let disabled = host.catalog.set_disabled(&name("b"), commands % 2 == 0);
            disabled.expect("a name");
            commands += 1;
            longest = longest.max(begun.elapsed());
        }
        going_back.join().expect("no panic").expect("there is one");
        begun.elapsed()
    });
    assert_eq!(host.judges("a"), "a 1.0.0");
    assert!(commands > 1, "{commands} commands in {took:?}");
    assert!(longest < took / 2, "{longest:?} of {took:?}");
}
