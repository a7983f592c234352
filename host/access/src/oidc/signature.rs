//! The verification of signatures by `ring`, for `jsonwebtoken`.
//!
//! `jsonwebtoken` has back ends for AWS-LC and for the crates of `RustCrypto`. With this back end, the binary has one
//! implementation of cryptography: `ring`, which TLS uses too. The back end only verifies, and has no HMAC, because
//! issuers share no secret with kindsight.

use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature::{self, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind};
use ring::signature as ring;

/// The back end. All its other functions return an error.
static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(ErrorKind::UnsupportedAlgorithm.into()),
    verifier_factory: |algorithm, key| verifier(*algorithm, key),
    key_utils: KeyUtils {
        rsa_pub_components_from_private_key: |_| Err(ErrorKind::UnsupportedAlgorithm.into()),
        rsa_pub_components_from_public_key: |_| Err(ErrorKind::UnsupportedAlgorithm.into()),
        ec_pub_components_from_private_key: |_, _| Err(ErrorKind::UnsupportedAlgorithm.into()),
        ed_pub_components_from_private_key: |_, _| Err(ErrorKind::UnsupportedAlgorithm.into()),
        compute_digest: |_, _| Err(ErrorKind::UnsupportedAlgorithm.into()),
    },
};

/// Makes this process use the back end. `jsonwebtoken` panics without one.
pub(super) fn install() {
    // Fails if it is installed already.
    let _ = PROVIDER.install_default();
}

/// A public key with the one algorithm of a token.
struct RingVerifier {
    algorithm: Algorithm,
    scheme: Scheme,
    key: DecodingKey,
}

/// An algorithm, as `ring` names it.
enum Scheme {
    Rsa(&'static ring::RsaParameters),
    Other(&'static dyn ring::VerificationAlgorithm),
}

fn verifier(algorithm: Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    if key.family() != algorithm.family() {
        return Err(ErrorKind::InvalidAlgorithm.into());
    }
    Ok(Box::new(RingVerifier {
        algorithm,
        scheme: scheme(algorithm).ok_or(ErrorKind::UnsupportedAlgorithm)?,
        key: key.clone(),
    }))
}

fn scheme(algorithm: Algorithm) -> Option<Scheme> {
    Some(match algorithm {
        Algorithm::RS256 => Scheme::Rsa(&ring::RSA_PKCS1_2048_8192_SHA256),
        Algorithm::RS384 => Scheme::Rsa(&ring::RSA_PKCS1_2048_8192_SHA384),
        Algorithm::RS512 => Scheme::Rsa(&ring::RSA_PKCS1_2048_8192_SHA512),
        Algorithm::PS256 => Scheme::Rsa(&ring::RSA_PSS_2048_8192_SHA256),
        Algorithm::PS384 => Scheme::Rsa(&ring::RSA_PSS_2048_8192_SHA384),
        Algorithm::PS512 => Scheme::Rsa(&ring::RSA_PSS_2048_8192_SHA512),
        Algorithm::ES256 => Scheme::Other(&ring::ECDSA_P256_SHA256_FIXED),
        Algorithm::ES384 => Scheme::Other(&ring::ECDSA_P384_SHA384_FIXED),
        Algorithm::EdDSA => Scheme::Other(&ring::ED25519),
        _ => return None,
    })
}

impl Verifier<Vec<u8>> for RingVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let verified = match (&self.scheme, self.key.kind()) {
            (Scheme::Rsa(parameters), DecodingKeyKind::RsaModulusExponent { n, e }) => {
                ring::RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            (Scheme::Other(algorithm), DecodingKeyKind::SecretOrDer(key)) => {
                ring::UnparsedPublicKey::new(*algorithm, key).verify(message, signature)
            }
            _ => return Err(signature::Error::new()),
        };
        verified.map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for RingVerifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}
