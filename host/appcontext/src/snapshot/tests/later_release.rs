//! The keys of later releases of the reference.

use expect_test::expect;

use super::read_below;

/// A context as a later release of the reference leaves it.
const LATER_RELEASE: &[(&str, &str)] = &[
    (
        "meta/",
        r#"{"Project":"p","CompositeApp":"ca","Version":"v1","Release":"r","DeploymentIntentGroup":"d","Namespace":"n","Level":"1","ChildContextIDs":["8"],"LogicalCloud":"lc"}"#,
    ),
    ("rsync/state/CurrentState/", r#"{"Status":"Instantiated"}"#),
    ("rsync/AppContextEventQueue/", r#"{"AcQueue":[]}"#),
    ("statusappctxid/", r#""8""#),
    ("stopflag/", "true"),
    ("status/", r#"{"Status":"UpdatedFailed"}"#),
    ("app/instruction/dependency/", r#""{}""#),
    ("app/a/", r#""a""#),
    ("app/a/instruction/dependency/", r#""[]""#),
    ("app/a/cluster/p+c/", r#""p+c""#),
    ("app/a/cluster/p+c/!@#metaGrp/", r#""1""#),
    ("app/a/cluster/p+c/readystatus/", r#""Retrying""#),
    ("app/a/cluster/p+c/reference/", r#""8""#),
    ("app/a/cluster/p+c/resourcesready/", "true"),
    ("app/a/cluster/p+c/status/", r#""{\"ready\":false}""#),
    ("app/a/cluster/p+c/resource/x+Pod/", r#""nil""#),
    ("app/a/cluster/p+c/resource/x+Pod/resready/", "true"),
    (
        "app/a/cluster/p+c/resource/x+Pod/subresource/approval/",
        r#""{}""#,
    ),
    (
        "app/a/cluster/p+c/resource/x+Pod/status/",
        r#"{"Status":"Applied"}"#,
    ),
];

#[expect(clippy::too_many_lines, reason = "a whole snapshot")]
#[test]
fn the_keys_of_a_later_release_are_read_past() {
    let snapshot = read_below(LATER_RELEASE);
    expect![[r#"
        ContextSnapshot {
            id: ContextId(
                "7",
            ),
            created: Revision(
                2,
            ),
            meta: Some(
                ContextMeta {
                    project: "p",
                    composite_app: "ca",
                    version: "v1",
                    release: "r",
                    dig: "d",
                    namespace: "n",
                    level: "1",
                    child_context_ids: [
                        "8",
                    ],
                    logical_cloud: "lc",
                    logical_cloud_namespace: "",
                    logical_cloud_level: "",
                    stored: {
                        "Project": "\"p\"",
                        "CompositeApp": "\"ca\"",
                        "Version": "\"v1\"",
                        "Release": "\"r\"",
                        "DeploymentIntentGroup": "\"d\"",
                        "Namespace": "\"n\"",
                        "Level": "\"1\"",
                        "ChildContextIDs": "[\"8\"]",
                        "LogicalCloud": "\"lc\"",
                    },
                },
            ),
            status: Some(
                Other(
                    "UpdatedFailed",
                ),
            ),
            status_changed: Some(
                Revision(
                    2,
                ),
            ),
            status_context: ContextId(
                "8",
            ),
            reads: {
                ContextId(
                    "8",
                ),
            },
            stop_flag: true,
            apps: [
                AppSnapshot {
                    name: "a",
                    depends_on: [],
                    clusters: [
                        ClusterSnapshot {
                            cluster: ClusterName {
                                provider: "p",
                                name: "c",
                            },
                            group: Some(
                                "1",
                            ),
                            bundle: Json(
                                "{\"ready\":false}",
                            ),
                            connectivity: Some(
                                Retrying,
                            ),
                            resources: [
                                ResourceSnapshot {
                                    name: "x",
                                    kind: "Pod",
                                    manifest: None,
                                    status: Some(
                                        Applied,
                                    ),
                                    hook: None,
                                },
                            ],
                        },
                    ],
                },
            ],
            unreadable: [],
        }
    "#]]
    .assert_debug_eq(&snapshot);
}
