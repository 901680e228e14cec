//! Assigns the lines of a trace to files.

use std::collections::{BTreeSet, HashMap};

use super::Style;
use super::lines::{Event, Line, Lines};

pub(super) const ROOT: usize = 0;

#[derive(Debug)]
pub(super) struct Cutter<'a> {
    pub(super) lines: Lines<'a>,
    pub(super) style: Style,
    /// Number of each container, by its name or alias. Containers are numbered in the order of
    /// creation. The root has number 0.
    containers: HashMap<&'a [u8], usize>,
    parents: Vec<usize>,
    pub(super) pieces: usize,
    needed: Vec<BTreeSet<usize>>,
    pub(super) end: &'a [u8],
    pub(super) naming: String,
    pub(super) ending: (String, Vec<&'static str>),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    /// A definition, or a line that is not recognised.
    World,
    Creation(usize),
    Destruction(usize),
    /// An event of the container with this number.
    Of(usize),
}

/// Fields of the PajeDestroyContainer event that ends a piece.
const ENDING: [&str; 3] = ["Time", "Type", "Name"];

impl<'a> Cutter<'a> {
    pub(super) fn new(lines: Lines<'a>, style: Style, pieces: usize) -> Self {
        let mut cutter = Cutter {
            naming: lines.free_number(lines.defs.len()),
            ending: (String::new(), Vec::new()),
            lines,
            style,
            containers: HashMap::from([(&b"0"[..], ROOT)]),
            parents: vec![ROOT],
            pieces: 0,
            needed: Vec::new(),
            end: b"0",
        };
        cutter.find_ending();
        cutter.find_containers();
        let most = cutter.parents.len();
        cutter.pieces = match style {
            // The root container has no PajeCreateContainer that could name a file.
            Style::Filename => pieces.max(1).min(most - 1),
            Style::Full | Style::Bare => pieces.clamp(1, most),
        };
        cutter.find_needs();
        cutter
    }

    pub(super) fn events(&self) -> impl Iterator<Item = &Event<'a>> {
        self.lines.list.iter().filter_map(|line| match line {
            Line::Event(event) => Some(event),
            _ => None,
        })
    }

    /// Uses the trace's definition of PajeDestroyContainer, if it has only the necessary fields.
    fn find_ending(&mut self) {
        let fitting = self.lines.defs.iter().find_map(|def| {
            let order =
                |field: &(&[u8], &[u8])| ENDING.into_iter().find(|name| name.as_bytes() == field.0);
            let order: Option<Vec<&str>> = def.fields.iter().map(order).collect();
            let number = String::from_utf8_lossy(def.number).into_owned();
            let order = order.filter(|order| order.len() == ENDING.len());
            order.filter(|_| def.event == b"DestroyContainer").map(|order| (number, order))
        });
        let own = || (self.lines.free_number(self.lines.defs.len() + 1), ENDING.to_vec());
        self.ending = fitting.unwrap_or_else(own);
    }

    fn find_containers(&mut self) {
        let Cutter { lines, containers, parents, end, .. } = self;
        let mut latest = 0.0;
        for line in &lines.list {
            let Line::Event(event) = line else {
                continue;
            };
            if lines.kind(event) == b"CreateContainer"
                && let Some(identifier) = identifier(lines, event)
            {
                let parent = lines.field(event, "Container").unwrap_or(b"0");
                let parent = containers.get(parent).copied().unwrap_or(ROOT);
                containers.entry(identifier).or_insert_with(|| {
                    parents.push(parent);
                    parents.len() - 1
                });
            }
            let time = lines.field(event, "Time").unwrap_or(b"");
            let seconds = std::str::from_utf8(time).ok().and_then(|time| time.parse::<f64>().ok());
            if let Some(seconds) = seconds.filter(|seconds| *seconds > latest) {
                (latest, *end) = (seconds, time);
            }
        }
    }

    fn find_needs(&mut self) {
        let mut needed = vec![BTreeSet::new(); self.pieces];
        if needed.is_empty() {
            return;
        }
        for container in 0..self.parents.len() {
            needed[self.piece_of(container)].insert(container);
        }
        for event in self.events() {
            let Role::Of(owner) = self.role(event) else {
                continue;
            };
            let ends = ["StartContainer", "EndContainer"].map(|end| self.lines.field(event, end));
            let ends = ends.into_iter().flatten().filter_map(|end| self.containers.get(end));
            needed[self.piece_of(owner)].extend(ends);
        }
        for needs in &mut needed {
            for mut container in needs.clone() {
                while container != ROOT && needs.insert(self.parents[container]) {
                    container = self.parents[container];
                }
            }
        }
        self.needed = needed;
    }

    pub(super) fn piece_of(&self, container: usize) -> usize {
        match (self.style, container) {
            (Style::Filename, ROOT) => 1 % self.pieces,
            _ => container % self.pieces,
        }
    }

    pub(super) fn role(&self, event: &Event<'a>) -> Role {
        let find = |name: Option<&[u8]>| self.containers.get(name?).copied();
        let role = match self.lines.kind(event) {
            b"CreateContainer" => find(identifier(&self.lines, event)).map(Role::Creation),
            b"DestroyContainer" => find(self.lines.field(event, "Name")).map(Role::Destruction),
            kind if kind.starts_with(b"Define") || kind == b"TraceFile" => None,
            _ => find(self.lines.field(event, "Container")).map(Role::Of),
        };
        role.unwrap_or(Role::World)
    }

    pub(super) fn belongs(&self, event: &Event<'a>, piece: usize, whole: bool) -> bool {
        match self.role(event) {
            Role::World => whole,
            Role::Creation(container) => whole && self.needed[piece].contains(&container),
            Role::Destruction(container) => self.needed[piece].contains(&container),
            Role::Of(container) => self.piece_of(container) == piece,
        }
    }
}

fn identifier<'a>(lines: &Lines<'a>, event: &Event<'a>) -> Option<&'a [u8]> {
    let alias = lines.field(event, "Alias").filter(|alias| !alias.is_empty());
    alias.or_else(|| lines.field(event, "Name"))
}
