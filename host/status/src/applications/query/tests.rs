use super::*;

fn problems(pairs: &[(&str, &str)]) -> Vec<String> {
    let problems = ApplicationQuery::parse(pairs.iter().copied()).unwrap_err();
    let problems = problems.iter();
    problems
        .map(|problem| {
            let (parameter, detail) = (&problem.parameter, &problem.detail);
            format!("{parameter}: {detail}; {}", problem.expected)
        })
        .collect()
}

#[test]
fn a_short_name_matches_every_possible_application() {
    let found = DigName::found("shop", Some("web")).unwrap();
    let cluster_wide = DigName::found("shop", None).unwrap();
    let recorded = DigName::new("p", "shop", "v1", "prod").unwrap();
    let is_of = |text: &str| {
        let name = ShortName::parse(text).unwrap();
        [&found, &cluster_wide, &recorded].map(|application| name.is_of(application))
    };
    for (text, expected) in [
        ("shop", [true, true, true]),
        ("prod", [false, false, true]),
        // A namespace is not the name of an application.
        ("web", [false, false, false]),
        ("web/shop", [true, false, false]),
        ("-/shop", [false, true, false]),
        ("shop/prod", [false, false, true]),
        ("-/shop/-/web", [true, false, false]),
        ("-/shop/-/-", [false, true, false]),
        ("p/shop/v1/prod", [false, false, true]),
    ] {
        assert_eq!(is_of(text), expected, "{text}");
    }
}

#[test]
fn every_problem_is_listed() {
    assert_eq!(
        problems(&[
            ("name", "a/b/c"),
            ("name", ""),
            ("state", "well"),
            ("cluster", "edge01"),
            ("x", "1")
        ]),
        [
            format!("name: `a/b/c` is not the name of an application; {}", ShortName::EXPECTED),
            format!("name: `` is not the name of an application; {}", ShortName::EXPECTED),
            format!("state: `well` is not known; {}", one_of(Phase::ALL)),
            "cluster: `edge01` is not a cluster; `provider+name`, which in a URL is written `provider%2Bname`".to_owned(),
            "x: unknown parameter; one of `name`, `state`, `cluster`".to_owned(),
        ]
    );
    assert_eq!(
        problems(&[("name", "a"), ("name", "b")]),
        ["name: it is given more than once; one value"]
    );
    for word in ["not-present", "NotPresent"] {
        let query = ApplicationQuery::parse([("state", word)]).unwrap();
        assert_eq!(query.phases, [Phase::NotPresent].into());
    }
}
