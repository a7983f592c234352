//! Argo CD's own tree of scripts with its cases, from Go's module cache.

use std::path::PathBuf;

use kindsight_conversion::argo;
use serde_json::Value;

use crate::argo_cases::collect;
use crate::{judged, published};

/// The scripts of the Argo CD that the benchmarks compare with. `None` if Go is not installed.
fn tree() -> Option<PathBuf> {
    let scripts = kindsight_tests::argo_scripts();
    if scripts.is_none() {
        assert!(
            std::env::var_os("CI").is_none(),
            "the test needs Go and its module proxy"
        );
        println!("NOT RUN: the cases of Argo CD need Go and its module proxy");
    }
    scripts
}

#[test]
fn every_case_of_argo_cd_gets_the_health_that_upstream_expects() {
    let Some(tree) = tree() else {
        return;
    };
    let conversion = argo::from_path(argo::NAME, &tree).expect("an interpreter");
    let mut cases = Vec::new();
    collect(&tree, &mut cases);
    // The list of SQLUser has 5 more cases, without a script: upstream does not run them either.
    assert_eq!(cases.len(), 896, "of the pinned version");
    assert_eq!(conversion.refused.len(), 1, "{:?}", conversion.refused);
    assert_eq!(conversion.fixtures, cases.len());
    let interpreters = published(&conversion.component);
    let objects: Vec<Value> = cases.iter().map(|case| case.object.clone()).collect();
    let verdicts = judged(&interpreters, &objects);
    let mut wrong = Vec::new();
    let mut deleted = 0;
    for (case, verdict) in cases.iter().zip(&verdicts) {
        if case.object.pointer("/metadata/deletionTimestamp").is_some() {
            deleted += 1;
            assert_eq!(&*verdict.state, "Terminating", "{}", case.path);
            continue;
        }
        // The host replaces control characters in messages, such as the ends of lines.
        let expected = case.health["message"].as_str().unwrap_or_default();
        let message = expected.replace(|letter: char| letter.is_control(), " ");
        let status = case.status();
        let is_right = &*verdict.reason == status && *verdict.message == *message;
        if !is_right {
            wrong.push(format!(
                "{}: {} `{}` and not {status} `{expected}`",
                case.path, verdict.reason, verdict.message
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        deleted < 20,
        "{deleted} cases are decided before their script"
    );
}
