use super::*;

const KUSTOMIZATION: &str = r"
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps}
spec:
  healthCheckExprs:
  - apiVersion: bitnami.com/v1alpha1
    kind: SealedSecret
    failed: status.conditions.exists(c, c.type == 'Synced' && c.status == 'False')
    current: status.conditions.exists(c, c.type == 'Synced' && c.status == 'True')
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
";
const BARE: &str = r"
- {apiVersion: example.com/v1, current: status.ready}
";

fn rules(files: &[&str]) -> Result<RuleSet, RulesError> {
    let mut checks = FluxChecks::default();
    for (index, text) in files.iter().enumerate() {
        checks.add(&format!("{index}.yaml"), text)?;
    }
    checks.rules("flux", "1.0.0")
}

#[test]
fn checks_are_read_from_resources_and_from_lists() {
    let rules = rules(&[KUSTOMIZATION, BARE, KUSTOMIZATION]).expect("rules");
    let kinds: Vec<_> = rules
        .rules
        .iter()
        .map(|rule| (&*rule.group, &*rule.kind))
        .collect();
    assert_eq!(
        kinds,
        [("bitnami.com", "SealedSecret"), ("example.com", "*")]
    );
    assert!(rules.component().is_ok());
}

#[test]
fn problems_name_the_resource() {
    let error = |text: &str| {
        let rules = rules(&[text]).and_then(|rules| rules.component());
        rules.expect_err("an error").to_string()
    };
    let broken = KUSTOMIZATION.replace("'True'", "True");
    assert!(
        rules(&[&broken]).expect("rules").component().is_ok(),
        "True is a variable"
    );
    let broken = KUSTOMIZATION.replace("c.status == 'True'", "c.status = 'True'");
    let place = "0.yaml: document 1: Kustomization apps: healthCheckExprs[0]";
    let expected = format!("{place} (SealedSecret.bitnami.com): cases[1].if: column ");
    assert!(error(&broken).starts_with(&expected), "{}", error(&broken));
    let missing = KUSTOMIZATION.replace("current:", "inProgress:");
    assert_eq!(error(&missing), format!("{place}: missing field `current`"));
    let other = KUSTOMIZATION.replace("'True'", "'Yes'");
    let differs = rules(&[KUSTOMIZATION, &other])
        .expect_err("two rules")
        .to_string();
    assert!(differs.contains("differs from 0.yaml"), "{differs}");
}
