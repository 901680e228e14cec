//! Enumerations whose variants have names on command lines.

use std::error::Error;
use std::fmt;

/// Error for a text that is not the name of a variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseNameError {
    pub(crate) name: String,
    pub(crate) known: Vec<&'static str>,
}

impl fmt::Display for ParseNameError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "unknown name `{}`; expected one of {}", self.name, self.known.join(", "))
    }
}

impl Error for ParseNameError {}

/// Defines an enumeration with `ALL`, `name`, `Display` and `FromStr`.
macro_rules! named {
    ($(#[$enum_meta:meta])* $vis:vis $enum:ident { $($(#[$meta:meta])* $variant:ident $name:literal,)+ }) => {
        $(#[$enum_meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis enum $enum {
            $($(#[$meta])* $variant,)+
        }

        impl $enum {
            /// All variants.
            $vis const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Returns the name for command lines, file names and messages.
            $vis fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.name())
            }
        }

        impl std::str::FromStr for $enum {
            type Err = $crate::ParseNameError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.into_iter().find(|variant| variant.name() == text);
                found.ok_or_else(|| $crate::ParseNameError {
                    name: text.to_owned(),
                    known: Self::ALL.map(Self::name).to_vec(),
                })
            }
        }
    };
}

pub(crate) use named;
