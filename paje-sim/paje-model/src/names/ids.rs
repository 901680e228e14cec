//! Numbers of the objects of a trace. They start at 0 and follow the order of definition.

use bytemuck::{Pod, Zeroable};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
        #[repr(transparent)]
        pub struct $name(#[doc(hidden)] pub u32);

        impl $name {
            /// Returns the number as an index.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// A type. [`TypeId::ROOT`] is the type of the root container.
    TypeId
}
id! {
    /// A container. [`ContainerId::ROOT`] is the root, which every trace has.
    ContainerId
}
id! {
    /// A value within its type.
    ValueId
}
id! {
    /// A lane: the objects of one type in one container.
    LaneId
}

impl TypeId {
    /// The type `0`.
    pub const ROOT: TypeId = TypeId(0);
}

impl ContainerId {
    /// The container `0`.
    pub const ROOT: ContainerId = ContainerId(0);
}
