//! A macro for closed sets of words, declared once for types, parsers and writers.

/// Declares an enum whose variants are words of the contract.
macro_rules! words {
    (
        $(#[$about:meta])*
        $name:ident { $($(#[$meaning:meta])* $case:ident = $word:literal,)+ }
    ) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $(#[$about])*
        pub enum $name {
            $($(#[$meaning])* $case,)+
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

            /// The variant with this word.
            pub fn of(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$case),)+
                    _ => None,
                }
            }

            /// All words, for messages.
            pub(crate) fn words() -> String {
                [$($word),+].join(", ")
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

pub(crate) use words;
