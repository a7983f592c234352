use std::sync::Arc;

use expect_test::{Expect, expect};
use kindsight_clusters::{
    ConfiguredApp, ConfiguredApplication, PushedNeeds, RecordedDeployment, RelatedKinds,
};
use kindsight_model::{
    Coverage, DigName, Gvk, Identity, KindCoverage, KindPattern, KindState, MissingResource,
    Object, ObjectError, OtherClaim, Rejected, RejectedIdentity, Relation, Removal, Scope, Subject,
    parse_selector,
};

use super::*;

/// Compares the text of a line with a snapshot, reads the text, and writes it again.
fn check(line: &Line<'_>, expected: &Expect) {
    let text = serde_json::to_string(line).unwrap();
    expected.assert_eq(&text);
    let read = Line::read(&text).unwrap().expect("a known line");
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
}

#[test]
#[expect(clippy::too_many_lines, reason = "one snapshot for each line")]
fn the_format_of_items_does_not_change() {
    let json = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}"#;
    let object = Object::from_json(json).unwrap();
    expect![[
        r#"{"object":{"json":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}}}"#
    ]]
    .assert_eq(&object_line(&object));
    let gvk = Gvk::new("apps", "v1", "Deployment");
    let mut item = Object::from_json_as("{\n \"metadata\": {}\r\n}", &gvk).unwrap();
    item.has_old_spec = true;
    expect![[
        r#"{"object":{"json":{ "metadata": {}},"gvk":{"group":"apps","version":"v1","kind":"Deployment"},"old-spec":true}}"#
    ]]
    .assert_eq(&object_line(&item));
    let rejected = Rejected {
        pointer: "Deployment/web/a".to_owned(),
        error: ObjectError::TooLarge(9),
        identity: Some(RejectedIdentity {
            gvk: gvk.clone(),
            namespace: "web".into(),
            name: "a".into(),
        }),
    };
    let line = RejectedLine::from(&rejected);
    assert_eq!(Rejected::from(line.clone()), rejected);
    check(
        &Line::Rejected(line),
        &expect![[
            r#"{"rejected":{"pointer":"Deployment/web/a","error":"too-large","number":9,"gvk":{"group":"apps","version":"v1","kind":"Deployment"},"namespace":"web","name":"a"}}"#
        ]],
    );
    let claims = kindsight_model::Claims {
        evidence: "label a".into(),
        others: vec![OtherClaim {
            application: "-/shop/-/web".into(),
            evidence: "label b".into(),
        }],
    };
    check(
        &Line::Claims(ClaimsLine::new(3, &claims)),
        &expect![[
            r#"{"claims":{"position":3,"evidence":"label a","others":[{"application":"-/shop/-/web","evidence":"label b"}]}}"#
        ]],
    );
    let identity = Identity {
        group: "".into(),
        kind: "Pod".into(),
        namespace: "web".into(),
        name: "a".into(),
    };
    for removal in [
        Removal::Deleted,
        Removal::LeftApplication,
        Removal::OutOfScope,
        Removal::KindRemoved,
    ] {
        let line = RemovedLine::new(&identity, removal);
        assert_eq!(line.removal(), Some((identity.clone(), removal)));
    }
    check(
        &Line::Removed(RemovedLine::new(&identity, Removal::LeftApplication)),
        &expect![[
            r#"{"removed":{"group":"","kind":"Pod","namespace":"web","name":"a","reason":"left-application"}}"#
        ]],
    );
    let missing = MissingResource {
        gvk,
        namespace: "web".into(),
        name: "a".into(),
        inventory: "Application argocd/shop".into(),
    };
    check(
        &Line::Missing(MissingLine::from(&missing)),
        &expect![[
            r#"{"missing":{"gvk":{"group":"apps","version":"v1","kind":"Deployment"},"namespace":"web","name":"a","inventory":"Application argocd/shop"}}"#
        ]],
    );
    check(&Line::Text("{}".into()), &expect![[r#"{"text":"{}"}"#]]);
}

#[test]
fn the_format_of_reports_does_not_change() {
    let subject = Subject::Application {
        application: DigName::found("shop", Some("web")).unwrap(),
        app: "front".into(),
    };
    let line = ReportLine {
        subject: (&subject).into(),
        origin: WireOrigin::Found,
        fresh: true,
        objects: Some(vec![Part::Kept(0, 5), Part::New(2), Part::Kept(6, 1)]),
        related: None,
        hooks: Some(vec![1]),
        claims: Some(1),
        rejected: Some(0),
        removed: Some(2),
        coverage: Some(0),
        related_coverage: Some(1),
        faults: Some(vec!["a fault".into()]),
        status_texts: None,
    };
    check(
        &Line::Report(Box::new(line)),
        &expect![[
            r#"{"report":{"subject":{"application":"-/shop/-/web","app":"front"},"origin":"found","fresh":true,"objects":[[0,5],2,[6,1]],"hooks":[1],"claims":1,"rejected":0,"removed":2,"coverage":0,"related-coverage":1,"faults":["a fault"]}}"#
        ]],
    );
    let subject = WireSubject::Deployment {
        deployment: "7-front".to_owned(),
    };
    assert!(matches!(subject.subject(), Ok(Subject::Deployment(_))));
    check(
        &Line::MissingOf(MissingOfLine {
            application: "-/shop/-/web".to_owned(),
            count: 1,
        }),
        &expect![[r#"{"missing-of":{"application":"-/shop/-/web","count":1}}"#]],
    );
    check(&Line::Commit(Nothing {}), &expect![[r#"{"commit":{}}"#]]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "one snapshot for each line")]
fn the_format_of_signals_does_not_change() {
    let mut coverage = Coverage::nothing();
    let complete = KindCoverage::new(KindState::Complete);
    coverage.set("apps", "Deployment", Scope::Cluster, complete.clone());
    coverage.set("", "Pod", Scope::Namespace("web"), complete);
    let silent = KindCoverage::caused(KindState::Unavailable, "no answer");
    coverage.set_group("metrics.k8s.io", silent);
    coverage.leave_out("too many objects");
    let line = CoverageSlot::new(4, &coverage);
    assert_eq!(Coverage::from(line.clone()), coverage);
    check(
        &Line::CoverageSlot(line),
        &expect![[
            r#"{"coverage-slot":{"slot":4,"others":"not-requested","rows":[{"group":"apps","kind":"Deployment","state":"complete"},{"group":"","kind":"Pod","namespace":"web","state":"complete"},{"group":"metrics.k8s.io","state":"unavailable","cause":"no answer"}],"left-out":"too many objects"}}"#
        ]],
    );
    check(
        &Line::Coverage(CoverageLine {
            slot: 4,
            worse_only: true,
        }),
        &expect![[r#"{"coverage":{"slot":4,"worse-only":true}}"#]],
    );
    check(
        &Line::Unreadable(UnreadableLine {
            deployment: Some("7-front".to_owned()),
            may_be_newer: true,
            origin: "web/front".to_owned(),
            error: "no status".to_owned(),
        }),
        &expect![[
            r#"{"unreadable":{"deployment":"7-front","may-be-newer":true,"origin":"web/front","error":"no status"}}"#
        ]],
    );
    check(
        &Line::Facts(Box::new(FactsLine {
            origin: "in-cluster".into(),
            identity: Some("a-uid".into()),
            mode: "auto".to_owned(),
            ..FactsLine::default()
        })),
        &expect![[
            r#"{"facts":{"origin":"in-cluster","identity":"a-uid","mode":"auto","objects":0,"watches":0,"sessions":0,"watch-failures":0}}"#
        ]],
    );
    for (line, expected) in [
        (
            Line::Gone(GoneLine {
                deployment: "7-front".to_owned(),
            }),
            expect![[r#"{"gone":{"deployment":"7-front"}}"#]],
        ),
        (
            Line::Faults(vec!["a".to_owned()]),
            expect![[r#"{"faults":["a"]}"#]],
        ),
        (Line::Heard(Nothing {}), expect![[r#"{"heard":{}}"#]]),
        (Line::Synced(Nothing {}), expect![[r#"{"synced":{}}"#]]),
        (
            Line::Stale(StaleLine {
                reason: "away".to_owned(),
            }),
            expect![[r#"{"stale":{"reason":"away"}}"#]],
        ),
        (Line::Complete(Nothing {}), expect![[r#"{"complete":{}}"#]]),
        (Line::Forget(Nothing {}), expect![[r#"{"forget":{}}"#]]),
        (
            Line::Confirmed(ConfirmedLine { id: 1, error: None }),
            expect![[r#"{"confirmed":{"id":1}}"#]],
        ),
    ] {
        check(&line, &expected);
    }
}

#[test]
fn lines_and_members_of_another_release_are_ignored() {
    let line = |text| Line::read(text).unwrap();
    assert!(line(r#"{"forecast":{"tomorrow":[1]}}"#).is_none());
    assert!(matches!(
        line(r#"{"stale":{"reason":"away","level":3},"trace":"x"}"#),
        Some(Line::Stale(_))
    ));
    // A report of an older release lacks members.
    let short = r#"{"report":{"subject":{"deployment":"7-front","zone":1},"origin":"direct"}}"#;
    assert!(matches!(line(short), Some(Line::Report(_))));
    // The meaning of a state of another release is not known, so the state proves nothing.
    let slot = r#"{"coverage-slot":{"slot":0,"rows":[{"kind":"Pod","state":"sampled"}]}}"#;
    let Some(Line::CoverageSlot(slot)) = line(slot) else {
        panic!("a coverage");
    };
    let coverage = Coverage::from(slot);
    let pod = coverage.of(Some(""), "Pod", Scope::Cluster);
    assert_eq!(pod.state, KindState::Unavailable);
    for wrong in ["", "7", "{}", r#"{"stale":{}}"#, "{\"heard\":{}", "[]"] {
        assert!(Line::read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn needs_reach_the_agent_unchanged_and_unknown_ones_are_left_out() {
    let pattern = |kind: &str| KindPattern {
        group: "apps".to_owned(),
        version: "*".to_owned(),
        kind: kind.to_owned(),
    };
    let relations = [
        Relation::Owned,
        Relation::Descendant,
        Relation::Owner,
        Relation::SelectedBy("/spec/selector".to_owned()),
        Relation::Labelled("app".to_owned()),
        Relation::Named("/spec/name".to_owned()),
    ];
    let related = relations.into_iter().map(|relation| RelatedKinds {
        judged: pattern("Deployment"),
        when: Some("/spec".to_owned()),
        related: pattern("ReplicaSet"),
        relation,
        is_identity_enough: true,
    });
    let recorded = RecordedDeployment {
        namespace: "web".into(),
        number: u64::MAX,
    };
    let needs = PushedNeeds {
        revision: 7,
        related: Arc::new(related.collect()),
        recorded: Arc::new([("7-front".parse().unwrap(), recorded)].into()),
        applications: [ConfiguredApplication {
            name: "shop/web/v1/prod".parse().unwrap(),
            clusters: Vec::new(),
            namespaces: vec!["web-*".parse().unwrap()],
            apps: vec![ConfiguredApp {
                name: "front".into(),
                selector: parse_selector("app in (a, b),!old").unwrap(),
            }],
        }]
        .into(),
        confirmations: [(
            3,
            [(
                (Some("apps".into()), "Deployment".into()),
                ["".into()].into(),
            )]
            .into(),
        )]
        .into(),
    };
    let wire = needs_to_wire(&needs);
    let text = serde_json::to_string(&wire).unwrap();
    let mut read = serde_json::from_str::<kindsight_api::push::AgentNeeds>(&text).unwrap();
    assert_eq!(needs_from_wire(read.clone()), needs);
    let mut unknown = read.related[0].clone();
    unknown.relation = "neighbour".to_owned();
    read.related.push(unknown);
    assert_eq!(needs_from_wire(read), needs);
    let newer = r#"{"revision":8,"weather":"fine"}"#;
    let newer: kindsight_api::push::AgentNeeds = serde_json::from_str(newer).unwrap();
    assert_eq!(newer.revision, 8);
}
