//! The published keys of an issuer: a JSON Web Key Set (RFC 7517).

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey};
use serde::Deserialize;
use serde_json::Value;

/// Maximum number of keys that an issuer may publish. Issuers publish two to ten keys.
const KEYS_MAX: usize = 100;

/// The keys with which signatures of tokens can be verified.
pub(super) struct KeySet {
    keys: Vec<PublicKey>,
}

struct PublicKey {
    id: Option<String>,
    /// The algorithms that fit the type and the curve of the key. If the issuer names an algorithm, only this one.
    algorithms: Vec<Algorithm>,
    key: DecodingKey,
}

/// The reason why a document is not a usable key set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum KeySetError {
    #[error("the key set is not a JSON object with a list `keys`")]
    Syntax,
    #[error("the key set has {0} keys; at most {KEYS_MAX} are read")]
    Count(usize),
    #[error("the key set has no key for signatures that kindsight can verify")]
    Empty,
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<Value>,
}

impl KeySet {
    /// Reads the document of an issuer. Keys of unknown types and for other purposes are skipped.
    pub(super) fn read(document: &[u8]) -> Result<Self, KeySetError> {
        let document: Document =
            serde_json::from_slice(document).map_err(|_| KeySetError::Syntax)?;
        if document.keys.len() > KEYS_MAX {
            return Err(KeySetError::Count(document.keys.len()));
        }
        let keys: Vec<_> = document.keys.into_iter().filter_map(public_key).collect();
        if keys.is_empty() {
            return Err(KeySetError::Empty);
        }
        Ok(Self { keys })
    }

    /// Finds the key of a token. A token without a key id is accepted only if exactly one key fits its algorithm.
    pub(super) fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Option<&DecodingKey> {
        let fits = |key: &&PublicKey| {
            let has_id = id.is_none() || key.id.as_deref() == id;
            has_id && key.algorithms.contains(&algorithm)
        };
        let mut fitting = self.keys.iter().filter(fits);
        let first = fitting.next()?;
        let is_clear = id.is_some() || fitting.next().is_none();
        is_clear.then_some(&first.key)
    }
}

fn public_key(key: Value) -> Option<PublicKey> {
    let jwk: Jwk = serde_json::from_value(key).ok()?;
    let common = &jwk.common;
    let is_for_signatures = match (&common.public_key_use, &common.key_operations) {
        (Some(purpose), _) => *purpose == PublicKeyUse::Signature,
        (None, Some(operations)) => operations.contains(&KeyOperations::Verify),
        (None, None) => true,
    };
    let mut algorithms = algorithms(&jwk.algorithm);
    if let Some(named) = common.key_algorithm {
        algorithms.retain(|algorithm| Algorithm::try_from(named).as_ref() == Ok(algorithm));
    }
    let is_usable = is_for_signatures && !algorithms.is_empty();
    is_usable.then_some(PublicKey {
        id: common.key_id.clone(),
        algorithms,
        key: DecodingKey::from_jwk(&jwk).ok()?,
    })
}

/// The algorithms that fit the type and the curve of a key. A shared secret has none.
fn algorithms(parameters: &AlgorithmParameters) -> Vec<Algorithm> {
    match parameters {
        AlgorithmParameters::RSA(_) => AlgorithmFamily::Rsa.algorithms().to_vec(),
        AlgorithmParameters::EllipticCurve(key) => match key.curve {
            EllipticCurve::P256 => vec![Algorithm::ES256],
            EllipticCurve::P384 => vec![Algorithm::ES384],
            _ => Vec::new(),
        },
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => {
            vec![Algorithm::EdDSA]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ed25519(id: &str) -> Value {
        let x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
        json!({"kty": "OKP", "crv": "Ed25519", "x": x, "kid": id})
    }

    fn read(keys: &[Value]) -> Result<KeySet, KeySetError> {
        KeySet::read(json!({"keys": keys}).to_string().as_bytes())
    }

    #[test]
    fn a_key_is_found_by_its_id_and_algorithm() {
        let keys = read(&[ed25519("a"), ed25519("b")]).unwrap();
        assert!(keys.find(Some("a"), Algorithm::EdDSA).is_some());
        assert!(keys.find(Some("c"), Algorithm::EdDSA).is_none());
        assert!(keys.find(Some("a"), Algorithm::ES256).is_none());
    }

    #[test]
    fn a_token_without_a_key_id_needs_exactly_one_key_of_its_algorithm() {
        let keys = read(&[ed25519("a")]).unwrap();
        assert!(keys.find(None, Algorithm::EdDSA).is_some());
        let keys = read(&[ed25519("a"), ed25519("b")]).unwrap();
        assert!(keys.find(None, Algorithm::EdDSA).is_none());
    }

    #[test]
    fn keys_for_other_purposes_and_shared_secrets_are_skipped() {
        let with = |name: &str, value: Value| {
            let mut key = ed25519("a");
            key[name] = value;
            key
        };
        let skipped = [
            with("use", json!("enc")),
            with("key_ops", json!(["sign"])),
            with("alg", json!("HS256")),
            with("crv", json!("X25519")),
            json!({"kty": "oct", "k": "c2VjcmV0", "kid": "a"}),
            json!({"kty": "AKP", "alg": "ML-DSA-44", "pub": "AA", "kid": "a"}),
            json!({"kty": "EC", "crv": "secp256k1", "x": "AA", "y": "AA"}),
            json!("a"),
        ];
        for key in skipped {
            let alone = read(std::slice::from_ref(&key)).err();
            assert_eq!(alone, Some(KeySetError::Empty), "{key}");
            let keys = read(&[key, ed25519("b")]).unwrap();
            assert_eq!(keys.keys.len(), 1);
        }
        let kept = [
            with("use", json!("sig")),
            with("key_ops", json!(["verify"])),
        ];
        assert_eq!(read(&kept).unwrap().keys.len(), 2);
    }

    #[test]
    fn the_number_of_keys_is_limited() {
        let many = vec![ed25519("a"); KEYS_MAX + 1];
        let refused = read(&many).err();
        assert_eq!(refused, Some(KeySetError::Count(KEYS_MAX + 1)));
        for document in ["", "[]", "{}", r#"{"keys": 1}"#] {
            let refused = KeySet::read(document.as_bytes()).err();
            assert_eq!(refused, Some(KeySetError::Syntax), "{document}");
        }
    }
}
