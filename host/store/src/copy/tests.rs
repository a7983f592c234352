use super::*;
use crate::RedbStore;

fn store(entries: &[(&str, &str)]) -> RedbStore {
    let store = RedbStore::in_memory().unwrap();
    for (key, value) in entries {
        store.apply(&Batch::new().put(*key, *value)).unwrap();
    }
    store
}

fn entries(store: &dyn Store) -> Vec<(String, String)> {
    let mut entries = Vec::new();
    walk(store, "", |entry| {
        entries.push((entry.key, String::from_utf8(entry.value).unwrap()));
        Ok::<_, Error>(())
    })
    .unwrap();
    entries
}

/// Keys in their order of creation.
fn by_creation(store: &dyn Store) -> Vec<String> {
    let mut entries = store.range("/").unwrap().entries;
    entries.sort_by_key(|it| it.created);
    entries.into_iter().map(|it| it.key).collect()
}

const SET: &[(&str, &str)] = &[
    ("/context/2/", "2"),
    ("/context/1/", "1"),
    ("/kindsight/a/b/c/", "c"),
    ("/context/1/meta/", "{}"),
    ("other", "x"),
    ("/context", ""),
];

#[test]
fn a_walk_visits_every_key_once_and_in_order() {
    let store = store(SET);
    let keys: Vec<String> = entries(&store).into_iter().map(|it| it.0).collect();
    assert_eq!(keys, store.keys("").unwrap().keys);
    let mut under = Vec::new();
    walk(&store, "/context/1/me", |entry| {
        under.push(entry.key);
        Ok::<_, Error>(())
    })
    .unwrap();
    assert_eq!(under, ["/context/1/meta/"]);
}

#[test]
fn a_copy_has_the_same_keys_in_the_same_order_of_creation() {
    let (from, to) = (store(SET), store(&[]));
    let copied = copy(&from, &to, "", false, |_, _| ()).unwrap();
    let expect = Copied {
        written: SET.len(),
        were_there: 0,
        bytes: 6,
    };
    assert_eq!(copied, expect);
    assert_eq!(entries(&to), entries(&from));
    assert_eq!(by_creation(&to), by_creation(&from));
    let created = |key: &str| to.entry(key).unwrap().unwrap().created;
    assert!(created("/context/2/") < created("/context/1/"));
}

#[test]
fn a_target_that_is_not_empty_is_rejected_and_not_changed() {
    let (from, to) = (store(SET), store(&[("/mine/", "x")]));
    let before = entries(&to);
    let refused = copy(&from, &to, "", false, |_, _| ()).unwrap_err();
    let expect = "the target is not empty, it has 1 keys such as `/mine/`";
    assert_eq!(refused.to_string(), expect);
    assert_eq!(entries(&to), before);
    copy(&from, &to, "/context/", false, |_, _| ()).unwrap();
    let again = copy(&from, &to, "/context/", true, |_, _| ()).unwrap();
    assert_eq!((again.written, again.were_there), (0, 3));
}

#[test]
fn a_copy_that_was_broken_off_is_completed_and_changes_nothing() {
    let (from, to) = (store(SET), store(&[("/context/2/", "2"), ("/mine/", "x")]));
    let copied = copy(&from, &to, "", true, |_, _| ()).unwrap();
    assert_eq!((copied.written, copied.were_there), (SET.len() - 1, 1));
    let other = store(&[("/context/1/", "another")]);
    let refused = copy(&from, &other, "", true, |_, _| ()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the target differs from the source in: /context/1/"
    );
    assert_eq!(other.get("/context/1/").unwrap(), Some(b"another".to_vec()));
}

/// A store with the limits of an etcd, over a store with larger limits.
struct Small(RedbStore);

impl Store for Small {
    fn entry(&self, key: &str) -> Result<Option<Entry>> {
        self.0.entry(key)
    }

    fn range(&self, prefix: &str) -> Result<crate::Range> {
        self.0.range(prefix)
    }

    fn keys(&self, prefix: &str) -> Result<crate::Keys> {
        self.0.keys(prefix)
    }

    fn apply(&self, batch: &Batch) -> Result<Revision> {
        batch.check(self.limits())?;
        self.0.apply(batch)
    }

    fn watch(&self, prefix: &str, after: Revision) -> Result<crate::Watch> {
        self.0.watch(prefix, after)
    }

    fn lease(&self, name: &str) -> Result<crate::Leased> {
        self.0.lease(name)
    }

    fn limits(&self) -> crate::StoreLimits {
        crate::StoreLimits {
            value_bytes: 1000,
            batch_writes: 4,
            batch_bytes: 2000,
        }
    }

    fn connection(&self) -> tokio::sync::watch::Receiver<crate::Connection> {
        self.0.connection()
    }
}

#[test]
fn batches_are_as_large_as_the_target_takes() {
    let from = store(&[]);
    let mut all = Batch::new();
    for number in 0..30_usize {
        let value = "x".repeat(number * 33);
        all = all.put(format!("/context/{number:02}/"), value);
    }
    from.apply(&all).unwrap();
    let to = Small(store(&[]));
    assert_eq!(copy(&from, &to, "", false, |_, _| ()).unwrap().written, 30);
    assert_eq!(entries(&to), entries(&from));
    for key in ["/context/a/", "/context/b/"] {
        from.apply(&Batch::new().put(key, "x".repeat(1001)))
            .unwrap();
    }
    let to = Small(store(&[]));
    let refused = copy(&from, &to, "", false, |_, _| ())
        .unwrap_err()
        .to_string();
    let expect = "values over the target's limit of 1000 bytes: /context/a/, /context/b/";
    assert_eq!(refused, expect);
    assert_eq!(to.keys("/context/").unwrap().keys, [""; 0]);
}
