//! Approvals of a content with a tag.

use super::stage::{Host, NOW, app, draft, manifest, name};
use crate::{Command, ContentCondition, Error, Stored};

fn tag(host: &Host) -> String {
    let group = host.groups.get(&name()).unwrap();
    group.content_tag().unwrap().to_owned()
}

fn approve(host: &Host, tags: &[&str]) -> Result<(), Error> {
    let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    let condition = ContentCondition::OneOf(tags);
    let approved = host
        .groups
        .approve(&name(), &condition, &*host.clusters, NOW);
    approved.map(drop)
}

#[test]
fn only_the_content_with_the_tag_is_approved() {
    let host = Host::new();
    host.put().unwrap();
    let first = tag(&host);
    assert_eq!(host.put().unwrap(), Stored::Unchanged);
    assert_eq!(tag(&host), first);
    host.put_apps(vec![app("front", &["lab+a"], vec![manifest("one")])])
        .unwrap();
    let second = tag(&host);
    assert_ne!(first, second);
    let refused = approve(&host, &[&first]);
    assert!(matches!(refused, Err(Error::OtherContent(now)) if now == second));
    approve(&host, &["x", &second]).unwrap();
    // An approval does not change the content.
    assert_eq!(tag(&host), second);
    host.act(Command::Instantiate).unwrap();
    host.run().unwrap();

    host.put().unwrap();
    assert!(approve(&host, &[&second]).is_err());
    approve(&host, &[&tag(&host)]).unwrap();
    host.act(Command::Update).unwrap();
}

#[test]
fn a_profile_and_a_new_group_have_other_tags() {
    let host = Host::new();
    let put = |profile| {
        host.groups.put(&name(), profile, draft(), NOW).unwrap();
        tag(&host)
    };
    let plain = put(None);
    assert_ne!(put(Some("small")), plain);
    host.groups.delete(&name()).unwrap();
    assert_ne!(put(None), plain);
}
