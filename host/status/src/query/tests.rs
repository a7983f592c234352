use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::problem::VALUE_SHOWN_CHARS_MAX;

fn parse(pairs: &[(&str, &str)]) -> Result<StatusQuery, Vec<PartialProblem>> {
    StatusQuery::parse(pairs.iter().copied())
}

fn check(pairs: &[(&str, &str)], problems: &Expect) {
    let lines: Vec<_> = parse(pairs)
        .unwrap_err()
        .into_iter()
        .map(|problem| {
            let PartialProblem {
                parameter,
                detail,
                expected,
            } = problem;
            format!("{parameter}: {detail}: {expected}\n")
        })
        .collect();
    problems.assert_eq(&lines.concat());
}

#[test]
fn a_query_without_parameters_is_about_everything_in_the_latest_instance() {
    let query = parse(&[]).unwrap();
    assert_eq!(query, StatusQuery::default());
    assert_eq!((query.kind, query.output), (None, Output::All));
}

#[test]
fn every_parameter_is_read() {
    let query = parse(&[
        ("instance", "2621114006130701074"),
        ("type", "cluster"),
        ("output", "detail"),
        ("app", "sink"),
        ("app", "firewall"),
        ("app", "sink"),
        ("cluster", "vfw-cluster-provider+edge02"),
        ("resource", "sink-configmap"),
        ("resource", "system:controller:sink"),
        ("explain", "true"),
    ])
    .unwrap();
    let expected = StatusQuery {
        listing: None,
        instance: Instance::Of("2621114006130701074".parse().unwrap()),
        kind: Some(QueryType::Cluster),
        output: Output::Detail,
        apps: ["firewall", "sink"].map(str::to_owned).into(),
        clusters: [ClusterName::new("vfw-cluster-provider", "edge02").unwrap()].into(),
        resources: ["sink-configmap", "system:controller:sink"]
            .map(str::to_owned)
            .into(),
        explain: true,
    };
    assert_eq!(query, expected);
}

#[test]
fn an_instance_without_a_value_requests_the_list_of_instances() {
    assert_eq!(parse(&[("instance", "")]).unwrap().instance, Instance::List);
}

#[test]
fn older_words_for_output_still_work() {
    for (older, output) in [
        ("small", Output::Summary),
        ("full", Output::Detail),
        ("rsync", Output::Detail),
    ] {
        let query = parse(&[("output", older)]).unwrap();
        assert_eq!(
            (query.output, query.kind.unwrap_or_default()),
            (output, QueryType::Rsync)
        );
    }
    check(
        &[("output", "rsync"), ("type", "cluster")],
        &expect![[r"
            output: `rsync` is the older way to say `type=rsync`, but `type` is `cluster`: `summary`, `all` or `detail` with `type=cluster`
        "]],
    );
    check(
        &[("output", "rsync"), ("type", "all")],
        &expect![[r"
            output: `rsync` is the older way to say `type=rsync`, but `type` is `all`: `summary`, `all` or `detail` with `type=all`
        "]],
    );
}

#[test]
fn all_problems_are_reported_at_once() {
    check(
        &[
            ("instance", "twelve"),
            ("type", "Cluster"),
            ("type", "rsync"),
            ("type", "cluster"),
            ("output", ""),
            ("app", "a sink"),
            ("cluster", "edge01"),
            ("resource", "Deployment/fw0-sink"),
            ("explain", "yes"),
            ("status", "ready"),
        ],
        &expect![[r#"
            instance: `twelve` is not an AppContext id: a decimal number below 2^63, or no value to list the instances
            type: `Cluster` is not known: one of `rsync`, `cluster`, `all`
            type: it is given more than once: one value
            output: `` is not known: one of `summary`, `all`, `detail`
            app: `a sink` is not a valid name: 1 to 128 letters, digits, `-`, `_` or `.`, not `-` alone or only dots
            cluster: `edge01` is not a cluster: `provider+name`, which in a URL is written `provider%2Bname`
            resource: `Deployment/fw0-sink` is not the name of a resource: 1 to 253 characters without spaces, `/` or `%`; the name only, not its Kind
            explain: `yes` is not known: one of `true`, `false`
            status: unknown parameter: one of `instance`, `type`, `output`, `app`, `cluster`, `resource`, `apps`, `clusters`, `resources`, `explain`
        "#]],
    );
}

#[test]
fn a_plus_that_was_not_encoded_is_explained() {
    check(
        &[("cluster", "provider edge01")],
        &expect![[r"
        cluster: `provider edge01` is not a cluster: `provider+name`; in a URL a `+` means a space, write `provider%2Bname`
    "]],
    );
}

#[test]
fn a_long_value_is_not_repeated_in_full() {
    let long = "ü".repeat(5000);
    let problems = parse(&[("app", &long), (&long, "x")]).unwrap_err();
    for problem in problems {
        assert!(problem.detail.chars().count() < 2 * VALUE_SHOWN_CHARS_MAX);
        assert!(problem.parameter.chars().count() <= VALUE_SHOWN_CHARS_MAX + 1);
    }
}

#[test]
fn a_resource_name_may_be_as_long_as_kubernetes_allows() {
    let longest = "x".repeat(RESOURCE_NAME_BYTES_MAX);
    assert!(parse(&[("resource", &longest)]).is_ok());
    assert!(parse(&[("resource", &format!("{longest}x"))]).is_err());
    for bad in ["", ".", "..", "a b", "a/b", "a%2Fb", "ä"] {
        assert!(parse(&[("resource", bad)]).is_err(), "{bad}");
    }
}

#[test]
fn every_invalid_part_of_a_path_is_named() {
    let problems = dig_name("pro ject", "app", "", "dig").unwrap_err();
    let parts: Vec<_> = problems.iter().map(|problem| &*problem.parameter).collect();
    assert_eq!(parts, ["project", "version"]);
    assert!(dig_name("p", "a", "v1.0", "d_g").is_ok());
    assert_eq!(
        cluster_name("p", "a+b").unwrap_err()[0].parameter,
        "cluster"
    );
}

proptest! {
    #[test]
    fn parsing_any_parameters_gives_a_query_or_problems(
        pairs in proptest::collection::vec(("(app|cluster|type|output|instance|.*)", ".*"), 0..8),
    ) {
        match StatusQuery::parse(pairs) {
            Ok(_) => {}
            Err(problems) => prop_assert!(!problems.is_empty()),
        }
    }
}
