//! The measure of all cases: a server that answers `/healthz` in time.

use crate::stage::Stage;
use crate::transport::Transport;

/// The other cases attack such a server, and measure its health in the same way.
pub(crate) fn an_idle_server_is_healthy(transport: Transport) {
    let stage = Stage::start(transport);
    stage.assert_healthy();
    let ready = stage.get("/readyz");
    assert_eq!(ready.status, 200, "{ready:?}");
    let pod = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}"#;
    let judged = stage.json("POST", "/v2/interpret", pod).json();
    assert_eq!(judged["verdicts"][0]["name"], "a", "{judged}");
    let refused = stage.upload("junk", b"junk");
    assert_eq!(refused.status, 422, "{refused:?}");
    assert!(
        refused.head.contains("application/problem+json"),
        "{refused:?}"
    );
    assert!(stage.connect().is_ok());
}
