use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use kindsight_api::interpreters::{
    CallLimits, CallStatistics, ChangeSample, ChangedBy, DeclaredReason, DeclaredState, Faulting,
    HandledKind, HistoryEntry, InterpreterDetail, InterpreterStatus, InterpreterSummary,
    InterpreterVersion, Latency, RefusedUpload, SampledVerdict, ShadowFaults, ShadowLatency,
    ShadowReport, ShadowedApplication, ShadowedVersion, Takeover, VerdictChange,
};
use kindsight_model::{CatalogAction, LoadStep, Phase, VersionOutcome};
use serde_json::json;

use super::*;
use crate::table::without_styles;

fn check(print: impl FnOnce(&mut Vec<u8>) -> io::Result<()>, expected: &Expect) {
    let mut out = Vec::new();
    print(&mut out).unwrap();
    expected.assert_eq(&without_styles(&out));
}

fn digest(digit: &str) -> Digest {
    format!("sha256:{}", digit.repeat(64)).parse().unwrap()
}

fn summary(name: &str, kinds: &[&str]) -> InterpreterSummary {
    InterpreterSummary {
        name: name.to_owned(),
        status: InterpreterStatus::Live,
        source: Some(Source::BuiltIn),
        version: Some("1.0.0".to_owned()),
        digest: Some(digest("a")),
        kinds: kinds.iter().map(|&kind| kind.to_owned()).collect(),
        candidate: None,
        unavailable: None,
        calls: Some(1234),
        faults: Some(0),
        faulting: None,
        trips: Some(0),
    }
}

#[test]
fn a_list_is_a_line_each_with_as_many_kinds_as_fit() {
    let apps = [
        "apps/*/DaemonSet",
        "apps/*/Deployment",
        "apps/*/ReplicaSet",
        "apps/*/StatefulSet",
    ];
    let long = "widgets.example.com/*/AWidgetWithANameThatIsTooLongForAnyColumn";
    let answer = InterpreterList {
        generation: 7,
        interpreters: vec![
            summary("apps", &apps),
            InterpreterSummary {
                faulting: detail().faulting,
                ..summary("batch", &["batch/*/Job"])
            },
            InterpreterSummary {
                status: InterpreterStatus::Disabled,
                source: Some(Source::Upload),
                candidate: Some(digest("b")),
                faults: Some(3),
                ..summary("gadgets", &[long, "v1/Gadget"])
            },
            InterpreterSummary {
                status: InterpreterStatus::None,
                source: None,
                version: None,
                digest: None,
                calls: Some(0),
                ..summary("new\u{1b}[31mname", &[])
            },
        ],
        refused: Vec::new(),
    };
    check(
        |out| list(out, &answer),
        &expect![[r#"
        NAME          VERSION  SOURCE    STATUS    DIGEST               CALLS  FAULTS  CANDIDATE            KINDS
        apps          1.0.0    built-in  live      sha256:aaaaaaaaaaaa  1234   0       -                    apps/*/DaemonSet, apps/*/Deployment +2
        batch         1.0.0    built-in  faulting  sha256:aaaaaaaaaaaa  1234   0       -                    batch/*/Job
        gadgets       1.0.0    upload    disabled  sha256:aaaaaaaaaaaa  1234   3       sha256:bbbbbbbbbbbb  widgets.example.com/*/AWidgetWithANameThatIsTooLongForAnyColumn +1
        new [31mname  -        -         none      -                    0      0       -                    -
    "#]],
    );
}

#[test]
fn a_list_ends_with_unloaded_and_refused_components() {
    let answer = InterpreterList {
        generation: 7,
        interpreters: vec![InterpreterSummary {
            unavailable: Some("1.1.0: 5 bytes are over the limit of 4 bytes".to_owned()),
            ..summary("apps", &[])
        }],
        refused: vec![RefusedUpload {
            time: jiff::Timestamp::UNIX_EPOCH,
            name: None,
            source: Source::Directory,
            file: Some("An odd stem.wasm".to_owned()),
            digest: Some(digest("c")),
            step: LoadStep::Validated,
            why: "no\ncomponent".to_owned(),
        }],
    };
    check(
        |out| list(out, &answer),
        &expect![[r#"
            NAME  VERSION  SOURCE    STATUS  DIGEST               CALLS  FAULTS  CANDIDATE  KINDS
            apps  1.0.0    built-in  live    sha256:aaaaaaaaaaaa  1234   0       -          -

            apps: not loaded: 1.1.0: 5 bytes are over the limit of 4 bytes

            REFUSED           SOURCE     DIGEST               TIME                  WHY
            An odd stem.wasm  directory  sha256:cccccccccccc  1970-01-01T00:00:00Z  validated: no component
        "#]],
    );
}

#[test]
fn an_empty_list_says_so() {
    let answer = InterpreterList {
        generation: 0,
        interpreters: Vec::new(),
        refused: Vec::new(),
    };
    check(
        |out| list(out, &answer),
        &expect![[r#"
            no interpreters
        "#]],
    );
}

fn detail() -> InterpreterDetail {
    InterpreterDetail {
        name: "widgets".parse().unwrap(),
        status: InterpreterStatus::Live,
        source: Some(Source::Upload),
        version: Some("1.1.0".to_owned()),
        digest: Some(digest("b")),
        summary: "Widgets,\nas they are".to_owned(),
        kinds: vec![HandledKind {
            pattern: "example.com/*/Widget".to_owned(),
            when: Some("/status".to_owned()),
            uses_now: true,
            fields: vec!["/status".to_owned(), "/spec/size".to_owned()],
            related: vec!["core v1 Pod owned".to_owned()],
        }],
        states: vec![DeclaredState {
            name: "Draining".to_owned(),
            phase: Phase::Pending,
            summary: "It takes nothing new.".to_owned(),
            is_final: true,
        }],
        reasons: vec![DeclaredReason {
            name: "NoPorts".to_owned(),
            summary: "No port is attached yet.".to_owned(),
            help_url: Some("https://example.com/no-ports".to_owned()),
        }],
        warnings: vec!["licence: not a member of the contract".to_owned()],
        settings: json!({"strict": true, "note": "a\u{9b}31m"})
            .as_object()
            .cloned(),
        settings_declared_in: None,
        settings_schema: Some(json!({"type": "object"})),
        limits: CallLimits {
            call_deadline_ms: 50,
            call_deadline_per_mib_ms: 100,
            input_bytes_max: 4_194_304,
            memory_bytes_max: 67_108_864,
            calls_max: 1000,
            log_lines_max: 32,
        },
        faulting: Some(Faulting {
            calls: 12,
            faults: 11,
            since: "2025-01-01T00:00:00Z".parse().unwrap(),
        }),
        trips: 2,
        statistics: CallStatistics {
            calls: 1234,
            faults: BTreeMap::from([
                ("InterpreterTimeout".to_owned(), 1),
                ("InterpreterTrapped".to_owned(), 3),
            ]),
            latency_us: Latency {
                p50: 12,
                p90: 20,
                p99: 41,
                max: 900,
            },
            memory_high_water_bytes: 1_179_648,
            instances: 2,
            log_lines_dropped: 7,
        },
        versions: vec![
            version("c", "1.2.0", VersionOutcome::Candidate, ""),
            version("b", "1.1.0", VersionOutcome::Live, ""),
            version(
                "d",
                "",
                VersionOutcome::Refused,
                "it imports `wasi:filesystem`",
            ),
        ],
        history: vec![HistoryEntry {
            time: "2026-11-21T10:00:00Z".parse().unwrap(),
            action: CatalogAction::Load,
            source: ChangedBy::Upload,
            digest: Some(digest("b")),
            version: "1.1.0".to_owned(),
            outcome: "widgets 1.1.0 is live, replacing 1.0.0 from upload".to_owned(),
        }],
    }
}

fn version(digit: &str, version: &str, outcome: VersionOutcome, why: &str) -> InterpreterVersion {
    InterpreterVersion {
        digest: digest(digit),
        version: version.to_owned(),
        source: Source::Upload,
        outcome,
        why: why.to_owned(),
        received: "2026-11-21T10:00:00Z".parse().unwrap(),
    }
}

#[test]
fn inspect_has_a_section_for_everything() {
    check(
        |out| inspect(out, &detail()),
        &expect![[r#"
            name       widgets
            status     live
            version    1.1.0
            source     upload
            digest     sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
            candidate  1.2.0 sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc
            faulting   11 of 12 calls since 2025-01-01T00:00:00Z
            summary    Widgets, as they are

            KIND                               RELATED            FIELDS
            example.com/*/Widget when /status  core v1 Pod owned  /status, /spec/size

            STATE     PHASE    MEANING
            Draining  pending  It takes nothing new. (final)

            REASON   HELP                          MEANING
            NoPorts  https://example.com/no-ports  No port is attached yet.

            WARNING
            licence: not a member of the contract

            SETTINGS
            {
              "note": "a\u009b31m",
              "strict": true
            }

            SETTINGS SCHEMA
            {
              "type": "object"
            }

            LIMIT                     VALUE
            call-deadline-ms          50
            call-deadline-per-mib-ms  100
            input-bytes-max           4194304
            memory-bytes-max          67108864
            calls-max                 1000
            log-lines-max             32

            STATISTIC                VALUE
            calls                    1234
            faults                   4: 1 InterpreterTimeout, 3 InterpreterTrapped
            trips                    2
            latency-us               p50 12, p90 20, p99 41, max 900
            memory-high-water-bytes  1179648
            instances                2
            log-lines-dropped        7

            VERSION  DIGEST               SOURCE  OUTCOME    RECEIVED              WHY
            1.2.0    sha256:cccccccccccc  upload  candidate  2026-11-21T10:00:00Z  -
            1.1.0    sha256:bbbbbbbbbbbb  upload  live       2026-11-21T10:00:00Z  -
            -        sha256:dddddddddddd  upload  refused    2026-11-21T10:00:00Z  it imports `wasi:filesystem`

            TIME                  ACTION  BY      VERSION  DIGEST               OUTCOME
            2026-11-21T10:00:00Z  load    upload  1.1.0    sha256:bbbbbbbbbbbb  widgets 1.1.0 is live, replacing 1.0.0 from upload
        "#]],
    );
}

#[test]
fn inspect_omits_empty_sections() {
    let bare = InterpreterDetail {
        status: InterpreterStatus::None,
        source: None,
        version: None,
        digest: None,
        summary: String::new(),
        kinds: Vec::new(),
        states: Vec::new(),
        reasons: Vec::new(),
        warnings: Vec::new(),
        settings: None,
        settings_declared_in: None,
        settings_schema: None,
        statistics: CallStatistics::default(),
        versions: Vec::new(),
        history: Vec::new(),
        ..detail()
    };
    check(
        |out| inspect(out, &bare),
        &expect![[r#"
        name       widgets
        status     none
        faulting   11 of 12 calls since 2025-01-01T00:00:00Z

        LIMIT                     VALUE
        call-deadline-ms          50
        call-deadline-per-mib-ms  100
        input-bytes-max           4194304
        memory-bytes-max          67108864
        calls-max                 1000
        log-lines-max             32

        STATISTIC                VALUE
        calls                    0
        faults                   0
        trips                    2
        latency-us               p50 0, p90 0, p99 0, max 0
        memory-high-water-bytes  0
        instances                0
        log-lines-dropped        0
    "#]],
    );
}

#[test]
fn settings_can_be_sent_back_as_they_were_printed() {
    let (some, mut none) = (detail(), detail());
    let printed = settings(&some);
    assert!(!printed.contains('\u{9b}'), "{printed}");
    assert_eq!(
        serde_json::from_str(&printed).ok(),
        some.settings,
        "{printed}"
    );
    none.settings = None;
    assert_eq!(settings(&none), "{}");
}

fn taken(kind: &str) -> Takeover {
    Takeover {
        kind: format!("apps/*/{kind}"),
        name: "apps".parse().unwrap(),
        version: "0.1.0".to_owned(),
        source: Source::BuiltIn,
    }
}

#[test]
fn an_outcome_is_a_line_with_the_complete_digest() {
    let mut answer = Outcome {
        name: "widgets".parse().unwrap(),
        action: CatalogAction::Load,
        digest: Some(digest("c")),
        version: Some("1.2.0".to_owned()),
        status: OutcomeStatus::Candidate,
        detail: "widgets 1.2.0 is accepted and can be promoted".to_owned(),
        takes: ["Deployment", "StatefulSet"].map(taken).into(),
    };
    check(
        |out| outcome(out, &answer),
        &expect![[r#"
        widgets 1.2.0 is accepted and can be promoted
        would take apps/*/Deployment, apps/*/StatefulSet from apps 0.1.0 built-in
        digest sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc
    "#]],
    );
    expect![[r#"
        to see what it would change: kindsight interpreters shadow widgets
        to make it live: kindsight interpreters promote widgets --digest sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"#]].assert_eq(&next_steps(&answer).join("\n"));
    answer.status = OutcomeStatus::Live;
    answer.detail = "widgets 1.2.0 is live".to_owned();
    answer.digest = None;
    check(
        |out| outcome(out, &answer),
        &expect![[r#"
        widgets 1.2.0 is live
        takes apps/*/Deployment, apps/*/StatefulSet from apps 0.1.0 built-in
    "#]],
    );
    answer.takes = Vec::new();
    answer.version = None;
    answer.status = OutcomeStatus::None;
    answer.detail = "widgets is removed from upload".to_owned();
    check(
        |out| outcome(out, &answer),
        &expect![[r#"
        widgets is removed from upload
    "#]],
    );
    assert!(next_steps(&answer).is_empty());
}

fn sample(place: &str, namespace: &str, message: &str) -> ChangeSample {
    let verdict = |state: &str, reason: &str, message: &str| SampledVerdict {
        state: state.to_owned(),
        reason: reason.to_owned(),
        message: message.to_owned(),
    };
    ChangeSample {
        place: place.to_owned(),
        namespace: namespace.to_owned(),
        name: "web".to_owned(),
        from: verdict("Ready", "", ""),
        to: verdict("Draining", "DrainBegun", message),
    }
}

fn report() -> ShadowReport {
    let latency = |p50| Latency {
        p50,
        p90: 2 * p50,
        p99: 4 * p50,
        max: 1000,
    };
    let shadowed = |digit, version: &str| ShadowedVersion {
        digest: digest(digit),
        version: version.to_owned(),
    };
    ShadowReport {
        name: "widgets".parse().unwrap(),
        live: Some(shadowed("b", "1.1.0")),
        candidate: shadowed("c", "1.2.0"),
        objects: 340,
        changed: 14,
        phases_changed: 12,
        faults: ShadowFaults {
            live: 0,
            candidate: 1,
        },
        latency_us: ShadowLatency {
            live: latency(10),
            candidate: latency(12),
        },
        changes: vec![
            VerdictChange {
                kind: "example.com/v1/Widget".to_owned(),
                from: "Ready".to_owned(),
                to: "Draining".to_owned(),
                count: 11,
                samples: vec![
                    sample("7/sink/vfw+edge01", "default", "2 of 3 are\n\u{1b}[2Jgone"),
                    sample("7/sink/vfw+edge02", "", ""),
                ],
            },
            VerdictChange {
                kind: "example.com/v1/Gadget".to_owned(),
                from: "Unknown".to_owned(),
                to: "Ready".to_owned(),
                count: 1,
                samples: Vec::new(),
            },
        ],
        applications_changed: 2,
        applications: vec![ShadowedApplication {
            name: "p/app/v1/group".to_owned(),
            changed: 13,
            phases_changed: 12,
        }],
    }
}

#[test]
fn a_shadow_report_has_totals_latencies_and_changes() {
    check(
        |out| shadow(out, &report()),
        &expect![[r#"
            14 of 340 verdicts would change, 12 of them the phase, 1 fault (live 0)

            COMPONENT  VERSION  P50-US  P90-US  P99-US  MAX-US  DIGEST
            candidate  1.2.0    12      24      48      1000    sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc
            live       1.1.0    10      20      40      1000    sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb

            APPLICATION     CHANGED  PHASES
            p/app/v1/group  13       12

            1 more applications would change (not listed)

            KIND                   FROM     TO        COUNT
            example.com/v1/Widget  Ready    Draining  11
              default/web in 7/sink/vfw+edge01
                from Ready
                to   Draining: DrainBegun: 2 of 3 are  [2Jgone
              web in 7/sink/vfw+edge02
                from Ready
                to   Draining: DrainBegun
            example.com/v1/Gadget  Unknown  Ready     1

            2 more verdicts would change (not listed)
        "#]],
    );
}

#[test]
fn a_shadow_without_changes_is_short() {
    let same = ShadowReport {
        live: None,
        changed: 0,
        phases_changed: 0,
        faults: ShadowFaults::default(),
        changes: Vec::new(),
        applications_changed: 0,
        applications: Vec::new(),
        ..report()
    };
    check(
        |out| shadow(out, &same),
        &expect![[r#"
            0 of 340 verdicts would change, 0 of them the phase, 0 faults (live 0)

            COMPONENT  VERSION  P50-US  P90-US  P99-US  MAX-US  DIGEST
            candidate  1.2.0    12      24      48      1000    sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc
        "#]],
    );
}
