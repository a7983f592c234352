//! Streams of users whose rights end.

use std::fs;
use std::future::poll_fn;
use std::net::Ipv4Addr;

use axum::body::HttpBody as _;
use kindsight_access::{Credential, Lease};

use super::*;
use crate::REPLICAS_MAX;
use crate::tests::streams::publish;

/// The number of streams of a status. Without an order, about one in four sends an event after the end of the rights.
const STREAMS: usize = 64;

impl Guarded {
    /// Ends the rights of all users, and waits until the server has noticed.
    async fn end_rights(&self) {
        let credential = Credential::Bearer(self.token.clone().into());
        let caller = self
            .control
            .authenticate(&credential, Ipv4Addr::LOCALHOST.into());
        let mut lease = Lease::new(&self.control, credential.clone(), caller.await.unwrap());
        fs::write(self.folder.path().join("roles"), "").unwrap();
        tokio::select! {
            () = self.control.follow() => {}
            () = lease.ended() => {}
        }
    }
}

/// Reads a part of a stream. Returns false at its end.
async fn has_part(stream: &mut Body) -> bool {
    let frame = poll_fn(|cx| Pin::new(&mut *stream).poll_frame(cx));
    frame.await.is_some()
}

#[tokio::test]
async fn a_stream_of_the_complete_state_ends_with_the_rights_although_more_lines_wait() {
    let guarded = Guarded::new(&[VIEWER]);
    let mut writer = published();
    // Together, they need several chunks.
    for id in 100..1_100 {
        let id: ContextId = id.to_string().parse().unwrap();
        let view = context(&id, "sink", "ConfigMap", "sink-configmap");
        writer.publish(&ApplicationKey::Context(id), view, Vec::new());
    }
    let router = router(AppState {
        access: Some(Arc::clone(&guarded.control)),
        ..state_of(&writer, Limits::default())
    });
    let mut streams = Vec::new();
    for _ in 0..REPLICAS_MAX {
        let request = Request::get("/v2/replication?format=1");
        let request = request.header(header::AUTHORIZATION, guarded.bearer());
        let request = request.body(Body::empty()).unwrap();
        let mut stream = router.clone().oneshot(request).await.unwrap().into_body();
        assert!(has_part(&mut stream).await);
        streams.push(stream);
    }
    guarded.end_rights().await;
    for mut stream in streams {
        assert!(!has_part(&mut stream).await);
    }
}

/// Reads an event of a stream.
async fn read_event(stream: &mut Body) {
    let mut text: Vec<u8> = Vec::new();
    while !text.ends_with(b"\n\n") {
        let frame = poll_fn(|cx| Pin::new(&mut *stream).poll_frame(cx)).await;
        text.extend(frame.unwrap().unwrap().into_data().unwrap());
    }
}

#[tokio::test]
async fn a_followed_status_ends_with_the_rights_although_a_change_waits() {
    let guarded = Guarded::new(&[VIEWER]);
    let mut writer = published();
    let router = router(AppState {
        access: Some(Arc::clone(&guarded.control)),
        ..state_of(&writer, Limits::default())
    });
    let mut streams = Vec::new();
    for _ in 0..STREAMS {
        let request = Request::get(format!("{SHOP}/watch"));
        let request = request.header(header::AUTHORIZATION, guarded.bearer());
        let request = request.body(Body::empty()).unwrap();
        let mut stream = router.clone().oneshot(request).await.unwrap().into_body();
        read_event(&mut stream).await;
        streams.push(stream);
    }
    guarded.end_rights().await;
    publish(&mut writer, Phase::Pending);
    for mut stream in streams {
        assert!(!has_part(&mut stream).await);
    }
}
