//! Settings that scenarios choose by name.

/// Declares an enum whose variants have names in scenarios: `name`, `from_name`, `ALL`.
macro_rules! named_enum {
    ($(#[$meta:meta])* $vis:vis enum $type:ident { $($(#[$vmeta:meta])* $variant:ident = $name:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $vis enum $type { $($(#[$vmeta])* $variant),+ }

        impl $type {
            /// Every choice, in the order lists show them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The spelling used in scenarios and results.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// The choice of that name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }

            /// Every name, in the order lists show them.
            pub fn names() -> impl Iterator<Item = &'static str> {
                Self::ALL.iter().map(|choice| choice.name())
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

pub(crate) use named_enum;
