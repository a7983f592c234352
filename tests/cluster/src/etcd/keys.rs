//! Keys of an etcd, read and written through its JSON gateway instead of a client library.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use ureq::http::Method;

use super::Etcd;
use crate::client::Client;

/// A key and its value.
pub type KeyValue = (String, String);

/// Keys and values of an etcd, read and written as one user. If etcd rejects a request, its methods
/// panic with etcd's text.
#[derive(Debug, Clone)]
pub struct EtcdKeys {
    client: Client,
}

impl Etcd {
    /// The keys of an etcd without users.
    pub fn keys(&self) -> EtcdKeys {
        EtcdKeys {
            client: self.client(),
        }
    }

    /// The keys of an etcd, as a user of [`EtcdKeys::protect`].
    pub fn keys_of(&self, user: &str, password: &str) -> EtcdKeys {
        let answer = self.keys().ask(
            "auth/authenticate",
            &json!({"name": user, "password": password}),
        );
        let token = answer["token"].as_str().expect("a token");
        EtcdKeys {
            client: self.client().authorized(token),
        }
    }
}

impl EtcdKeys {
    /// Sets a key.
    pub fn put(&self, key: &str, value: &str) {
        self.ask(
            "kv/put",
            &json!({"key": encode(key), "value": encode(value)}),
        );
    }

    /// Sets keys one after the other.
    pub fn put_all(&self, entries: &[KeyValue]) {
        for (key, value) in entries {
            self.put(key, value);
        }
    }

    /// Removes every key under a prefix.
    pub fn delete_under(&self, prefix: &str) {
        self.ask("kv/deleterange", &under(prefix));
    }

    /// All keys under a prefix with their values, in bytewise order.
    pub fn dump(&self, prefix: &str) -> Vec<KeyValue> {
        let answer = self.ask("kv/range", &under(prefix));
        let found = answer["kvs"].as_array().map_or(&[][..], Vec::as_slice);
        let text = |value: &Value| value.as_str().map_or_else(String::new, decode);
        found
            .iter()
            .map(|pair| (text(&pair["key"]), text(&pair["value"])))
            .collect()
    }

    /// The revision of the last change.
    pub fn revision(&self) -> u64 {
        let answer = self.ask("kv/range", &json!({"key": encode("/"), "count_only": true}));
        let revision = answer["header"]["revision"].as_str();
        revision
            .and_then(|revision| revision.parse().ok())
            .expect("a revision")
    }

    /// Ends a lease, so that its keys are removed.
    pub fn revoke_lease(&self, id: i64) {
        self.ask("lease/revoke", &json!({"ID": id.to_string()}));
    }

    /// Compacts every change before the last one, so that no watch can begin there.
    pub fn compact(&self) {
        let revision = self.revision().to_string();
        self.ask(
            "kv/compaction",
            &json!({"revision": revision, "physical": true}),
        );
    }

    /// Requires a password for all access: `root` has all permissions, and each other user may read
    /// the keys under a prefix.
    pub fn protect(&self, root_password: &str, readers: &[(&str, &str, &str)]) {
        for (user, password, prefix) in readers {
            let role = format!("reads-{user}");
            self.ask("auth/role/add", &json!({"name": role}));
            let range =
                json!({"permType": "READ", "key": encode(prefix), "range_end": prefix_end(prefix)});
            self.ask("auth/role/grant", &json!({"name": role, "perm": range}));
            self.add_user(user, password, &role);
        }
        self.ask("auth/role/add", &json!({"name": "root"}));
        self.add_user("root", root_password, "root");
        self.ask("auth/enable", &json!({}));
    }

    fn add_user(&self, user: &str, password: &str, role: &str) {
        self.ask(
            "auth/user/add",
            &json!({"name": user, "password": password}),
        );
        self.ask("auth/user/grant", &json!({"user": user, "role": role}));
    }

    fn ask(&self, what: &str, body: &Value) -> Value {
        let path = format!("/v3/{what}");
        let answer = self
            .client
            .request(Method::POST, &path, Some(("application/json", body)));
        let answer = answer.unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    }
}

fn encode(text: &str) -> String {
    STANDARD.encode(text)
}

fn decode(text: &str) -> String {
    String::from_utf8(STANDARD.decode(text).expect("base64")).expect("UTF-8")
}

fn under(prefix: &str) -> Value {
    json!({"key": encode(prefix), "range_end": prefix_end(prefix)})
}

/// The first key after all keys with a prefix, as base64. The last byte of a prefix is never 255 in
/// these tests.
fn prefix_end(prefix: &str) -> String {
    let mut end = prefix.as_bytes().to_vec();
    *end.last_mut().expect("a prefix") += 1;
    STANDARD.encode(end)
}
