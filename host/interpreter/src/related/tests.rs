//! Tests of the coverage of related objects.

use kindsight_contract::KindPattern;
use kindsight_model::decode_status;
use serde_json::json;

use super::*;

fn coverage(siblings: &Siblings, kind: &str, relation: Relation) -> RelationCoverage {
    let rule = RelatedRule {
        pattern: KindPattern {
            group: if kind == "ReplicaSet" { "apps" } else { "" }.to_owned(),
            version: "*".to_owned(),
            kind: kind.to_owned(),
        },
        relation,
        fields: Vec::new(),
        limit: 9,
    };
    let object = Object::from_json(r#"{"kind": "Job", "metadata": {"name": "j", "uid": "u"}}"#);
    let object = object.expect("an object");
    let tree = object.tree();
    let document = tree.document(&object.json);
    siblings.find(&rule, &object, document.root()).coverage
}

#[test]
fn an_empty_set_means_something_where_the_reporter_covers_the_kind() {
    let pod = json!({"metadata": {"name": "p", "ownerReferences": [{"uid": "u"}]}});
    let status = json!({"podStatuses": [pod]}).to_string();
    let deployment = "1-app".parse().expect("a deployment");
    let bundle = decode_status(deployment, status.as_bytes()).expect("a bundle");
    let report = bundle.report;
    let objects = report.objects;
    let reported = Siblings::of(objects.clone()).covered(report.related_coverage);
    for (kind, relation, expected) in [
        ("Pod", Relation::Owned, RelationCoverage::Complete),
        ("Pod", Relation::Descendant, RelationCoverage::Partial),
        ("ReplicaSet", Relation::Owned, RelationCoverage::Unknown),
        ("*", Relation::Owned, RelationCoverage::Partial),
    ] {
        assert_eq!(coverage(&reported, kind, relation), expected, "{kind}");
    }
    let sent = Siblings::of(objects.clone()).covered(Coverage::partial());
    assert_eq!(
        coverage(&sent, "Pod", Relation::Owned),
        RelationCoverage::Partial
    );
    let alone = Siblings::none();
    assert_eq!(
        coverage(&alone, "Pod", Relation::Owned),
        RelationCoverage::Unknown
    );
    let fixture = Siblings::of(objects).given(RelationCoverage::Complete);
    assert_eq!(
        coverage(&fixture, "ReplicaSet", Relation::Owned),
        RelationCoverage::Complete
    );
}
