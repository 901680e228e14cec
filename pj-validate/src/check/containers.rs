use paje_sim::error::Problem;

use super::findings::Group;
use super::register::{Register, Registered};
use super::types;
use crate::finding::Thing;

pub(crate) const ROOT: u32 = 0;

pub(crate) type Containers = Register<Container>;

impl Registered for Container {
    const THING: Thing = Thing::Container;

    fn name(&self) -> &[u8] {
        &self.name
    }

    fn alias(&self) -> Option<&[u8]> {
        self.alias.as_deref()
    }

    fn is_quoted(&self) -> bool {
        self.quoted
    }

    fn quoting(&self, _: u32) -> Group {
        Group::ids("container-quoting", self.type_, 0)
    }

    fn unknown(name: &[u8]) -> (Problem, Group) {
        let problem = Problem::UnknownContainer { name: name.to_vec() };
        (problem, Group::named("unknown-container", 0, name))
    }
}

pub(crate) const NONE: u32 = u32::MAX;

#[derive(Debug)]
pub(crate) struct Container {
    pub(crate) name: Box<[u8]>,
    pub(crate) alias: Option<Box<[u8]>>,
    quoted: bool,
    pub(crate) type_: u32,
    pub(crate) parent: u32,
    pub(crate) start: f64,
    pub(crate) said_in: u32,
    pub(crate) end: Option<f64>,
    /// Container that was destroyed: this one or an ancestor.
    pub(crate) destroyed: u32,
    /// Whether the container was destroyed before any file was named. If so, its lines in all files
    /// are ignored.
    pub(crate) ignored: bool,
    /// Last file that destroys this container. Later lines of the file for the container are
    /// ignored.
    pub(crate) ignored_in: u32,
    pub(crate) first_child: u32,
    pub(crate) next_sibling: u32,
    pub(crate) last_event: Option<f64>,
    /// Children created since the container was last marked as settled.
    pub(crate) children: Vec<u32>,
    pub(crate) links: Vec<u32>,
    /// Whether the container and its descendants were destroyed. If so, it is not among its
    /// parent's children.
    pub(crate) settled: bool,
}

impl Containers {
    pub(crate) fn new() -> Self {
        let mut containers: Containers = Register::default();
        containers.insert(b"0", None, false, types::ROOT, ROOT);
        containers
    }

    #[inline]
    pub(crate) fn type_of(&self, id: u32) -> u32 {
        self.get(id).type_
    }

    pub(crate) fn insert(
        &mut self,
        name: &[u8],
        alias: Option<&[u8]>,
        quoted: bool,
        type_: u32,
        parent: u32,
    ) -> u32 {
        let id = self.add(Container {
            name: name.into(),
            alias: alias.map(Into::into),
            quoted,
            type_,
            parent,
            start: 0.0,
            said_in: 0,
            end: None,
            destroyed: NONE,
            ignored: false,
            ignored_in: NONE,
            first_child: NONE,
            next_sibling: NONE,
            last_event: None,
            children: Vec::new(),
            links: Vec::new(),
            settled: false,
        });
        if id != ROOT {
            let before = std::mem::replace(&mut self.get_mut(parent).first_child, id);
            self.get_mut(id).next_sibling = before;
        }
        // The settled parent has a child again, so the parent's own parent must list it again.
        let (mut child, mut above) = (id, parent);
        while child != ROOT {
            self.get_mut(above).children.push(child);
            if !std::mem::take(&mut self.get_mut(above).settled) {
                break;
            }
            (child, above) = (above, self.get(above).parent);
        }
        id
    }
}
