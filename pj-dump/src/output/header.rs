//! The header lines of `-h`.

use paje_sim::{
    Annotations, ContainerId, Events, LaneView, Links, Selection, States, Step, Trace, TypeNature,
    Variables, Visitor,
};

use super::{Quotes, Style};

/// Header lines. The line of containers comes first. The other natures follow in the order of their
/// first rows, each with the names of the user-defined fields of its first row.
#[derive(Debug)]
pub struct Header {
    style: Style,
    natures: Vec<TypeNature>,
    text: Vec<u8>,
}

impl Header {
    /// Creates the header of rows in this style.
    #[must_use]
    pub fn new(style: Style) -> Self {
        let mut header = Header { style, natures: Vec::new(), text: Vec::new() };
        // The visitor does not stop here, because this is only the first of five natures.
        let _ = header.meet_containers();
        header
    }

    pub(super) fn of_one(style: Style) -> Self {
        Header { style, natures: Vec::new(), text: Vec::new() }
    }

    /// Adapts the header to selected rows. Then the line of containers, too, appears only before
    /// the first row of its nature.
    #[must_use]
    pub fn selecting(self, selection: &Selection) -> Self {
        match selection.is_everything() {
            true => self,
            false => Header { style: self.style, natures: Vec::new(), text: Vec::new() },
        }
    }

    /// Returns the lines that precede these steps of a dump and have not been returned before.
    pub fn lines(&mut self, trace: &Trace, steps: impl Iterator<Item = Step>) -> Vec<u8> {
        for step in steps {
            let met = match step {
                Step::Container(_) if !self.met(TypeNature::Container) => self.meet_containers(),
                Step::Type(container, type_) if !self.met(trace.types().nature(type_)) => {
                    let lane = trace.lane(container, type_);
                    lane.map_or(Ok(()), |lane| lane.visit(self))
                }
                _ => Ok(()),
            };
            // The visitor stops with an "error" when all natures have occurred.
            if met.is_err() {
                break;
            }
        }
        std::mem::take(&mut self.text)
    }

    fn met(&self, nature: TypeNature) -> bool {
        self.natures.contains(&nature)
    }

    fn meet_containers(&mut self) -> Result<(), Complete> {
        let columns = columns(TypeNature::Container, self.style.quotes);
        self.text.extend_from_slice(columns.as_bytes());
        self.text.push(b'\n');
        self.note(TypeNature::Container)
    }

    fn note(&mut self, nature: TypeNature) -> Result<(), Complete> {
        self.natures.push(nature);
        if self.natures.len() == 5 { Err(Complete) } else { Ok(()) }
    }

    fn meet(
        &mut self,
        nature: TypeNature,
        fields: &Annotations<'_>,
        i: usize,
    ) -> Result<(), Complete> {
        self.text.extend_from_slice(columns(nature, self.style.quotes).as_bytes());
        for (name, _) in fields.of(i) {
            self.text.extend_from_slice(b", ");
            self.text.extend_from_slice(name.as_bytes());
        }
        self.text.push(b'\n');
        self.note(nature)
    }

    fn first(&self, mut rows: impl Iterator<Item = (f64, f64)>) -> Option<usize> {
        rows.position(|(start, end)| !end.is_nan() && self.style.wants(start, end))
    }
}

pub(super) const fn columns(nature: TypeNature, quotes: Quotes) -> &'static str {
    match nature {
        TypeNature::Container => "Container, Parent, Type, Start, End, Duration, Name",
        TypeNature::State => "State, Container, Type, Start, End, Duration, Imbrication, Value",
        TypeNature::Variable => "Variable, Container, Type, Start, End, Duration, Value",
        // These names do not fit the row, but PajeNG's releases print them.
        TypeNature::Event if matches!(quotes, Quotes::Strip) => {
            "Event, Container, Variable, Value, Start, Value"
        }
        TypeNature::Event => "Event, Container, Type, Time, Value",
        TypeNature::Link => {
            "Link, Container, Type, Start, End, Duration, Value, StartContainer, EndContainer"
        }
    }
}

fn intervals<'a>(start: &'a [f64], end: &'a [f64]) -> impl Iterator<Item = (f64, f64)> + 'a {
    start.iter().copied().zip(end.iter().copied())
}

/// All natures have occurred.
#[derive(Debug)]
pub struct Complete;

impl Visitor for Header {
    type Error = Complete;

    fn container(&mut self, _: &Trace, _: ContainerId) -> Result<(), Complete> {
        Ok(())
    }

    fn states(&mut self, _: LaneView<'_>, states: States<'_>) -> Result<(), Complete> {
        if self.met(TypeNature::State) {
            return Ok(());
        }
        match self.first(intervals(states.start, states.end)) {
            Some(i) => self.meet(TypeNature::State, &states.user_defined, i),
            None => Ok(()),
        }
    }

    fn variables(&mut self, _: LaneView<'_>, variables: Variables<'_>) -> Result<(), Complete> {
        if self.met(TypeNature::Variable) {
            return Ok(());
        }
        let rows = variables.start.iter().enumerate().map(|(i, start)| (*start, variables.end(i)));
        match self.first(rows) {
            Some(i) => self.meet(TypeNature::Variable, &variables.user_defined, i),
            None => Ok(()),
        }
    }

    fn events(&mut self, _: LaneView<'_>, events: Events<'_>) -> Result<(), Complete> {
        if self.met(TypeNature::Event) {
            return Ok(());
        }
        match self.first(intervals(events.time, events.time)) {
            Some(i) => self.meet(TypeNature::Event, &events.user_defined, i),
            None => Ok(()),
        }
    }

    fn links(&mut self, _: LaneView<'_>, links: Links<'_>) -> Result<(), Complete> {
        if self.met(TypeNature::Link) {
            return Ok(());
        }
        match self.first(intervals(links.start, links.end)) {
            Some(i) => self.meet(TypeNature::Link, &links.user_defined, i),
            None => Ok(()),
        }
    }
}
