//! The settings of a case as flags of `kindsight serve`.

use std::path::Path;

use kindsight_server::Settings;
use kindsight_server::rest::Limits;
use serde_json::json;

use crate::issuer::Issuer;

/// The path of the folder of a case in an image.
pub(super) const CASE: &str = "/case";

/// The flags for the settings that cases change, and for an issuer. `folder` is the folder of the case.
///
/// # Panics
/// If a case changed another limit.
pub(super) fn flags(settings: &Settings, issuer: Option<&Issuer>, folder: &Path) -> Vec<String> {
    let inside = |path: &Path| {
        let name = path.strip_prefix(folder).expect("a file of the case");
        Path::new(CASE).join(name).display().to_string()
    };
    let mut flags = vec![format!("--listen={}", settings.listen)];
    flags.extend(limits(&settings.rest_limits));
    for cluster in &settings.clusters {
        flags.push(format!("--cluster={}={CASE}", cluster.name()));
    }
    if let Some(tls) = &settings.tls {
        flags.push(format!("--tls-cert={}", inside(&tls.cert)));
        flags.push(format!("--tls-key={}", inside(&tls.key)));
        let client_ca = tls.client_ca.iter();
        flags.extend(client_ca.map(|file| format!("--tls-client-ca={}", inside(file))));
    }
    if let Some(k8splugin) = &settings.k8splugin {
        let instances = k8splugin.instances.iter().map(|instance| {
            let application = instance.application.as_ref().map(ToString::to_string);
            json!({"id": instance.id, "application": application})
        });
        let table = json!({"instance": instances.collect::<Vec<_>>()});
        flags.push(format!("--k8splugin-table={table}"));
    }
    if let Some(access) = &settings.access {
        flags.push(format!("--roles={}", inside(&access.roles)));
        let tokens = access.tokens.iter();
        flags.extend(tokens.map(|file| format!("--tokens={}", inside(file))));
    }
    if let Some(issuer) = issuer {
        flags.extend(issuer.flags());
        // The image has no authorities. An issuer on loopback needs none, but the server wants to know some.
        let authorities = settings.tls.as_ref().and_then(|tls| tls.client_ca.as_ref());
        flags.extend(authorities.map(|file| format!("--oidc-ca={}", inside(file))));
    }
    flags
}

fn limits(limits: &Limits) -> [String; 6] {
    let with_flags = Limits {
        connections_max: limits.connections_max,
        head_time_max: limits.head_time_max,
        answers_bytes_max: limits.answers_bytes_max,
        bodies_bytes_max: limits.bodies_bytes_max,
        interpret_bytes_max: limits.interpret_bytes_max,
        component_bytes_max: limits.component_bytes_max,
        ..Limits::default()
    };
    assert_eq!(*limits, with_flags, "add the flag of this limit here");
    [
        format!("--connections-max={}", limits.connections_max),
        format!("--head-seconds-max={}", limits.head_time_max.as_secs()),
        format!("--answers-bytes-max={}", limits.answers_bytes_max),
        format!("--bodies-bytes-max={}", limits.bodies_bytes_max),
        format!("--interpret-bytes-max={}", limits.interpret_bytes_max),
        format!("--component-bytes-max={}", limits.component_bytes_max),
    ]
}
