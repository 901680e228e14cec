//! Containers with their names, their place in the tree, and their rows.

use std::fmt;

use crate::nearest::nearest;
use crate::trace::Trace;
use crate::trace::lane::Lane;
use crate::trace::rows::State;
use paje_model::memory::LineNumber;
use paje_model::names::ids::{ContainerId, TypeId};
use paje_model::names::text::Name;

/// A container of a trace.
#[derive(Clone, Copy)]
pub struct Container<'t> {
    trace: &'t Trace,
    id: ContainerId,
}

impl<'t> Container<'t> {
    /// Returns the container's number.
    #[must_use]
    pub const fn id(self) -> ContainerId {
        self.id
    }

    /// Returns the name that rows print.
    #[must_use]
    pub fn name(self) -> Name<'t> {
        self.trace.containers().name(self.id)
    }

    /// Returns the alias, if the creation gave one.
    #[must_use]
    pub fn alias(self) -> Option<Name<'t>> {
        self.trace.containers().alias(self.id)
    }

    /// Returns the names of the container and its ancestors below the root, separated by `/`. [`Trace::container`]
    /// finds the container by this path.
    #[must_use]
    pub fn path(self) -> String {
        let above = self.parent().filter(|parent| parent.id != ContainerId::ROOT);
        above.map_or(String::new(), |parent| parent.path() + "/") + &self.name().to_str_lossy()
    }

    /// Returns the container's type.
    #[must_use]
    pub fn type_id(self) -> TypeId {
        self.trace.containers().type_of(self.id)
    }

    /// Returns the name of the container's type.
    #[must_use]
    pub fn type_name(self) -> Name<'t> {
        self.trace.types().name(self.type_id())
    }

    /// Returns the container that contains this container. The root has no parent.
    #[must_use]
    pub fn parent(self) -> Option<Container<'t>> {
        let id = self.trace.containers().parent(self.id);
        (self.id != ContainerId::ROOT).then_some(Container { id, ..self })
    }

    /// Returns the containers in this container, in the order of their creation.
    pub fn children(self) -> impl Iterator<Item = Container<'t>> {
        self.trace.containers().children(self.id).map(move |id| Container { id, ..self })
    }

    /// Returns the time of the creation in the [unit of the trace](Trace::time_scale), or 0 for the root.
    #[must_use]
    pub fn start(self) -> f64 {
        self.trace.containers().start(self.id)
    }

    /// Returns the time of the end in the [unit of the trace](Trace::time_scale): the destruction of the container or an
    /// ancestor, or the end of the trace.
    #[must_use]
    pub fn end(self) -> f64 {
        self.trace.containers().end(self.id)
    }

    /// Returns the container's lanes, in the order of their first events. Lanes of its children are not included.
    pub fn lanes(self) -> impl Iterator<Item = Lane<'t>> {
        self.trace.lanes_of(self.id)
    }

    /// Returns the container's states, lane after lane.
    pub fn states(self) -> impl Iterator<Item = State<'t>> {
        self.lanes().flat_map(Lane::states)
    }

    /// Returns the user-defined fields of the creation: name, and text as written. Empty if the replay did not
    /// keep them (`TraceReader::fields`).
    pub fn fields(self) -> impl Iterator<Item = (&'t str, &'t [u8])> {
        self.trace.container_fields(self.id)
    }

    /// Returns the line that created the container, if the replay kept lines (`TraceReader::lines`). The root has none.
    #[must_use]
    pub fn line(self) -> Option<LineNumber> {
        self.trace.container_line(self.id)
    }
}

impl fmt::Debug for Container<'_> {
    /// Does not format the trace, which may be long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Container").field(&self.path()).finish()
    }
}

/// Reason why a text names no container, or several. It is shown as a sentence with the nearest names.
#[derive(Clone, PartialEq, Eq)]
pub struct NoContainer(String);

impl fmt::Display for NoContainer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Shows the message, because a `main` that returns an error prints it in this form.
impl fmt::Debug for NoContainer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoContainer {}

impl Trace {
    /// Returns the root container, which contains all others.
    #[must_use]
    pub const fn root(&self) -> Container<'_> {
        self.container_view(ContainerId::ROOT)
    }

    /// Returns the container with this number.
    #[must_use]
    pub const fn container_view(&self, id: ContainerId) -> Container<'_> {
        Container { trace: self, id }
    }

    /// Finds a container by its name, its alias, or its path. A path has the names or aliases of the containers from
    /// the outermost on, separated by `/`. Looks at all containers.
    ///
    /// # Errors
    /// No container has this name, alias or path, or several have it.
    pub fn container(&self, wanted: &str) -> Result<Container<'_>, NoContainer> {
        let all = self.containers();
        let is = |name: Name<'_>| name.text == wanted.as_bytes();
        let named = |id: &ContainerId| is(all.name(*id)) || all.alias(*id).is_some_and(is);
        let mut found: Vec<ContainerId> = all.ids().skip(1).filter(named).collect();
        let mut open = vec![(ContainerId::ROOT, wanted.as_bytes())];
        while let Some((parent, path)) = open.pop().filter(|_| wanted.contains('/')) {
            for id in all.children(parent) {
                for name in [Some(all.name(id)), all.alias(id)].into_iter().flatten() {
                    match path.strip_prefix(name.text) {
                        Some([]) if !found.contains(&id) => found.push(id),
                        Some([b'/', rest @ ..]) if !rest.is_empty() => open.push((id, rest)),
                        _ => {}
                    }
                }
            }
        }
        match found[..] {
            [id] => Ok(self.container_view(id)),
            [] => {
                let names = all.ids().skip(1).map(|id| all.name(id).text);
                let hint = nearest(wanted.as_bytes(), names);
                Err(NoContainer(format!("the trace has no container '{wanted}'; {hint}")))
            }
            [one, other, ..] => {
                let [one, other] = [one, other].map(|id| self.container_view(id).path());
                let count = found.len();
                Err(NoContainer(format!(
                    "'{wanted}' names {count} containers, such as {one} and {other}; give an alias or a path"
                )))
            }
        }
    }
}
