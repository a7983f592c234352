//! The service itself.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Entry point of the API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Index {
    /// Name of the service.
    #[schema(example = "kindsight")]
    pub name: String,
    /// Version of the service.
    #[schema(example = "0.1.0")]
    pub version: String,
    /// Path of the OpenAPI document.
    #[schema(example = "/openapi.json")]
    pub openapi: String,
}
