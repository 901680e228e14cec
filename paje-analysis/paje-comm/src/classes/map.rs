//! Maps from state values to classes, in TOML.
//!
//! ```toml
//! # State types of the message-passing library. Their unlisted values are `other`; those of other types `compute`.
//! types = ["MY_MPI"]
//! # Types of links that are messages. Default: all links between containers with such states.
//! links = ["MY_LINK"]
//! # Values whose sends are a rendezvous: the sender waits for the receiver.
//! rendezvous = ["my_ssend"]
//! # Rendezvous threshold in bytes.
//! eager = 65536
//!
//! # The first pattern that matches the whole name applies.
//! [classes]
//! my_send = "send"
//! "my_i{send,ssend}" = "send"
//! "my_wait*" = "wait"
//! ```

use std::path::Path;
use std::{fmt, fs, io};

use paje_sim::{Glob, Trace, TypeNature, ValueId};
use toml::{Table, Value};

use super::Class;

/// Map from the names of state values to classes.
#[derive(Clone, Debug)]
pub struct Map {
    name: String,
    types: Vec<Glob>,
    links: Option<Vec<Glob>>,
    rendezvous: Vec<Glob>,
    eager: Option<u64>,
    ignore_case: bool,
    classes: Vec<(Glob, Class)>,
}

/// Error for a text that is not a valid [`Map`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapError(String);

impl Map {
    /// Names of the built-in maps.
    pub const BUILT_IN: [&str; 2] = ["mpi", "starpu"];

    /// Returns a built-in map: `mpi` (for SimGrid's SMPI, Akypuera and OTF2 converters) or
    /// `starpu`.
    #[must_use]
    pub fn built_in(name: &str) -> Option<Map> {
        let text = match name {
            "mpi" => include_str!("mpi.toml"),
            "starpu" => include_str!("starpu.toml"),
            _ => return None,
        };
        Some(Map::parse(name, text).expect("built-in maps are valid"))
    }

    /// Parses a map in TOML. `name` is the name of the map in messages.
    ///
    /// # Errors
    /// Fails if the text is not TOML or not a valid map.
    pub fn parse(name: &str, text: &str) -> Result<Map, MapError> {
        let table: Table =
            text.parse().map_err(|error: toml::de::Error| MapError(error.to_string()))?;
        let ignore_case = match table.get("ignore-case") {
            None => false,
            Some(Value::Boolean(yes)) => *yes,
            Some(other) => return Err(wrong("ignore-case", other, "true or false")),
        };
        let globs = |key| globs(&table, key, ignore_case);
        let mut map = Map {
            name: name.to_owned(),
            types: globs("types")?.unwrap_or_default(),
            links: globs("links")?,
            rendezvous: globs("rendezvous")?.unwrap_or_default(),
            eager: None,
            ignore_case,
            classes: Vec::new(),
        };
        for (key, value) in &table {
            match (key.as_str(), value) {
                ("types" | "links" | "rendezvous" | "ignore-case", _) => {}
                ("eager", Value::Integer(bytes)) => {
                    let bytes = u64::try_from(*bytes);
                    map.eager = Some(bytes.map_err(|_| wrong("eager", value, "0 or more bytes"))?);
                }
                ("eager", _) => return Err(wrong("eager", value, "a number of bytes")),
                ("classes", Value::Table(classes)) => {
                    for (pattern, class) in classes {
                        map.classes.push((glob(pattern, ignore_case)?, class_of(pattern, class)?));
                    }
                }
                ("classes", _) => return Err(wrong("classes", value, "a table")),
                _ => {
                    let keys = "classes, types, links, rendezvous, eager, ignore-case";
                    return Err(MapError(format!(
                        "`{key}` is not a key of a map; keys are {keys}"
                    )));
                }
            }
        }
        match map.classes.is_empty() {
            true => Err(MapError(
                "a map needs a table `[classes]`, such as `MPI_Send = \"send\"`".into(),
            )),
            false => Ok(map),
        }
    }

    /// Returns the built-in map with this name. If there is no such map, reads the map in the file
    /// with this name.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is not a valid map.
    pub fn open(path: &Path) -> io::Result<Map> {
        if let Some(map) = path.to_str().and_then(Map::built_in) {
            return Ok(map);
        }
        let text = fs::read_to_string(path)?;
        let map = Map::parse(&path.display().to_string(), &text);
        map.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// Returns the built-in map that contains the most state values of the trace, or `mpi` if
    /// several maps contain equally many.
    #[must_use]
    pub fn of_trace(trace: &Trace) -> Map {
        let maps = Map::BUILT_IN.into_iter().filter_map(Map::built_in);
        let best = maps.rev().max_by_key(|map| known(trace, map));
        best.expect("there are built-in maps")
    }

    /// Explains why no states of a trace have a class. `option` sets another map, such as `--map FILE`.
    #[must_use]
    pub fn unknown(&self, trace: &Trace, option: &str) -> String {
        if trace.counts().states == 0 {
            return "the trace has no states; record the calls that send, receive and wait".into();
        }
        let name = self.name();
        format!("the map `{name}` knows none of the state values; choose another one with {option}")
    }

    /// Returns the name of a built-in map, or the file name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the class of a value if a pattern matches it.
    #[must_use]
    pub fn class(&self, value: &[u8]) -> Option<Class> {
        let value = self.folded(value);
        self.classes.iter().find(|(glob, _)| glob.matches(&value)).map(|(_, class)| *class)
    }

    /// Returns the class of unlisted values of a state type.
    #[must_use]
    pub fn fallback(&self, type_: &[u8]) -> Class {
        if self.names(type_) { Class::Other } else { Class::Compute }
    }

    /// Returns whether the map names this state type as a type of the message-passing library.
    #[must_use]
    pub fn names(&self, type_: &[u8]) -> bool {
        matches(&self.types, &self.folded(type_))
    }

    /// Returns whether links of the type with this name are messages.
    #[must_use]
    pub fn is_message(&self, type_: &[u8]) -> bool {
        self.links.as_deref().is_none_or(|links| matches(links, &self.folded(type_)))
    }

    /// Returns whether states with this value always send by rendezvous, regardless of the size.
    #[must_use]
    pub fn is_rendezvous(&self, value: &[u8]) -> bool {
        matches(&self.rendezvous, &self.folded(value))
    }

    /// Returns the rendezvous threshold in bytes, if the map has one.
    #[must_use]
    pub fn eager(&self) -> Option<u64> {
        self.eager
    }

    fn folded(&self, name: &[u8]) -> Vec<u8> {
        if self.ignore_case { name.to_ascii_lowercase() } else { name.to_vec() }
    }
}

fn known(trace: &Trace, map: &Map) -> usize {
    let types = trace.types();
    let states = types.ids().filter(|id| types.nature(*id) == TypeNature::State);
    let values =
        states.flat_map(|id| (0..types.value_count(id) as u32).map(move |v| (id, ValueId(v))));
    values.filter(|(id, value)| map.class(types.value_name(*id, *value).text).is_some()).count()
}

fn matches(globs: &[Glob], name: &[u8]) -> bool {
    globs.iter().any(|glob| glob.matches(name))
}

fn glob(pattern: &str, ignore_case: bool) -> Result<Glob, MapError> {
    let folded = if ignore_case { pattern.to_ascii_lowercase() } else { pattern.to_owned() };
    folded
        .parse()
        .map_err(|error| MapError(format!("`{pattern}` is not a valid pattern:  {error}")))
}

fn globs(table: &Table, key: &str, ignore_case: bool) -> Result<Option<Vec<Glob>>, MapError> {
    let Some(value) = table.get(key) else { return Ok(None) };
    let list = value.as_array().ok_or_else(|| wrong(key, value, "a list of names"))?;
    let one = |item: &Value| {
        let pattern = item.as_str().ok_or_else(|| wrong(key, item, "a name in quotes"))?;
        glob(pattern, ignore_case)
    };
    list.iter().map(one).collect::<Result<_, _>>().map(Some)
}

fn class_of(pattern: &str, class: &Value) -> Result<Class, MapError> {
    let names = Class::ALL.map(Class::name).join(", ");
    let found = class.as_str().and_then(Class::from_name);
    found.ok_or_else(|| wrong(pattern, class, &format!("one of {names}")))
}

fn wrong(key: &str, value: &Value, right: &str) -> MapError {
    MapError(format!("`{key} = {value}`: expected {right}"))
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.trim_end())
    }
}

impl std::error::Error for MapError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::Collective;

    fn class(map: &Map, value: &str) -> Option<Class> {
        map.class(value.as_bytes())
    }

    #[test]
    fn every_spelling_of_mpi_is_known() {
        let map = Map::built_in("mpi").expect("a map");
        let collective = Class::Collective;
        let cases = [
            ("PMPI_Send", Class::Send),
            ("MPI_Isend", Class::Send),
            ("action_Irecv", Class::Recv),
            ("MPI_Recv", Class::Recv),
            ("PMPI_Sendrecv", Class::SendRecv),
            ("PMPI_Waitall", Class::Wait),
            ("action_wait", Class::Wait),
            ("PMPI_Test", Class::Wait),
            ("action_allReduce", collective(Collective::NxN)),
            ("MPI_Alltoallv", collective(Collective::NxN)),
            ("PMPI_Reduce_scatter", collective(Collective::NxN)),
            ("PMPI_Bcast", collective(Collective::OneToN)),
            // Nonblocking ones return at once.
            ("PMPI_Ibcast", Class::Other),
            ("MPI_Iallreduce", Class::Other),
            ("MPI_Scatterv", collective(Collective::OneToN)),
            ("action_reduce", collective(Collective::NToOne)),
            ("MPI_Gather", collective(Collective::NToOne)),
            ("MPI_Barrier", collective(Collective::Barrier)),
            ("PMPI_Exscan", collective(Collective::Scan)),
            ("MPI_File_read_all", Class::Io),
            ("MPI_Comm_rank", Class::Other),
            ("PMPI_Finalize", Class::Other),
            ("smpi_replay_run_init", Class::Other),
            ("computing", Class::Compute),
        ];
        for (value, expected) in cases {
            assert_eq!(class(&map, value), Some(expected), "{value}");
        }
        assert_eq!(class(&map, "main"), None);
        assert_eq!(class(&map, "XMPI_Send"), None);
        assert_eq!(
            (map.fallback(b"MPI_STATE"), map.fallback(b"STATE")),
            (Class::Other, Class::Compute)
        );
        assert!(map.is_rendezvous(b"PMPI_Ssend") && !map.is_rendezvous(b"PMPI_Send"));
        assert!(map.is_message(b"MPI_LINK") && map.is_message(b"LINK"));
    }

    #[test]
    fn workers_of_starpu_are_known() {
        let map = Map::built_in("starpu").expect("a map");
        assert_eq!(class(&map, "Sleeping"), Some(Class::Wait));
        assert_eq!(class(&map, "Scheduling"), Some(Class::Other));
        assert_eq!(class(&map, "dgemm"), None);
        assert_eq!(map.fallback(b"Worker State"), Class::Compute);
    }

    #[test]
    fn the_first_pattern_in_the_file_decides() {
        let text = "[classes]\nb = \"send\"\n\"*\" = \"other\"\na = \"recv\"\n";
        let map = Map::parse("mine", text).expect("a map");
        let found = ["b", "a", "z"].map(|value| class(&map, value));
        assert_eq!(found, [Some(Class::Send), Some(Class::Other), Some(Class::Other)]);
        assert_eq!(map.name(), "mine");
    }

    #[test]
    fn errors_name_what_was_expected() {
        let message = |text| Map::parse("mine", text).expect_err("no map").to_string();
        let lists = "compute, send, recv, sendrecv, wait, nxn, 1xn, nx1, barrier, scan, io, other";
        assert_eq!(
            message("[classes]\na = \"sends\""),
            format!("`a = \"sends\"`: expected one of {lists}")
        );
        assert!(message("[classes]\na = \n").contains("line 2, column 5"));
        assert_eq!(
            message("class = 1\n[classes]\na = \"send\""),
            "`class` is not a key of a map; keys are classes, types, links, rendezvous, eager, ignore-case"
        );
        assert!(message("").contains("needs a table `[classes]`"));
        assert_eq!(
            message("eager = -1\n[classes]\na = \"send\""),
            "`eager = -1`: expected 0 or more bytes"
        );
        assert_eq!(
            message("links = \"x\"\n[classes]\na = \"send\""),
            "`links = \"x\"`: expected a list of names"
        );
        assert!(
            message("[classes]\n\"a[\" = \"send\"").starts_with("`a[` is not a valid pattern:  ")
        );
    }
}
