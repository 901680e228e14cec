//! Lanes of first uses, as far as the trace before the wave at hand says.
//!
//! Resolving is one thread's, and where containers are many it mostly waits for memory. What is defined only grows
//! and never changes its meaning, so decoders look up what there is while others do the same; resolving does the rest.

use crate::decode::Decoder;
use crate::decode::context::split_lane_context;
use crate::decode::decoded::{Decoded, Foreseen, Noted};
use crate::decode::symbols::Symbol;
use crate::model::Model;
use crate::names::ids::TypeId;

impl Decoder {
    /// Looks up the lanes that a block uses for the first time, in the order in which that is noted. Not in damaged
    /// traces, where a name may yet get another meaning.
    pub(crate) fn foresee(&self, model: &Model, decoded: &mut Decoded) {
        let Decoded { noted, foreseen, .. } = decoded;
        foreseen.clear();
        if self.asked.recovers {
            return;
        }
        let lanes = noted.iter().filter_map(|(_, noted)| match noted {
            Noted::Lane(lane, hash) => Some((*lane, *hash)),
            _ => None,
        });
        model.expect(lanes.clone().map(|(_, hash)| hash), std::iter::empty());
        // The types of a trace are few, or come up one after the other.
        let mut types = [None::<(Symbol, Option<TypeId>)>; 8];
        foreseen.extend(lanes.map(|(lane, hash)| {
            let (container, context) = self.symbols.lanes.get(lane);
            let Some(container) = model.containers.find_hashed(container.text, hash) else {
                return Foreseen::Nothing;
            };
            let (symbol, nature) = split_lane_context(context);
            let known = &mut types[symbol as usize % 8];
            let type_ = match *known {
                Some((same, type_)) if same == symbol => type_,
                _ => model.types.find(self.symbols.types.get(symbol).0.text),
            };
            *known = Some((symbol, type_));
            let type_ = type_.filter(|type_| model.types.nature(*type_) == nature);
            let lane = type_.and_then(|type_| model.find_lane(container, type_));
            lane.map_or(Foreseen::Container(container), Foreseen::Lane)
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::decoded::Foreseen::{Container, Lane, Nothing};
    use crate::decode::partitioning::Partitioning;
    use crate::model::Effects;
    use crate::names::ids::{ContainerId, LaneId};
    use crate::names::options::Options;
    use paje_parser::{DefTable, Line, LineDecoder, TypeNature};
    use splitter::{Block, Blocks, Limits};

    const HEADER: &str = "\
%EventDef PajeDefineContainerType 0\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineStateType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineVariableType 2\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeCreateContainer 3\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
%EventDef PajePopState 4\n% Time date\n% Type string\n% Container string\n%EndEventDef
0 P 0\n1 S P\n2 V P\n3 0 a P 0\n3 0 b P 0\n";

    /// A block of some lines, foreseen by a model of the header.
    fn foreseen(lines: &str, options: &Options) -> Vec<Foreseen> {
        let mut model = Model::new(options.value_names);
        let mut known = LineDecoder::after(DefTable::new(options.field_names));
        for line in HEADER.lines() {
            if let Line::Event(event) = known.line(line.as_bytes()).expect("a line") {
                let event = event.decode().expect("an event");
                model.apply(&event, 0, &mut Effects::default()).expect("all is well");
            }
        }
        model.lane(b"a", b"S", TypeNature::State).expect("a lane");
        let text = format!("{HEADER}{lines}");
        let mut block = Block::default();
        let read = Blocks::new(text.as_bytes(), Limits::default()).read(&mut block);
        assert!(read.expect("a block"));
        let mut decoder = Decoder::new(options, Partitioning::for_workers(1), false);
        let mut decoded = Decoded::default();
        decoder.decode(&block, &DefTable::new(options.field_names), true, &mut decoded);
        decoder.foresee(&model, &mut decoded);
        decoded.foreseen
    }

    #[test]
    fn what_was_there_is_foreseen() {
        // A lane, its container, one of another nature than the type's, one of a type that is yet to come, and a container
        // that is.
        let lines = "4 1 S b\n4 1 S a\n4 1 V a\n4 1 W a\n4 1 S c\n4 1 S a\n";
        let mut options = Options::default();
        let known = |number| Container(ContainerId(number));
        let expected = [known(2), Lane(LaneId(0)), known(1), known(1), Nothing];
        assert_eq!(foreseen(lines, &options), expected);
        options.recover = true;
        assert_eq!(foreseen(lines, &options), []);
    }
}
