use super::*;

fn yaml(text: &str) -> Result<Vec<Value>, String> {
    serde_saphyr::from_multiple(text).map_err(|error| error.to_string())
}

/// The cases of a folder with one object, `a.yaml`.
fn cases(tests: &str, object: &str) -> Vec<Case> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(FILE), tests).unwrap();
    fs::write(folder.path().join("a.yaml"), object).unwrap();
    let mut files = CaseFile::all_in(folder.path(), yaml).unwrap();
    files.remove(0).cases
}

/// A case that expects a status of an object.
fn case(status: &str, object: &str) -> Case {
    let tests = format!("tests: [{{healthStatus: {{status: {status}}}, inputPath: a.yaml}}]");
    cases(&tests, object).remove(0)
}

fn holds(case: &Case, phase: Phase) -> bool {
    let verdict = Verdict::host(phase, "Reason", "");
    case.difference(&Ok(verdict)).is_none()
}

#[test]
fn a_status_allows_the_phases_with_its_meaning() {
    let table: [(&str, &[Phase]); 6] = [
        ("Healthy", &[Phase::Ready, Phase::Present]),
        ("Progressing", &[Phase::Pending, Phase::Terminating]),
        ("Degraded", &[Phase::Degraded, Phase::Failed]),
        ("Suspended", &[Phase::Suspended]),
        ("Missing", &[Phase::NotPresent, Phase::Unknown]),
        ("Unknown", &[Phase::Unknown]),
    ];
    for (status, phases) in table {
        let case = case(status, "kind: Widget");
        for phase in Phase::ALL {
            assert_eq!(
                holds(&case, *phase),
                phases.contains(phase),
                "{status} {phase:?}"
            );
        }
    }
}

#[test]
fn an_object_that_is_being_deleted_may_be_terminating() {
    let deleted = case(
        "Healthy",
        "metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}",
    );
    assert!(holds(&deleted, Phase::Terminating));
    assert!(holds(&deleted, Phase::Ready));
    assert!(!holds(&deleted, Phase::Failed));
    assert!(!holds(&case("Healthy", "metadata: {}"), Phase::Terminating));
}

#[test]
fn files_are_read_as_in_go() {
    let tests = "tests:\n- healthStatus: {status: Healthy}\n  inputpath: a.yaml\n---\nother: 1\n";
    let cases = cases(tests, "kind: Widget\n---\nkind: Other\n");
    let objects: Vec<&str> = cases.iter().map(|case| &*case.fixture.object).collect();
    assert_eq!(objects, [r#"{"kind":"Widget"}"#]);
}
