use super::*;

fn new(name: &str, language: Language) -> NewProject {
    NewProject {
        name: name.to_owned(),
        language,
        kind: "example.com/v1/Widget".parse().unwrap(),
    }
}

#[test]
fn a_project_of_each_language_has_a_rule_fixtures_and_no_placeholder() {
    for language in Language::ALL {
        let parent = tempfile::tempdir().unwrap();
        let folder = new("widgets", language).write(parent.path()).unwrap();
        let project = Project::open(&folder).unwrap();
        assert_eq!(
            (project.name.as_str(), project.language),
            ("widgets", language)
        );
        for file in [
            language.rule(),
            "README.md",
            "fixtures/widgets.yaml",
            ".gitignore",
        ] {
            let text = fs::read_to_string(folder.join(file)).unwrap();
            assert!(!text.contains("{{"), "{language} {file}: {text}");
        }
        let has_sdk = parent.path().join(SDK_FOLDER).exists();
        assert_eq!(has_sdk, language == Language::Rust);
    }
}

#[test]
fn nothing_is_overwritten() {
    let parent = tempfile::tempdir().unwrap();
    new("widgets", Language::Go).write(parent.path()).unwrap();
    let again = new("widgets", Language::C)
        .write(parent.path())
        .unwrap_err();
    assert!(again.to_string().contains("exists already"), "{again}");
}

#[test]
fn names_and_kinds_are_checked() {
    let parent = tempfile::tempdir().unwrap();
    for name in ["", "Widgets", "../widgets", "1st", "a.b", "a-"] {
        let error = new(name, Language::Go).write(parent.path()).unwrap_err();
        assert!(matches!(error, ProjectError::Name(_)), "{name}: {error}");
    }
    for kind in [
        "Widget",
        "/v1/Widget",
        "a/b/c/d",
        "Example.com/v1/Widget",
        "v1/Wid\"get",
    ] {
        assert!(kind.parse::<KindName>().is_err(), "{kind}");
    }
    let pod: KindName = "v1/Pod".parse().unwrap();
    assert_eq!(pod.api_version(), "v1");
}
