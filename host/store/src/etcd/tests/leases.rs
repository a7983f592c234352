use std::sync::Arc;
use std::time::Instant;

use super::*;
use crate::{Lease, Leased, end_leases};

/// The longest wait for the end of a lease: its time to live, and a margin for a busy machine.
const END_MAX: Duration = Duration::from_mins(1);

fn lease(store: &Arc<dyn Store>) -> Option<Lease> {
    match store.lease("group").unwrap() {
        Leased::Granted(lease) => Some(lease),
        Leased::Held => None,
    }
}

/// Asks for the lease until it is granted.
fn awaited(store: &Arc<dyn Store>) -> Lease {
    let until = Instant::now() + END_MAX;
    loop {
        if let Some(lease) = lease(store) {
            return lease;
        }
        assert!(Instant::now() < until, "the lease was not granted");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn programs(etcd: &Etcd) -> [Arc<dyn Store>; 2] {
    [(); 2].map(|()| {
        let store: Arc<dyn Store> = Arc::new(opened(etcd.url(), &EtcdOptions::default()));
        store
    })
}

#[test]
fn a_lease_belongs_to_one_program_until_it_is_dropped() {
    let Some(etcd) = started() else {
        return;
    };
    let [first, second] = programs(&etcd);
    let held = lease(&first).unwrap();
    assert!(lease(&second).is_none());
    assert!(lease(&first).is_none(), "also within one program");
    let fenced = held.fenced(&first);
    put(&*fenced, "/t/a/", "1").unwrap();
    drop(held);
    let held = awaited(&second);
    let late = put(&*fenced, "/t/a/", "late");
    assert!(matches!(late, Err(Error::LeaseLost { .. })), "{late:?}");
    put(&*held.fenced(&second), "/t/b/", "2").unwrap();
    assert_eq!(value(&*first, "/t/a/").as_deref(), Some("1"));
}

#[test]
fn the_lease_of_a_program_that_ended_passes_to_another_one() {
    let Some(etcd) = started() else {
        return;
    };
    let [first, second] = programs(&etcd);
    // The program is killed, so nothing removes the key.
    std::mem::forget(lease(&first).unwrap());
    drop(first);
    assert!(lease(&second).is_none());
    awaited(&second);
}

#[test]
fn a_program_continues_after_etcd_ended_its_session() {
    let Some(etcd) = started() else {
        return;
    };
    let [first, second] = programs(&etcd);
    let held = lease(&first).unwrap();
    let fenced = held.fenced(&first);
    let entry = first.entry("/kindsight/leases/group/").unwrap().unwrap();
    let session = String::from_utf8(entry.value).unwrap();
    etcd.keys().revoke_lease(session.parse().unwrap());
    let late = put(&*fenced, "/t/a/", "late");
    assert!(matches!(late, Err(Error::LeaseLost { .. })), "{late:?}");
    let taken = awaited(&second);
    drop((held, taken));
    // The first request shows the end of the session, and a later one begins another.
    let until = Instant::now() + END_MAX;
    let renewed = loop {
        match first.lease("group") {
            Ok(Leased::Granted(lease)) => break lease,
            Ok(Leased::Held) | Err(Error::LeaseLost { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        assert!(Instant::now() < until, "the lease was not granted again");
        std::thread::sleep(Duration::from_millis(50));
    };
    put(&*renewed.fenced(&first), "/t/a/", "again").unwrap();
}

#[test]
fn a_copy_leaves_out_leases() {
    let Some(etcd) = started() else {
        return;
    };
    let [first, _] = programs(&etcd);
    put(&*first, "/kindsight/a/", "1").unwrap();
    let _held = lease(&first).unwrap();
    let target = crate::RedbStore::in_memory().unwrap();
    crate::copy(&*first, &target, "/kindsight/", false, |_, _| {}).unwrap();
    let keys = target.keys("/kindsight/").unwrap().keys;
    assert_eq!(keys, ["/kindsight/a/", "/kindsight/format/"]);
}

#[test]
fn leases_are_granted_and_ended_together() {
    let Some(etcd) = started() else {
        return;
    };
    let [first, second] = programs(&etcd);
    let wanted = |names: &[&str]| {
        let wanted = names.iter().map(|name| WantedLease {
            name: (*name).to_owned(),
            value: name.as_bytes().to_vec(),
        });
        wanted.collect::<Vec<_>>()
    };
    let held = first.lease_all(&wanted(&["a", "b"])).unwrap().unwrap();
    assert!(
        held.iter()
            .all(|lease| lease.expiry().is_after(Instant::now()))
    );
    assert!(second.lease_all(&wanted(&["b", "c"])).unwrap().is_none());
    assert_eq!(
        value(&*second, "/kindsight/leases/a/").as_deref(),
        Some("a")
    );
    assert_eq!(value(&*second, "/kindsight/leases/c/"), None, "all or none");
    let numbers: Vec<u64> = held.iter().map(Lease::number).collect();
    end_leases(&*first, held).unwrap();
    let taken = second.lease_all(&wanted(&["b", "c"])).unwrap().unwrap();
    assert!(taken[0].number() > numbers[1]);
    let many: Vec<String> = (0..=first.limits().batch_writes)
        .map(|at| at.to_string())
        .collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let refused = first.lease_all(&wanted(&many));
    assert!(matches!(refused, Err(Error::BatchTooLarge { .. })));
}

#[test]
fn the_expiry_of_a_lease_moves_with_each_renewal() {
    let Some(etcd) = started() else {
        return;
    };
    let [first, _] = programs(&etcd);
    let held = lease(&first).unwrap();
    let begin = held.expiry().at().unwrap();
    let until = Instant::now() + END_MAX;
    while held.expiry().at().unwrap() == begin {
        assert!(Instant::now() < until, "the lease was not renewed");
        std::thread::sleep(Duration::from_millis(50));
    }
    let entry = first.entry("/kindsight/leases/group/").unwrap().unwrap();
    let session = String::from_utf8(entry.value).unwrap();
    etcd.keys().revoke_lease(session.parse().unwrap());
    while held.expiry().is_after(Instant::now()) {
        assert!(Instant::now() < until, "the end was not noticed");
        std::thread::sleep(Duration::from_millis(50));
    }
}
