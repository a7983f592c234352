use super::*;
use crate::RedbStore;

/// A store in memory that other programs could open: each name has one lease.
fn granted(store: &Arc<dyn Store>, name: &str) -> Lease {
    let key = key(name);
    let revision = store.apply(&Batch::new().put(&key, "")).unwrap();
    Lease::new(key, revision, Expiry::default(), || {})
}

fn memory() -> Arc<dyn Store> {
    Arc::new(RedbStore::in_memory().unwrap())
}

#[test]
fn a_batch_after_the_end_of_its_lease_writes_nothing() {
    let store = memory();
    let first = granted(&store, "group").fenced(&store);
    first.apply(&Batch::new().put("/t/a/", "1")).unwrap();
    let second = granted(&store, "group").fenced(&store);
    let late = first.apply(&Batch::new().put("/t/a/", "late"));
    assert!(matches!(late, Err(Error::LeaseLost { key }) if key == "/kindsight/leases/group/"));
    second.apply(&Batch::new().put("/t/b/", "2")).unwrap();
    store.apply(&Batch::new().delete(key("group"))).unwrap();
    let late = second.apply(&Batch::new().put("/t/b/", "late"));
    assert!(matches!(late, Err(Error::LeaseLost { .. })));
    assert_eq!(store.get("/t/a/").unwrap(), Some(b"1".to_vec()));
    assert_eq!(store.get("/t/b/").unwrap(), Some(b"2".to_vec()));
}

#[test]
fn another_conflict_is_not_the_end_of_the_lease() {
    let store = memory();
    let fenced = granted(&store, "group").fenced(&store);
    let conflict = fenced.apply(&Batch::new().present("/t/a/").put("/t/a/", "1"));
    assert!(matches!(conflict, Err(Error::Conflict { key }) if key == "/t/a/"));
}

#[test]
fn the_largest_batch_of_a_fenced_store_fits_with_its_condition() {
    let store = memory();
    let fenced = granted(&store, "group").fenced(&store);
    let max = fenced.limits().batch_writes;
    assert_eq!(max, store.limits().batch_writes - 1);
    let batch = (0..max).fold(Batch::new(), |batch, at| {
        let key = format!("/t/{at}/");
        batch.absent(&key).put(&key, "")
    });
    fenced.apply(&batch).unwrap();
}

#[test]
fn the_embedded_store_grants_every_lease_without_a_key() {
    let store = memory();
    for _ in 0..2 {
        let Leased::Granted(lease) = store.lease("group").unwrap() else {
            panic!("the lease is held");
        };
        let fenced = lease.fenced(&store);
        fenced.apply(&Batch::new().put("/t/a/", "1")).unwrap();
    }
    assert_eq!(store.keys(LEASES_PREFIX).unwrap().keys, [""; 0]);
}

#[test]
fn a_read_only_store_grants_no_lease() {
    let store = crate::read_only(memory());
    assert!(matches!(store.lease("group"), Err(Error::ReadOnly)));
}

#[tokio::test]
async fn the_leases_that_end_after_the_begin_of_a_watch_are_named() {
    let store = memory();
    granted(&store, "work/before");
    let end = |name| store.apply(&Batch::new().delete(key(name)));
    end("work/before").unwrap();
    let mut ended = EndedLeases::watch(&*store, "work/").unwrap();
    for name in ["work/p/shop/v1/prod", "other/name", "work/7"] {
        granted(&store, name);
        end(name).unwrap();
    }
    assert_eq!(ended.next().await.unwrap(), ["p/shop/v1/prod"]);
    assert_eq!(ended.next().await.unwrap(), ["7"]);
}

#[test]
fn each_owner_has_a_greater_number_and_leases_end_together() {
    let store = memory();
    let leases: Vec<Lease> = ["a", "b"].map(|name| granted(&store, name)).into();
    assert!(leases[0].number() < leases[1].number());
    end_leases(&*store, leases).unwrap();
    assert_eq!(store.keys(LEASES_PREFIX).unwrap().keys, [""; 0]);
    assert_eq!(Lease::exclusive().number(), 0);
    end_leases(&*store, vec![Lease::exclusive()]).unwrap();
}

#[test]
fn a_lease_is_kept_until_its_expiry_which_renewals_move() {
    let now = Instant::now();
    let later = now + std::time::Duration::from_secs(1);
    let expiry = Expiry::until(later);
    assert!(expiry.is_after(now) && !expiry.is_after(later));
    expiry.clone().set(now);
    assert!(!expiry.is_after(now));
    assert!(Expiry::default().is_after(later));
}

#[test]
fn a_store_without_other_programs_grants_all_leases() {
    let wanted = ["a", "b"].map(|name| WantedLease {
        name: name.to_owned(),
        value: Vec::new(),
    });
    let leases = memory().lease_all(&wanted).unwrap();
    assert_eq!(leases.map(|leases| leases.len()), Some(2));
}
