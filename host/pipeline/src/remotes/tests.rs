use super::*;
use kindsight_model::DigName;
use kindsight_status::ClusterOwner;

const EDGE: &str = "p+edge";
const FAR: &str = "p+far";

fn cluster(name: &str) -> ClusterName {
    name.parse().unwrap()
}

fn key() -> ApplicationKey {
    ApplicationKey::Found(DigName::found("shop", None).unwrap())
}

/// A view with one app in each of these clusters. The fault of each placement names its host.
fn view(host: &str, clusters: &[&str]) -> ContextView {
    let placements = clusters.iter().map(|name| {
        let report = Report::Received { stale: None };
        let faults = vec![host.into()];
        Arc::new(ClusterView::replicated(
            cluster(name),
            report,
            Vec::new(),
            faults,
        ))
    });
    ContextView {
        apps: vec![AppView::new("app".into(), placements.collect())],
        ..ContextView::default()
    }
}

fn connection(fence: u64) -> ConnectionView {
    ConnectionView {
        state: ConnectionState::Connected,
        since_ms: 50,
        reason: None,
        faults: Arc::default(),
        heard_ms: None,
        facts: None,
        coverage: None,
        owner: ClusterOwner {
            host: None,
            fence,
            is_remote: false,
        },
    }
}

fn set_host(remotes: &mut Remotes, name: &str, clusters: &[&str], fence: u64) {
    let host = remotes.host(&name.into());
    host.views.insert(key(), Arc::new(view(name, clusters)));
    for name in clusters {
        host.connections.insert(cluster(name), connection(fence));
    }
}

fn join(remotes: &Remotes, own: Option<ContextView>) -> Option<ContextView> {
    remotes.joined(&key(), own, None)
}

/// Each placement as cluster, host and reason of its staleness.
fn placements(view: Option<ContextView>) -> Vec<(String, String, Option<String>)> {
    let apps = view.into_iter().flat_map(|view| view.apps);
    let placements = apps.flat_map(|app| app.clusters().to_vec());
    let shown = placements.map(|view| {
        let stale = view.report().stale().map(|stale| stale.reason.to_string());
        let host = view.faults()[0].to_string();
        (view.cluster().to_string(), host, stale)
    });
    shown.collect()
}

fn current(cluster: &str, host: &str) -> (String, String, Option<String>) {
    (cluster.to_owned(), host.to_owned(), None)
}

#[test]
fn a_host_without_upstream_hosts_shows_its_own_views() {
    let remotes = Remotes::default();
    let own = placements(join(&remotes, Some(view("own", &[EDGE]))));
    assert_eq!(own, [current(EDGE, "own")]);
    assert!(join(&remotes, None).is_none());
}

#[test]
fn the_placements_of_several_hosts_form_one_application() {
    let mut remotes = Remotes::default();
    remotes.set_own(&cluster(FAR), Some(connection(7)));
    set_host(&mut remotes, "other", &[EDGE], 5);
    let joined = join(&remotes, Some(view("own", &[FAR])));
    assert_eq!(
        placements(joined),
        [current(EDGE, "other"), current(FAR, "own")]
    );
    assert!(remotes.remove_host("other").is_some());
    let joined = join(&remotes, Some(view("own", &[FAR])));
    assert_eq!(placements(joined), [current(FAR, "own")]);
}

#[test]
fn apps_without_a_change_remain_the_same_values() {
    let mut remotes = Remotes::default();
    remotes.set_own(&cluster(FAR), Some(connection(7)));
    let (first, second) = (view("first", &[FAR]), view("second", &[FAR]));
    let app = |view: &ContextView, name: &str| {
        let clusters = view.apps[0].clusters().to_vec();
        AppView::new(name.into(), clusters)
    };
    let own = |changed: &ContextView| ContextView {
        apps: vec![app(&first, "a"), app(changed, "b")],
        ..ContextView::default()
    };
    set_host(&mut remotes, "other", &[EDGE], 5);
    let shown = remotes.joined(&key(), Some(own(&first)), None).unwrap();
    let next = remotes.joined(&key(), Some(own(&second)), Some(&shown));
    let next = next.unwrap();
    let is_same = |at: usize| Arc::ptr_eq(&shown.apps[at], &next.apps[at]);
    // By name: the apps of this host are before and after the app of the other host.
    assert!(is_same(0) && is_same(1) && !is_same(2));
}

#[test]
fn the_later_lease_wins_in_any_order() {
    for (first, second, winner) in [(5, 6, "second"), (6, 5, "first")] {
        let mut remotes = Remotes::default();
        set_host(&mut remotes, "first", &[EDGE], first);
        set_host(&mut remotes, "second", &[EDGE], second);
        // A recorded placement in a cluster that this host does not watch.
        let joined = join(&remotes, Some(view("own", &[EDGE])));
        assert_eq!(placements(joined), [current(EDGE, winner)]);
        let shown = remotes.connection(&cluster(EDGE)).unwrap();
        assert_eq!(shown.owner.fence, 6);
        for (own, winner) in [(5, winner), (6, "own"), (7, "own")] {
            remotes.set_own(&cluster(EDGE), Some(connection(own)));
            let joined = join(&remotes, Some(view("own", &[EDGE])));
            assert_eq!(placements(joined), [current(EDGE, winner)], "{own}");
        }
    }
}

#[test]
fn a_host_that_is_not_heard_makes_only_its_own_placements_stale() {
    let mut remotes = Remotes::default();
    remotes.set_own(&cluster(FAR), Some(connection(0)));
    set_host(&mut remotes, "other", &[EDGE], 0);
    remotes.host(&"other".into()).away = Some(Staleness {
        since_ms: 90,
        reason: "not heard".into(),
    });
    let joined = join(&remotes, Some(view("own", &[FAR])));
    let stale = (
        EDGE.to_owned(),
        "other".to_owned(),
        Some("not heard".to_owned()),
    );
    assert_eq!(placements(joined), [stale, current(FAR, "own")]);
    let edge = remotes.connection(&cluster(EDGE)).unwrap();
    assert_eq!((edge.state, edge.since_ms), (ConnectionState::Stale, 90));
    let far = remotes.connection(&cluster(FAR)).unwrap();
    assert_eq!(far.state, ConnectionState::Connected);
}

#[test]
fn the_data_of_an_earlier_owner_is_stale_until_the_next_one_has_listed_the_cluster() {
    let mut remotes = Remotes::default();
    set_host(&mut remotes, "earlier", &[EDGE, FAR], 5);
    let listing = ConnectionView {
        state: ConnectionState::Stale,
        ..connection(6)
    };
    remotes.set_own(&cluster(EDGE), Some(listing));
    let stale = (
        EDGE.to_owned(),
        "earlier".to_owned(),
        Some(TAKEN_OVER.to_owned()),
    );
    let far = current(FAR, "earlier");
    let joined = join(&remotes, None);
    assert_eq!(placements(joined), [stale.clone(), far.clone()]);
    // A recorded placement without a report does not hide the last known state.
    let mut unreported = view("own", &[EDGE]);
    let placement = &unreported.apps[0].clusters()[0];
    let placement = placement.with_report(Report::NotYet, vec!["own".into()]);
    unreported.apps[0] = AppView::new("app".into(), vec![Arc::new(placement)]);
    let joined = join(&remotes, Some(unreported));
    assert_eq!(placements(joined), [stale, far.clone()]);
    assert!(!remotes.is_superseded(&cluster(EDGE)));
    remotes.set_own(&cluster(EDGE), Some(connection(6)));
    assert_eq!(placements(join(&remotes, None)), [far]);
    // The earlier owner, with the later one as a remote host.
    remotes.set_own(&cluster(EDGE), Some(connection(4)));
    assert!(remotes.is_superseded(&cluster(EDGE)));
    assert_eq!(remotes.keys_in(&cluster(EDGE)).len(), 1);
}
