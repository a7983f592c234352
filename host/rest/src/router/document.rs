//! The root of the OpenAPI document.

use utoipa::OpenApi;

/// The document root. The routes add paths and schemas.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "kindsight",
        description = "Status of composite applications in all their clusters, and the meaning of the status of each Kubernetes resource.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    tags(
        (name = "status", description = "Status of applications (deployment intent groups and what was found in clusters), of clusters and of logical clouds."),
        (name = "clusters", description = "Clusters that operators register while the server runs."),
        (name = "lifecycle", description = "Content and lifecycle of deployment intent groups: create, approve, instantiate, update, roll back, terminate, stop, delete. Network intents of clusters: store, apply, terminate, delete."),
        (name = "interpreters", description = "Interpreters, which judge the status of resources: list, change, and judge objects with them."),
        (name = "notify", description = "Receivers of notifications of transitions."),
        (name = "k8splugin", description = "Applications in the form of ONAP's Kubernetes plugin, if the server runs with `--k8splugin`."),
        (name = "service", description = "Health and description of this service."),
    ),
)]
pub(super) struct ApiDoc;
