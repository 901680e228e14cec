//! The targets. Each one checks a property of any input, and panics if it does not hold.

/// Checks one input.
pub type Target = fn(&[u8]);

macro_rules! targets {
    ($($name:ident)*) => {
        $(mod $name;)*

        /// All targets, by name.
        pub const ALL: &[(&str, Target)] = &[$((stringify!($name), $name::run)),*];
    };
}

mod archive;
targets! {
    tokens header decode replay verdict dump parallel traces split convert profile hazards request
    pack unpack otf2 otf2_events whatif globs texts
}
