//! A macro for closed sets of words that code, wire, store and tables share.

/// Declares an enum. Each variant has one word for the wire, the store, tables and logs.
///
/// Derives serde and the `OpenAPI` schema from the same word that `as_str` and `Display` give, so the
/// crate that uses it lists `serde` and `utoipa`.
#[macro_export]
macro_rules! words {
    (
        $(#[$about:meta])*
        $name:ident { $($(#[$meaning:meta])* $case:ident = $word:tt,)+ }
    ) => {
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash,
            ::serde::Serialize, ::serde::Deserialize, ::utoipa::ToSchema,
        )]
        $(#[$about])*
        pub enum $name {
            $($(#[$meaning])* #[serde(rename = $word)] $case,)+
        }

        impl $name {
            /// All variants, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$case),+];

            /// The word.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$case => $word,)+
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}
