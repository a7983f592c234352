use super::*;

#[test]
fn the_url_has_tls_unless_the_server_is_on_this_machine() {
    let cluster: ClusterName = "p+edge".parse().unwrap();
    let of = |to: &str| url(to, &cluster).map_err(|error| error.to_string());
    let reports = "/v2/cluster-providers/p/clusters/edge/reports";
    for good in [
        "https://host",
        "https://host:9015/kindsight",
        "http://127.0.0.1:9015",
        "http://[::1]:9015",
        "http://localhost",
    ] {
        assert_eq!(of(good), Ok(format!("{good}{reports}")));
    }
    assert_eq!(of("https://host/"), Ok(format!("https://host{reports}")));
    assert!(of("http://host").unwrap_err().contains("no TLS"));
    for bad in ["host", "ftp://host", "https://host?x=1", "", "https://"] {
        assert!(of(bad).unwrap_err().contains("https://host:port"), "{bad}");
    }
}

#[test]
fn an_answer_determines_the_next_step() {
    let problem = |parameter: &str, expected: &str| {
        format!(
            r#"{{"detail":"no","problems":[{{"parameter":"{parameter}","expected":"{expected}"}}]}}"#
        )
    };
    let of = |status: u16, body: &str| {
        refusal(
            StatusCode::from_u16(status).unwrap(),
            Some(3),
            body.as_bytes(),
        )
    };
    assert_eq!(of(409, &problem("sequence", "17")), PushError::Sequence(17));
    assert_eq!(
        of(409, &problem("epoch", "a new epoch")),
        PushError::NewEpoch("no".to_owned())
    );
    let other = of(409, &problem("agent", "one"));
    assert!(matches!(other, PushError::NotAllowed(..)), "{other}");
    assert_eq!(of(429, ""), PushError::Busy(Duration::from_secs(3)));
    assert!(matches!(of(403, "<html>"), PushError::NotAllowed(..)));
    assert!(matches!(of(413, "{}"), PushError::Refused(..)));
    assert!(matches!(of(422, "{}"), PushError::Refused(..)));
    assert!(matches!(of(502, "{}"), PushError::Lost(..)));
}

#[test]
fn a_token_is_read_from_its_file_and_never_shown() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "secret\n").unwrap();
    let value = authorization(file.path()).unwrap();
    assert_eq!(value, "Bearer secret");
    assert!(!format!("{value:?}").contains("secret"));
    std::fs::write(file.path(), "secret\nother").unwrap();
    let error = authorization(file.path()).unwrap_err();
    assert!(!error.contains("secret"), "{error}");
}
