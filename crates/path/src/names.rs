//! One way to spell the names of fieldless enums.

/// Gives an enum `ALL`, `name` and `from_name`, so that scenario files, records
/// and error messages use one list of spellings.
macro_rules! named {
    ($type:ident { $($variant:ident => $name:literal),+ $(,)? }) => {
        impl $type {
            /// Every variant, in the order they are listed.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The spelling used in scenarios and results.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }

            /// The variant of that name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|variant| variant.name() == name)
            }

            /// Every name, in the order of [`Self::ALL`].
            pub fn names() -> impl Iterator<Item = &'static str> {
                Self::ALL.iter().map(|variant| variant.name())
            }
        }
    };
}

pub(crate) use named;
