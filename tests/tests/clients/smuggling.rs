//! Requests that a proxy and the server may read differently: a second request, or a credential, hides in the first.

use std::fs;
use std::time::Duration;

use kindsight_server::access::TokenFile;

use crate::http;
use crate::stage::Stage;
use crate::transport::{Connection, Transport};

/// Time for which the client reads from a connection that the server keeps open.
const READ: Duration = Duration::from_millis(300);

/// The hidden request. The client of the suite may send it openly.
const HIDDEN: &str =
    "POST /v2/interpreters/apps/disable HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";

/// Headers that state the length of a body twice or in an unusual form. `{length}` is the length of the body.
const FRAMINGS: [&str; 15] = [
    "Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n",
    "Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n",
    "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
    "Content-Length: {length}\r\nContent-Length: 4\r\n",
    "Content-Length: 4\r\nContent-Length: {length}\r\n",
    "Content-Length: 4, {length}\r\n",
    "Content-Length: +4\r\n",
    "Content-Length: 0x4\r\n",
    "Content-Length : 4\r\nContent-Length: {length}\r\n",
    "Transfer-Encoding: identity\r\nContent-Length: {length}\r\n",
    "Transfer-Encoding: chunked, identity\r\nContent-Length: 4\r\n",
    "Transfer-Encoding: xchunked\r\nContent-Length: 4\r\n",
    "Transfer-Encoding : chunked\r\nContent-Length: {length}\r\n",
    "X: y\r\n Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n",
    "X: y\nTransfer-Encoding: chunked\r\nContent-Length: {length}\r\n",
];

/// A connection that waits only [`READ`] for more bytes.
fn connect(stage: &Stage) -> Connection {
    let stream = stage.connect().expect("a connection");
    let timeout = Some(READ);
    stream.tcp().set_read_timeout(timeout).expect("a timeout");
    stream
}

/// The server refuses the request, closes the connection after it, or reads the hidden request as a part of the body.
pub(crate) fn a_request_that_hides_in_a_body_is_not_carried_out(transport: Transport) {
    let stage = Stage::start(transport);
    // A proxy that reads the length, and a proxy that reads the chunks, take the hidden request for a part of the body.
    let bodies = [
        format!("0\r\n\r\n{HIDDEN}"),
        format!("{:02x}\r\n{HIDDEN}\r\n0\r\n\r\n", HIDDEN.len()),
    ];
    for framing in FRAMINGS {
        for body in &bodies {
            let framing = framing.replace("{length}", &body.len().to_string());
            let request = format!(
                "POST /v2/interpret HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{framing}\r\n{body}"
            );
            let answer = http::send_raw(connect(&stage), request.as_bytes()).expect("an answer");
            assert_eq!(answer.status, 400, "{framing} {answer:?}");
            let apps = stage.get("/v2/interpreters/apps").json();
            assert_eq!(apps["status"], "live", "{framing}");
        }
    }
    stage.assert_healthy();
    // Sent openly, the hidden request is carried out.
    let open = http::send_raw(connect(&stage), HIDDEN.as_bytes()).expect("an answer");
    assert_eq!(open.status, 200, "{open:?}");
}

/// A valid token in any other place than in the one header does not help beside an invalid token.
pub(crate) fn a_credential_in_an_unusual_place_is_not_accepted(transport: Transport) {
    let mut valid = String::new();
    let stage = Stage::with(transport, |settings, _| {
        let access = settings.access.as_ref().expect("access control");
        let binding = "[[binding]]\nrole = \"viewer\"\nusers = [\"token:valid\"]\n";
        fs::write(&access.roles, binding).expect("a file");
        let file = access.tokens.as_deref().expect("a token file");
        let expires = "2999-01-01T00:00:00Z".parse().expect("a time");
        let token = TokenFile::create(file, "valid".parse().expect("a name"), expires);
        valid = token.expect("a token").text.to_string();
    });
    let wrong = "Authorization: Bearer kindsight.valid.wrong\r\n";
    let send = |target: &str, headers: &str, body: &str| {
        let request = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n{body}");
        let answer = http::send_raw(connect(&stage), request.as_bytes()).expect("an answer");
        assert!(!answer.body.contains(&valid), "{answer:?}");
        answer.status
    };
    let list = "/v2/applications";
    let usual = format!("Authorization: Bearer {valid}\r\n");
    assert_eq!(send(list, &usual, ""), 200);
    for header in [
        format!("Authorization : Bearer {valid}\r\n"),
        format!("X: y\r\n Authorization: Bearer {valid}\r\n"),
        format!("X: y\nAuthorization: Bearer {valid}\r\n"),
        format!("X: y\rAuthorization: Bearer {valid}\r\n"),
        format!("AUTHORIZATION: BEARER {valid}\r\n"),
        format!("Authorization_: Bearer {valid}\r\n"),
        format!("Proxy-Authorization: Bearer {valid}\r\n"),
        format!("X-Authorization: Bearer {valid}\r\n"),
        format!("X-Access-Token: {valid}\r\n"),
        format!("Cookie: Authorization=Bearer {valid}; token={valid}\r\n"),
    ] {
        let headers = format!("{wrong}{header}");
        let status = send(list, &headers, "");
        assert!(matches!(status, 400 | 401), "{status}: {header}");
    }
    let target = format!("{list}?access_token={valid}");
    assert_eq!(send(&target, wrong, ""), 401);
    let chunked = format!("{wrong}Transfer-Encoding: chunked\r\nTrailer: Authorization\r\n");
    assert_eq!(send(list, &chunked, &format!("0\r\n{usual}\r\n")), 401);
    assert_eq!(send(list, &usual, ""), 200);
}
