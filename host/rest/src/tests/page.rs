use axum::http::{StatusCode, header};

use super::{Answered, get};

/// The headers that every file of the page has.
fn check_headers(answer: &Answered) {
    let policy = answer.header(header::CONTENT_SECURITY_POLICY);
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self'"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(answer.header(header::X_CONTENT_TYPE_OPTIONS), "nosniff");
    assert_eq!(answer.header(header::REFERRER_POLICY), "no-referrer");
}

#[tokio::test]
async fn the_page_is_served_with_a_strict_policy() {
    let answer = get("/").await;
    assert_eq!(
        answer.header(header::CONTENT_TYPE),
        "text/html; charset=utf-8"
    );
    check_headers(&answer);
}

#[tokio::test]
async fn every_file_that_the_page_names_is_served() {
    let mut waiting = vec![get("/").await.text];
    let mut found = Vec::new();
    while let Some(text) = waiting.pop() {
        // Names in quotes: `/page/x` in the document, `./x` in modules.
        let names = text.split(['"', '\'']).filter_map(|part| {
            part.strip_prefix("/page/")
                .or_else(|| part.strip_prefix("./"))
        });
        for name in names.map(str::to_owned).collect::<Vec<_>>() {
            if found.contains(&name) {
                continue;
            }
            let answer = get(&format!("/page/{name}")).await;
            assert_eq!(answer.status, StatusCode::OK, "{name}");
            check_headers(&answer);
            found.push(name);
            waiting.push(answer.text);
        }
    }
    assert!(found.len() > 15, "{found:?}");
}

#[tokio::test]
async fn another_file_of_the_page_is_a_problem() {
    for name in ["index.html", "..%2FCargo.toml", "none.js"] {
        get(&format!("/page/{name}"))
            .await
            .problem(StatusCode::NOT_FOUND);
    }
}
