//! The header lines of `-h`.

use paje_sim::{LaneView, Row, Selection, Step, Trace, TypeNature};

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
    /// Creates the header of selected rows in this style. If not all rows are selected, the line of
    /// containers, too, appears only before the first row of its nature.
    #[must_use]
    pub fn new(style: Style, selection: &Selection) -> Self {
        let mut header = Header::of_one(style);
        if selection.is_everything() {
            header.meet_containers();
        }
        header
    }

    pub(super) fn of_one(style: Style) -> Self {
        Header { style, natures: Vec::new(), text: Vec::new() }
    }

    /// Returns the lines that precede these steps of a dump and have not been returned before.
    pub fn lines(&mut self, trace: &Trace, steps: impl Iterator<Item = Step>) -> Vec<u8> {
        for step in steps {
            if self.natures.len() == 5 {
                break;
            }
            match step {
                Step::Container(_) if !self.met(TypeNature::Container) => self.meet_containers(),
                Step::Type(container, type_) if !self.met(trace.types().nature(type_)) => {
                    trace.lane(container, type_).into_iter().for_each(|lane| self.meet(lane));
                }
                _ => {}
            }
        }
        std::mem::take(&mut self.text)
    }

    fn met(&self, nature: TypeNature) -> bool {
        self.natures.contains(&nature)
    }

    fn meet_containers(&mut self) {
        self.meet_nature(TypeNature::Container, []);
    }

    /// Adds the line of a lane's nature, if a row of the lane is wanted.
    fn meet(&mut self, lane: LaneView<'_>) {
        let is_wanted = |row: &Row<'_>| {
            let (start, end) = (row.start(), row.end());
            !end.is_nan() && self.style.wants(start, end)
        };
        let nature = lane.nature();
        match lane.rows().find(is_wanted) {
            None | Some(Row::Container(_)) => {}
            Some(Row::State(row)) => self.meet_nature(nature, row.fields()),
            Some(Row::Variable(row)) => self.meet_nature(nature, row.fields()),
            Some(Row::Event(row)) => self.meet_nature(nature, row.fields()),
            Some(Row::Link(row)) => self.meet_nature(nature, row.fields()),
        }
    }

    fn meet_nature<'f>(
        &mut self,
        nature: TypeNature,
        fields: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    ) {
        self.text.extend_from_slice(columns(nature, self.style.quotes).as_bytes());
        for (name, _) in fields {
            self.text.extend_from_slice(b", ");
            self.text.extend_from_slice(name.as_bytes());
        }
        self.text.push(b'\n');
        self.natures.push(nature);
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
