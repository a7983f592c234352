//! The health of scopes.

use kindsight_api::health_scopes::{ScopeParameters, ScopeRefusal};
use kindsight_model::SubjectSet;

use super::*;
use crate::ReadHealthScopes;

/// Two scopes `shop` in two namespaces.
pub(super) struct SampleScopes;

impl ReadHealthScopes for SampleScopes {
    fn health(
        &self,
        name: &str,
        parameters: &ScopeParameters,
        visible: &SubjectSet,
    ) -> Result<&'static str, ScopeRefusal> {
        assert!(visible.is_everything());
        match (name, parameters.namespace.as_deref()) {
            ("shop", Some("web")) => Ok("healthy"),
            ("shop", None) => Err(ScopeRefusal::Several {
                namespaces: vec!["dev".to_owned(), "web".to_owned()],
                clusters: vec!["p+edge01".to_owned()],
            }),
            _ => Err(ScopeRefusal::NotFound("there is no such scope".to_owned())),
        }
    }
}

#[tokio::test]
async fn the_health_of_a_scope_is_one_word_and_an_ambiguous_name_lists_the_choices() {
    let answer = get("/scopes/shop?namespace=web").await;
    assert_eq!((answer.status, &*answer.text), (StatusCode::OK, "healthy"));
    assert!(
        answer
            .header(header::CONTENT_TYPE)
            .starts_with("text/plain")
    );
    let answer = get("/scopes/shop").await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    let problems = answer.json()["problems"].clone();
    assert_eq!(problems.as_array().unwrap().len(), 1, "{problems:#}");
    assert_eq!(problems[0]["parameter"], "namespace");
    assert_eq!(problems[0]["expected"], "one of `dev`, `web`");
    let answer = get("/scopes/other?namespace=web").await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    let answer = get("/scopes/shop?space=web").await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
}
