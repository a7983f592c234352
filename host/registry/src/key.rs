//! Keys of signatures: ECDSA with P-256, and Ed25519.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_ASN1_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair as _, UnparsedPublicKey,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{PrivatePkcs8KeyDer, SubjectPublicKeyInfoDer};
use zeroize::Zeroizing;

use crate::limits::PEM_BYTES_MAX;

/// The beginning of a `SubjectPublicKeyInfo` of a P-256 key (RFC 5480): the algorithm, then an
/// uncompressed point of 65 bytes.
const P256_PREFIX: &[u8] = &[
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
/// Size of an uncompressed point of P-256, in bytes.
const P256_BYTES: usize = 65;
/// The beginning of a `SubjectPublicKeyInfo` of an Ed25519 key (RFC 8410): the algorithm, then 32
/// bytes.
const ED25519_PREFIX: &[u8] = &[
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];
/// Size of an Ed25519 key, in bytes.
const ED25519_BYTES: usize = 32;

/// A public key, for the verification of signatures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    /// The file, for messages.
    path: PathBuf,
    algorithm: Algorithm,
    bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Algorithm {
    P256,
    Ed25519,
}

/// A private key, for signatures.
pub struct SigningKey {
    pair: Pair,
    path: PathBuf,
}

enum Pair {
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

/// The reason why a file is not a usable key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file cannot be read.
    #[error("the key {} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file has no key of a supported sort.
    #[error("{} is not a usable key: {why}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// The problem, and what is expected.
        why: String,
    },
    /// The system has no random numbers.
    #[error("the signature could not be made with the key {}", path.display())]
    NotSigned {
        /// The file.
        path: PathBuf,
    },
}

impl PublicKey {
    /// Reads a PEM file with a public key of ECDSA P-256 (as `cosign.pub`) or Ed25519.
    ///
    /// # Errors
    /// The file cannot be read, or has no such key.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let pem = read(path)?;
        let key =
            SubjectPublicKeyInfoDer::from_pem_slice(&pem).map_err(|_| KeyError::Unusable {
                path: path.to_owned(),
                why: "expected the PEM of a public key, `-----BEGIN PUBLIC KEY-----`".to_owned(),
            })?;
        let of = |prefix: &[u8], length: usize| {
            let bytes = key.strip_prefix(prefix)?;
            (bytes.len() == length).then(|| bytes.to_vec())
        };
        let p256 = of(P256_PREFIX, P256_BYTES).map(|bytes| (Algorithm::P256, bytes));
        let ed25519 = || Some((Algorithm::Ed25519, of(ED25519_PREFIX, ED25519_BYTES)?));
        let (algorithm, bytes) = p256.or_else(ed25519).ok_or_else(|| KeyError::Unusable {
            path: path.to_owned(),
            why: "expected a key of ECDSA P-256 or Ed25519".to_owned(),
        })?;
        Ok(Self {
            path: path.to_owned(),
            algorithm,
            bytes,
        })
    }

    /// Returns whether a signature of a message is valid. An ECDSA signature is in ASN.1 and signs
    /// the SHA-256 of the message.
    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let verified = match self.algorithm {
            Algorithm::P256 => UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, &self.bytes)
                .verify(message, signature),
            Algorithm::Ed25519 => {
                UnparsedPublicKey::new(&ED25519, &self.bytes).verify(message, signature)
            }
        };
        verified.is_ok()
    }

    /// The file of the key.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The `SubjectPublicKeyInfo`.
    fn der(&self) -> Vec<u8> {
        let prefix = match self.algorithm {
            Algorithm::P256 => P256_PREFIX,
            Algorithm::Ed25519 => ED25519_PREFIX,
        };
        [prefix, &self.bytes].concat()
    }

    /// The name of a key in the bundles of cosign: the Base64 of the SHA-256 of the
    /// `SubjectPublicKeyInfo`.
    pub(crate) fn hint(&self) -> String {
        let digest = ring::digest::digest(&ring::digest::SHA256, &self.der());
        BASE64_STANDARD.encode(digest)
    }
}

impl SigningKey {
    /// Reads a PEM file with a private key of ECDSA P-256 or Ed25519, in PKCS#8 and not encrypted.
    ///
    /// # Errors
    /// The file cannot be read, or has no such key.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let pem = Zeroizing::new(read(path)?);
        let unusable = |why: &str| KeyError::Unusable {
            path: path.to_owned(),
            why: why.to_owned(),
        };
        let key = PrivatePkcs8KeyDer::from_pem_slice(&pem)
            .map_err(|_| unusable(other_private_key(&pem)))?;
        let key = key.secret_pkcs8_der();
        let random = SystemRandom::new();
        let p256 = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, key, &random);
        let pair = match p256 {
            Ok(pair) => Pair::P256(pair),
            Err(_) => Ed25519KeyPair::from_pkcs8_maybe_unchecked(key)
                .map(Pair::Ed25519)
                .map_err(|_| unusable("expected a key of ECDSA P-256 or Ed25519 in PKCS#8"))?,
        };
        Ok(Self {
            pair,
            path: path.to_owned(),
        })
    }

    /// Signs a message.
    ///
    /// # Errors
    /// [`KeyError::NotSigned`].
    pub(crate) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        match &self.pair {
            Pair::P256(pair) => {
                let signature = pair.sign(&SystemRandom::new(), message);
                let signature = signature.map_err(|_| KeyError::NotSigned {
                    path: self.path.clone(),
                })?;
                Ok(signature.as_ref().to_vec())
            }
            Pair::Ed25519(pair) => Ok(pair.sign(message).as_ref().to_vec()),
        }
    }

    /// The public key.
    pub fn public(&self) -> PublicKey {
        let (algorithm, bytes) = match &self.pair {
            Pair::P256(pair) => (Algorithm::P256, pair.public_key().as_ref()),
            Pair::Ed25519(pair) => (Algorithm::Ed25519, pair.public_key().as_ref()),
        };
        PublicKey {
            path: self.path.clone(),
            algorithm,
            bytes: bytes.to_vec(),
        }
    }
}

/// The advice for a PEM file without an unencrypted PKCS#8 key.
fn other_private_key(pem: &[u8]) -> &'static str {
    let text = String::from_utf8_lossy(pem);
    if text.contains("ENCRYPTED") {
        return "it is encrypted, which is not supported; expected PKCS#8 without a password: `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256` makes one, and `cosign import-key-pair` makes a key of it for cosign";
    }
    if text.contains("EC PRIVATE KEY") {
        return "expected PKCS#8: `openssl pkcs8 -topk8 -nocrypt -in FILE` converts it";
    }
    if text.contains("PUBLIC KEY") {
        return "it is a public key, and a private key is needed";
    }
    "expected the PEM of a private key in PKCS#8, `-----BEGIN PRIVATE KEY-----`"
}

fn read(path: &Path) -> Result<Vec<u8>, KeyError> {
    let unreadable = |source| KeyError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(PEM_BYTES_MAX)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    Ok(bytes)
}
