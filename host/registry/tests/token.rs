//! The token authentication of the distribution project, with a registry of this test that requires it.
#![expect(clippy::unwrap_used, reason = "a test fails with a panic")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use kindsight_registry::{Client, ClientOptions, DockerConfig, Error, Repository, Version};

/// A request: its first line, its `Authorization`, and its body.
struct Request {
    line: String,
    authorization: String,
    body: String,
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let (mut authorization, mut length) = (String::new(), 0);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let header = header.trim_end();
        let Some((name, value)) = header.split_once(": ") else {
            break;
        };
        if name.eq_ignore_ascii_case("authorization") {
            value.clone_into(&mut authorization);
        }
        if name.eq_ignore_ascii_case("content-length") {
            length = value.parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).ok()?;
    Some(Request {
        line,
        authorization,
        body,
    })
}

fn answer(host: &str, realm: &str, request: &Request) -> String {
    let respond = |status: &str, headers: &str, body: &str| {
        let length = body.len();
        format!(
            "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n{body}"
        )
    };
    let service = host.replace(':', "%3A");
    let query = format!("service={service}&scope=repository%3Ateam%2Frules%3Apull");
    if request.line.starts_with(&format!("GET /token?{query} ")) {
        // `me:secret`
        return match request.authorization.as_str() {
            "" => respond("200 OK", "", r#"{"token":"anonymous"}"#),
            "Basic bWU6c2VjcmV0" => respond("200 OK", "", r#"{"token":"mine"}"#),
            _ => respond("401 Unauthorized", "", ""),
        };
    }
    if request.line.starts_with("POST /token ") {
        let form =
            format!("grant_type=refresh_token&client_id=kindsight&refresh_token=long&{query}");
        return if request.body == form {
            respond("200 OK", "", r#"{"access_token":"mine"}"#)
        } else {
            respond("400 Bad Request", "", &request.body)
        };
    }
    if request.authorization == "Bearer mine" {
        let digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        return respond(
            "200 OK",
            &format!("Docker-Content-Digest: {digest}\r\n"),
            "",
        );
    }
    let challenge = format!(
        "WWW-Authenticate: Bearer realm=\"{realm}/token\",service=\"{host}\",scope=\"repository:team/rules:pull\"\r\n"
    );
    respond("401 Unauthorized", &challenge, "")
}

/// Starts a registry, and opens its repository with this content of docker's configuration.
fn repository(entry: &str) -> Repository {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let name = host.clone();
    // Ends with the process of the tests.
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let Some(request) = read(&stream) else {
                continue;
            };
            let answer = answer(&name, &format!("http://{name}"), &request);
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    fs::write(&path, format!(r#"{{"auths":{{"{host}":{entry}}}}}"#)).unwrap();
    let options = ClientOptions {
        docker: DockerConfig::at(&path),
        plain_http: vec![host.clone()],
        ..ClientOptions::default()
    };
    // The file is read at the first request that needs it.
    let _: std::path::PathBuf = folder.keep();
    let reference = format!("oci://{host}/team/rules:1").parse().unwrap();
    Client::new(options).unwrap().open(&reference).unwrap()
}

fn tag() -> Version {
    Version::Tag("1".to_owned())
}

#[test]
fn a_password_is_exchanged_for_a_token() {
    let repository = repository(r#"{"auth":"bWU6c2VjcmV0"}"#);
    repository.digest(&tag()).unwrap();
    // With the token of the first request.
    repository.digest(&tag()).unwrap();
}

#[test]
fn an_identity_token_is_exchanged_for_a_token() {
    repository(r#"{"identitytoken":"long"}"#)
        .digest(&tag())
        .unwrap();
}

#[test]
fn a_token_for_the_registry_is_sent_as_it_is() {
    repository(r#"{"registrytoken":"mine"}"#)
        .digest(&tag())
        .unwrap();
}

#[test]
fn a_wrong_password_is_not_taken_for_no_password() {
    let error = repository(r#"{"username":"me","password":"wrong"}"#);
    let error = error.digest(&tag()).unwrap_err();
    assert!(matches!(error, Error::Unauthorized { .. }), "{error}");
    assert!(
        error.to_string().contains("the credentials of `me`"),
        "{error}"
    );
}

#[test]
fn an_anonymous_token_without_access_asks_for_a_login() {
    let error = repository("{}").digest(&tag()).unwrap_err();
    assert!(matches!(error, Error::NoCredentials { .. }), "{error}");
}
