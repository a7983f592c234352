use super::*;

#[test]
fn a_change_about_no_component_has_an_empty_digest() {
    let digest = Digest::of(b"component");
    for (written, expected) in [("", None), (digest.as_str(), Some(digest.clone()))] {
        let json = format!(
            r#"{{"time":"2026-01-02T03:05:05.5Z","action":"disable","source":"host","digest":"{written}","version":"","outcome":"left out"}}"#
        );
        let entry: HistoryEntry = serde_json::from_str(&json).unwrap();
        assert_eq!(entry.digest, expected);
        assert_eq!(serde_json::to_string(&entry).unwrap(), json);
    }
    let json = r#"{"time":"2026-01-02T03:05:05Z","action":"load","source":"host","digest":"x","version":"","outcome":""}"#;
    assert!(serde_json::from_str::<HistoryEntry>(json).is_err());
}

#[test]
fn a_promotion_without_a_digest_has_an_empty_body() {
    let json = serde_json::to_string(&Promotion::default()).unwrap();
    assert_eq!(json, "{}");
    assert!(serde_json::from_str::<Promotion>(r#"{"digets":""}"#).is_err());
}
