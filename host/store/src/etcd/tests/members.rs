//! An etcd with three members.

use std::collections::BTreeSet;

use super::*;

/// The number of keys that are acknowledged while one member is away.
const ACKNOWLEDGED: usize = 20;

#[test]
fn with_each_member_lost_in_turn_nothing_acknowledged_is_lost() {
    let Some(binaries) = binaries() else {
        return;
    };
    let mut members = Etcd::start_three(&binaries);
    let endpoints: Vec<String> = members
        .iter()
        .map(|member| endpoint(member.url()))
        .collect();
    let store = EtcdStore::connect(&endpoints, &EtcdOptions::default()).unwrap();
    let begin = store.keys("/t/").unwrap().revision;
    let mut watch = store.watch("/t/", begin).unwrap();
    let mut acknowledged = BTreeSet::new();
    for (lost, member) in members.iter_mut().enumerate() {
        member.kill();
        let mut number = 0;
        while acknowledged.len() < (lost + 1) * ACKNOWLEDGED {
            number += 1;
            let key = format!("/t/{lost}-{number:03}/");
            match put(&store, &key, "") {
                Ok(_) => drop(acknowledged.insert(key)),
                // A new leader is elected.
                Err(Error::Unavailable { .. } | Error::OutcomeUnknown { .. }) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
        member.start_again();
    }
    let stored: BTreeSet<String> = store.keys("/t/").unwrap().keys.into_iter().collect();
    assert!(acknowledged.is_subset(&stored));
    let mut heard = BTreeSet::new();
    while heard.len() < stored.len() {
        let Changes { changes, .. } = wait(watch.next()).unwrap();
        for Change { key, .. } in changes {
            assert!(heard.insert(key), "each change is reported once");
        }
    }
    assert_eq!(heard, stored);
    wait_for(&store, is_connected);
}
