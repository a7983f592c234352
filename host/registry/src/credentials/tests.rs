use super::*;

fn found(json: &str, host: &str) -> Result<Option<Credentials>, CredentialError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    std::fs::write(&path, json).unwrap();
    DockerConfig::at(&path).credentials(host)
}

fn basic(user: &str, password: &str) -> Credentials {
    Credentials::Basic {
        user: user.to_owned(),
        password: Zeroizing::new(password.to_owned()),
    }
}

#[test]
fn an_entry_is_found_under_each_key_that_docker_writes() {
    for key in [
        "ghcr.io",
        "https://ghcr.io",
        "https://ghcr.io/v1/",
        "https://ghcr.io/v2/",
    ] {
        // `me:se:cret`
        let json = format!(r#"{{"auths":{{"{key}":{{"auth":"bWU6c2U6Y3JldA=="}}}}}}"#);
        assert_eq!(
            found(&json, "ghcr.io").unwrap(),
            Some(basic("me", "se:cret"))
        );
        assert_eq!(found(&json, "quay.io").unwrap(), None);
    }
    let hub = r#"{"auths":{"https://index.docker.io/v1/":{"username":"me","password":"secret"}}}"#;
    assert_eq!(
        found(hub, "docker.io").unwrap(),
        Some(basic("me", "secret"))
    );
}

#[test]
fn an_identity_token_counts_before_a_password() {
    let json = r#"{"auths":{"a.io":{"auth":"bWU6cHc=","identitytoken":"long"}}}"#;
    let token = Zeroizing::new("long".to_owned());
    assert_eq!(
        found(json, "a.io").unwrap(),
        Some(Credentials::Identity { token })
    );
}

#[test]
fn a_damaged_file_is_named_without_its_content() {
    for json in [
        r#"{"auths":{"a.io":{"auth":"secret!"}}}"#,
        r#"{"auths":{"a.io":{"auth":"secret"#,
        r#"{"auths":{"a.io":"secret"}}"#,
    ] {
        let error = found(json, "a.io").unwrap_err().to_string();
        assert!(error.contains("config.json is not a configuration file of docker"));
        assert!(!error.contains("secret"), "{error}");
    }
}

#[test]
fn a_missing_file_has_no_credentials() {
    let config = DockerConfig::at(Path::new("/no/such/config.json"));
    assert_eq!(config.credentials("a.io").unwrap(), None);
}

#[test]
fn credentials_are_not_printed() {
    let credentials = basic("me", "secret");
    assert_eq!(format!("{credentials:?}"), "Credentials(me)");
}
