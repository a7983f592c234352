use kindsight_cluster::Inventory;
use kindsight_model::{KindCoverage, KindState, Phase, Scope};

use super::*;
use crate::tests::{cluster, name, settings};

/// The vserver of a Pod.
fn held(content: Option<Content>) -> Plan {
    let key = ItemKey::Vserver {
        owner: "CloudOwner".into(),
        region: "RegionOne".into(),
        tenant: "tenant-1".into(),
        id: "uid-a".into(),
    };
    let cluster = Some(cluster());
    [(key, Planned { cluster, content })].into()
}

fn content() -> Content {
    Content::Vserver(Vserver {
        name: "a".into(),
        name2: "shop".into(),
        self_link: "kindsight:lab+a/default/Pod/a".into(),
        state: onap_state(Phase::Ready),
        address: None,
        vnf: "vnf-1".into(),
        vf_module: "module-1".into(),
    })
}

/// A connection whose cluster answered for Pods in this way in this namespace.
fn heard(state: KindState, namespace: &str) -> Heard {
    let mut coverage = Coverage::nothing();
    let scope = Scope::Namespace(namespace);
    coverage.set("", "Pod", scope, KindCoverage::new(state));
    [(cluster(), coverage)].into()
}

#[test]
fn the_vservers_of_an_application_that_is_gone_remain_while_its_cluster_may_have_their_objects() {
    let settings = settings(&Inventory::start());
    let remains = |content: Option<Content>, heard: &Heard| {
        let (plan, is_unheard) = plan(&name(), None, &held(content), &settings, heard);
        (!plan.is_empty(), is_unheard)
    };
    for (heard, known, unknown) in [
        (Heard::new(), (true, true), (true, true)),
        (
            heard(KindState::Complete, "default"),
            (false, false),
            (false, false),
        ),
        (
            heard(KindState::Forbidden, "default"),
            (true, false),
            (true, false),
        ),
        (
            heard(KindState::Forbidden, "other"),
            (false, false),
            (true, false),
        ),
        (
            heard(KindState::NotRequested, "default"),
            (false, false),
            (false, false),
        ),
    ] {
        assert_eq!(remains(Some(content()), &heard), known, "{heard:?}");
        assert_eq!(remains(None, &heard), unknown, "{heard:?}");
    }
}
