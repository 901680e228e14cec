//! Turns the definitions of an archive into containers, types and values.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::archive::Archive;
use crate::definitions::{Definition, Definitions, definition};
use crate::error::Error;
use crate::paje::{LINKS, is_made_from_paje, properties};
use crate::ranks::Ranks;
use crate::record::UNDEFINED;
use crate::table::Reference;
use crate::text::Seconds;

/// A container for a node of the system tree, a location group or a location.
#[derive(Debug)]
pub(crate) struct Container {
    /// Letter of its identifier.
    pub(crate) letter: &'static [u8],
    pub(crate) id: u64,
    /// Index of its type.
    pub(crate) type_: u32,
    /// Index of its parent container.
    pub(crate) parent: Option<u32>,
    pub(crate) name: Vec<u8>,
}

/// A type of containers.
#[derive(Debug)]
pub(crate) struct ContainerType {
    /// Index of its parent type.
    pub(crate) parent: Option<u32>,
    pub(crate) name: Vec<u8>,
}

/// The containers, types and values of the trace.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) containers: Vec<Container>,
    pub(crate) types: Vec<ContainerType>,
    /// Index of each type, by its parent and name.
    known_types: FxHashMap<(Option<u32>, Vec<u8>), u32>,
    /// State types: the type of their containers, and their name.
    pub(crate) states: Vec<(u32, Vec<u8>)>,
    /// Index of the container of each location, and index of the type of its states.
    pub(crate) locations: FxHashMap<u64, (u32, u32)>,
    /// For each communicator that is named after a type of links, the container that they belong to.
    pub(crate) links: FxHashMap<u64, u32>,
    /// Whether the archive was made from a Pajé trace: see [`writer`](crate::writer).
    pub(crate) is_paje: bool,
    /// For each region, the first region that is equal to it.
    pub(crate) regions: FxHashMap<u64, u64>,
    /// For each metric instance, the container of its scope, and the only location that records it.
    pub(crate) scopes: FxHashMap<u64, (u32, u64)>,
    /// Names of the communicators. They are unique, unless the archive was made from a Pajé trace.
    pub(crate) comms: FxHashMap<u64, Vec<u8>>,
    pub(crate) ranks: Ranks,
    pub(crate) seconds: Seconds,
}

const NODE: &[u8] = b"N";
const GROUP: &[u8] = b"G";
const LOCATION: &[u8] = b"L";

impl Model {
    /// Builds the model from an archive's definitions. Adds to the faults if the system tree has a
    /// cycle.
    pub(crate) fn new(archive: &Archive, faults: &mut Vec<Error>) -> Model {
        let all = archive.definitions();
        let mut model = Model {
            containers: Vec::new(),
            types: Vec::new(),
            known_types: FxHashMap::default(),
            states: Vec::new(),
            locations: FxHashMap::default(),
            links: FxHashMap::default(),
            is_paje: is_made_from_paje(archive.anchor()),
            regions: regions(all),
            scopes: FxHashMap::default(),
            comms: comms(all, is_made_from_paje(archive.anchor())),
            ranks: Ranks::new(all),
            seconds: Seconds::new(all.clock()),
        };
        let mut places = FxHashMap::default();
        if model.is_paje {
            // Node 0 is the root of the Pajé trace, which has no definition.
            let root = ContainerType { parent: None, name: Vec::new() };
            model.types.push(root);
            let root = model.add((b"", 0), 0, None, b"0".to_vec());
            places.insert((Reference::SystemTreeNode, 0), root);
        }
        model.add_nodes(archive, &mut places, faults);
        if model.is_paje {
            model.add_stacks(archive, &places);
            let place = |node| places.get(&(Reference::SystemTreeNode, node)).copied();
            let links = properties(all, LINKS);
            model.links = links.filter_map(|(node, comm)| Some((comm, place(node)?))).collect();
            return model;
        }
        model.add_groups(all, &mut places);
        model.add_locations(archive, &places);
        model.make_names_unique();
        model.add_scopes(all, &places);
        model
    }

    fn type_of(&mut self, parent: Option<u32>, name: &[u8]) -> u32 {
        let parent = parent.map(|parent| self.containers[parent as usize].type_);
        let parent = parent.filter(|type_| !self.is_root(*type_));
        *self.known_types.entry((parent, name.to_owned())).or_insert_with_key(|(parent, name)| {
            self.types.push(ContainerType { parent: *parent, name: name.clone() });
            self.types.len() as u32 - 1
        })
    }

    /// Returns whether a type is that of the root of a Pajé trace.
    pub(crate) const fn is_root(&self, type_: u32) -> bool {
        self.is_paje && type_ == 0
    }

    fn add(
        &mut self,
        (letter, id): (&'static [u8], u64),
        type_: u32,
        parent: Option<u32>,
        name: Vec<u8>,
    ) -> u32 {
        self.containers.push(Container { letter, id, type_, parent, name });
        self.containers.len() as u32 - 1
    }

    /// Adds the nodes of the system tree, each after its parent.
    fn add_nodes(&mut self, archive: &Archive, places: &mut Places, faults: &mut Vec<Error>) {
        let all = archive.definitions();
        let nodes = all.of(definition::SYSTEM_TREE_NODE);
        let mut circular: FxHashSet<u64> = FxHashSet::default();
        for it in nodes.filter(|it| all.is_last(it, Reference::SystemTreeNode)) {
            let (mut above, mut met) = (vec![it], FxHashSet::from_iter([it.fields[0]]));
            while let Some(last) = above.last()
                && let Some(parent) = all.get(Reference::SystemTreeNode, last.fields[3])
                && !places.contains_key(&(Reference::SystemTreeNode, parent.fields[0]))
            {
                if !met.insert(parent.fields[0]) {
                    circular.extend(met);
                    break;
                }
                above.push(parent);
            }
            if circular.contains(&it.fields[0]) {
                let what = format!("system tree node {} is within itself", it.fields[0]);
                faults.push(Error::other(&archive.path().with_extension("def"), what));
                above.truncate(1);
            }
            for it in above.into_iter().rev() {
                let place = (Reference::SystemTreeNode, it.fields[0]);
                if !places.contains_key(&place) {
                    let parent = places.get(&(Reference::SystemTreeNode, it.fields[3])).copied();
                    let class = all.string(it.fields[2]).filter(|class| !class.is_empty());
                    let type_ = self.type_of(parent, class.unwrap_or(b"Node"));
                    let name = name_of(all, it);
                    places.insert(place, self.add((NODE, it.fields[0]), type_, parent, name));
                }
            }
        }
    }

    fn add_groups(&mut self, all: &Definitions, places: &mut Places) {
        for it in all.of(definition::LOCATION_GROUP) {
            if all.is_last(it, Reference::LocationGroup) {
                let parent = places.get(&(Reference::SystemTreeNode, it.fields[3])).copied();
                let type_: &[u8] = match it.fields[2] {
                    1 => b"Process",
                    2 => b"Accelerator",
                    _ => b"Location group",
                };
                let type_ = self.type_of(parent, type_);
                let place = self.add((GROUP, it.fields[0]), type_, parent, name_of(all, it));
                places.insert((Reference::LocationGroup, it.fields[0]), place);
            }
        }
    }

    fn add_locations(&mut self, archive: &Archive, places: &Places) {
        let all = archive.definitions();
        for id in archive.locations() {
            let Some(it) = all.get(Reference::Location, *id) else { continue };
            let parent = places.get(&(Reference::LocationGroup, it.fields[4])).copied();
            let type_: &[u8] = match it.fields[2] {
                1 => b"Thread",
                2 => b"Accelerator stream",
                3 => b"Metrics",
                _ => b"Location",
            };
            let type_ = self.type_of(parent, type_);
            let mut name = name_of(all, it);
            if let Some(parent) = parent {
                let group = &self.containers[parent as usize].name;
                // Threads of different processes often share a name.
                if !name.starts_with(group) {
                    name = [group, &b"/"[..], &name].concat();
                }
            }
            let place = self.add((LOCATION, *id), type_, parent, name);
            // Each container type has one state type with the same index.
            self.locations.insert(*id, (place, type_));
        }
        self.states = (0..self.types.len() as u32).map(|type_| (type_, b"Region".into())).collect();
    }

    /// Finds the container and the state type of each location of an archive that was made from a
    /// Pajé trace.
    fn add_stacks(&mut self, archive: &Archive, places: &Places) {
        let all = archive.definitions();
        let mut seen: FxHashMap<(u32, &[u8]), u32> = FxHashMap::default();
        let mut known = FxHashMap::default();
        for id in archive.locations() {
            let Some(it) = all.get(Reference::Location, *id) else { continue };
            let group = all.get(Reference::LocationGroup, it.fields[4]);
            let node = group.map_or(UNDEFINED, |group| group.fields[3]);
            let place = places.get(&(Reference::SystemTreeNode, node)).copied().unwrap_or(0);
            let name = all.string(it.fields[1]).unwrap_or_default();
            // A container may have several state types of the same name.
            let number = seen.entry((place, name)).or_default();
            let type_ = self.containers[place as usize].type_;
            let state = *known.entry((type_, name, *number)).or_insert_with(|| {
                self.states.push((type_, name.to_owned()));
                self.states.len() as u32 - 1
            });
            *number += 1;
            self.locations.insert(*id, (place, state));
        }
    }

    /// Appends the identifier to each name that another container already has.
    fn make_names_unique(&mut self) {
        let mut seen = FxHashSet::default();
        for container in &mut self.containers {
            if container.name.is_empty() || seen.contains(&container.name) {
                let number = format!(" <{}{}>", container.letter[0] as char, container.id);
                container.name.extend_from_slice(number.as_bytes());
            }
            seen.insert(container.name.clone());
        }
    }

    /// Finds the metric instances whose values belong to the container of their scope. Only one
    /// location may record values of these members there, so that they are in the order of time.
    fn add_scopes(&mut self, all: &Definitions, places: &Places) {
        let mut recorders: FxHashMap<(u32, u64), FxHashSet<u64>> = FxHashMap::default();
        let instances = all.of(definition::METRIC_INSTANCE);
        let instances: Vec<&Definition> =
            instances.filter(|it| all.is_last(it, Reference::Metric)).collect();
        let members = |it: &Definition| {
            let class = all.get(Reference::Metric, it.fields[1]);
            class.map_or(&[][..], |class| &class.list)
        };
        let place = |it: &Definition| match it.fields[3] {
            0 => self.locations.get(&it.fields[4]).map(|(place, _)| *place),
            1 => places.get(&(Reference::LocationGroup, it.fields[4])).copied(),
            2 => places.get(&(Reference::SystemTreeNode, it.fields[4])).copied(),
            _ => None,
        };
        for it in &instances {
            if let Some(place) = place(it) {
                for member in members(it) {
                    recorders.entry((place, member.value)).or_default().insert(it.fields[2]);
                }
            }
        }
        let mut scopes = FxHashMap::default();
        for it in &instances {
            let Some(place) = place(it) else { continue };
            let is_alone = |member: u64| recorders[&(place, member)].len() == 1;
            // A location's own metrics may have the same members.
            let is_location = self.containers[place as usize].letter == LOCATION;
            if members(it).iter().all(|it| is_alone(it.value)) && !is_location {
                scopes.insert(it.fields[0], (place, it.fields[2]));
            }
        }
        self.scopes = scopes;
    }

    /// Returns the members of a metric class, or of the class of a metric instance.
    pub(crate) fn members<'d>(
        &self,
        all: &'d Definitions,
        metric: u64,
    ) -> impl Iterator<Item = u64> + use<'d> {
        let class = all.get(Reference::Metric, metric).and_then(|it| match it.kind {
            definition::METRIC_INSTANCE => all.get(Reference::Metric, it.fields[1]),
            _ => Some(it),
        });
        class.into_iter().flat_map(|class| class.list.iter().map(|entry| entry.value))
    }

    /// Returns the container of the values of a metric that a location records.
    pub(crate) fn place(&self, metric: u64, location: u64, own: u32) -> u32 {
        match self.scopes.get(&metric) {
            Some((place, recorder)) if *recorder == location => *place,
            _ => own,
        }
    }

    /// Returns the index of a location's container, and the index of the type of its states.
    pub(crate) fn location(&self, location: u64) -> (u32, u32) {
        self.locations.get(&location).copied().unwrap_or_default()
    }

    /// Returns the index of the type of a location's container.
    pub(crate) fn type_of_location(&self, location: u64) -> u32 {
        self.containers[self.location(location).0 as usize].type_
    }

    /// Returns the communicator that is named after the type of a communicator's links, and the
    /// container that they belong to. Archives of other programs have no such communicators.
    pub(crate) fn link_type(&self, all: &Definitions, comm: u64) -> Option<(u64, u32)> {
        let comm = all.get(Reference::Comm, comm).filter(|_| self.is_paje)?;
        self.links.get(&comm.fields[3]).map(|place| (comm.fields[3], *place))
    }

    /// Returns the name of a definition in lines. Names of locations are those of their containers.
    pub(crate) fn name<'d>(
        &'d self,
        all: &'d Definitions,
        reference: Reference,
        id: u64,
    ) -> Option<&'d [u8]> {
        match reference {
            Reference::Comm => self.comms.get(&id).map(Vec::as_slice),
            Reference::Location => {
                self.locations.get(&id).map(|at| self.containers[at.0 as usize].name.as_slice())
            }
            _ => all.name(reference, id),
        }
    }

    /// Returns the index of the container of a location's process.
    pub(crate) fn process(&self, location: u64) -> Option<u32> {
        let (own, _) = *self.locations.get(&location)?;
        if self.is_paje {
            return Some(own);
        }
        Some(self.containers[own as usize].parent.unwrap_or(own))
    }

    /// Returns the first region that equals a region, if the region is defined.
    pub(crate) fn region(&self, id: u64) -> Option<u64> {
        self.regions.get(&id).copied()
    }
}

type Places = FxHashMap<(Reference, u64), u32>;

fn name_of(all: &Definitions, it: &Definition) -> Vec<u8> {
    all.string(it.fields[1]).unwrap_or_default().to_owned()
}

/// Returns the name of each communicator. Appends the identifier to a name that is already used,
/// unless the archive was made from a Pajé trace.
fn comms(all: &Definitions, is_paje: bool) -> FxHashMap<u64, Vec<u8>> {
    let mut seen = FxHashSet::default();
    let mut names = FxHashMap::default();
    for it in all.all.iter().filter(|it| all.is_last(it, Reference::Comm)) {
        let (id, mut name) = (it.fields[0], name_of(all, it));
        if is_paje {
            names.insert(id, name);
            continue;
        }
        if name.is_empty() {
            name = format!("communicator {id}").into_bytes();
        }
        if !seen.insert(name.clone()) {
            name.extend_from_slice(format!(" <C{id}>").as_bytes());
        }
        names.insert(id, name);
    }
    names
}

/// Finds the regions that differ only in their identifiers. EZTrace defines each region once for
/// each process.
fn regions(all: &Definitions) -> FxHashMap<u64, u64> {
    let mut first = FxHashMap::default();
    let mut found = FxHashMap::default();
    for it in all.of(definition::REGION).filter(|it| all.is_last(it, Reference::Region)) {
        let text = |field: usize| all.string(it.fields[field]);
        let texts = [1, 2, 4, 7].map(text);
        let numbers = [5, 6, 8, 9, 10].map(|field| it.fields[field]);
        let id = it.fields[0];
        found.insert(id, *first.entry((texts, numbers)).or_insert(id));
    }
    found
}
