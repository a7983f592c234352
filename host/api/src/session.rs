//! Sign-in of browsers: the signed-in user, and the methods of sign-in.

use jiff::Timestamp;
use kindsight_model::words;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

words! {
    /// A method with which a browser can sign in.
    SignInMethod {
        /// The user enters a token.
        Token = "token",
        /// The user signs in at the OpenID Connect issuer of the server.
        Oidc = "oidc",
    }
}

words! {
    /// The credential that a request presented.
    PresentedCredential {
        /// A token in a header.
        Header = "header",
        /// The cookie of a signed-in browser.
        Cookie = "cookie",
        /// The client certificate of the connection.
        Certificate = "certificate",
    }
}

/// The user of a request, and the methods of sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Session {
    /// True if the server has access control. Without it, every client may do everything.
    pub access_control: bool,
    /// The name of the user, with the prefix of the method. Omitted without a valid credential.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "token:alice")]
    pub user: Option<String>,
    /// The credential of the request. Omitted without a valid credential.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = PresentedCredential)]
    pub credential: Option<PresentedCredential>,
    /// The time at which the credential expires. Omitted if the server does not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub expires: Option<Timestamp>,
    /// The methods with which a browser can sign in.
    pub sign_in: Vec<SignInMethod>,
    /// The roles that the user has for at least one subject.
    #[schema(value_type = Vec<String>, example = json!(["viewer"]))]
    pub roles: Vec<String>,
}

/// A token with which a browser signs in.
#[derive(Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    /// The token: one of kindsight's own, or one of an issuer that the server accepts.
    pub token: String,
}
