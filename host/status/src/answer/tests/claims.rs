//! Claims of several applications on one object.

use std::sync::Arc;

use kindsight_api::status::QueryType;
use kindsight_model::{Claims, ClaimsByPosition, OtherClaim, Phase, SubjectPattern, SubjectSet};
use serde_json::{Value, json};

use super::pointer;
use crate::answer::resources::Resources;
use crate::samples::{input, object, observed, projected, query, report, verdict};

/// Claims on the object at this position.
pub(super) fn claims_on(position: usize) -> ClaimsByPosition {
    let claims = Claims {
        evidence: "label a".into(),
        others: vec![OtherClaim {
            application: "-/chart/-/web".into(),
            evidence: "label b".into(),
        }],
    };
    Arc::new([(position, Arc::new(claims))].into())
}

#[test]
fn an_explanation_has_the_competing_claims() {
    let mut edge = input("edge01", Vec::new());
    let objects = ["front", "side"].map(|name| {
        observed(
            object("v1", "Service", "web", name),
            verdict(Phase::Ready, "ClusterIP", ""),
        )
    });
    report(&mut edge, objects.into());
    if let Some(reported) = &mut edge.reported {
        reported.claims = claims_on(1);
    }
    let view = projected(edge);
    let seen_by = |claimants: &SubjectSet, pairs: &[(&str, &str)]| {
        let query = query(pairs);
        let mut resources = Resources::all(&view, &query, QueryType::Cluster);
        resources.name_claims_of(claimants);
        let answer = serde_json::to_value(&resources).unwrap();
        ["/0/claims", "/1/claims"].map(|path| pointer(&answer, path).clone())
    };
    let of = |pairs: &[(&str, &str)]| seen_by(&SubjectSet::Everything, pairs);
    let expected = json!({
        "evidence": "label a",
        "others": [{"application": "-/chart/-/web", "evidence": "label b"}],
    });
    let explained = of(&[("type", "cluster"), ("explain", "true")]);
    assert_eq!(explained, [Value::Null, expected]);
    assert!(of(&[("type", "cluster")]).iter().all(Value::is_null));
    // The reader may not see the application that makes the other claim.
    let pattern = SubjectPattern::Application("web/shop".parse().unwrap());
    let shop = SubjectSet::matching(vec![pattern]);
    let explained = seen_by(&shop, &[("type", "cluster"), ("explain", "true")]);
    assert!(explained.iter().all(Value::is_null));
}
