//! Contents of a trace as text, for comparisons.

use std::convert::Infallible;

use paje_sim::{
    ContainerId, Events, Lane, Links, NameOrder, States, Step, Trace, Variables, Visitor,
};

/// Every object of a trace in output order, with all bits of its numbers.
#[derive(Default)]
pub(crate) struct Listing(Vec<String>);

impl Listing {
    pub(crate) fn of(trace: &Trace) -> Vec<String> {
        let mut listing = Listing::default();
        match trace.visit(NameOrder::Bare, &mut listing) {
            Ok(()) => listing.0,
        }
    }

    pub(crate) fn of_steps(trace: &Trace, steps: impl Iterator<Item = Step>) -> Vec<String> {
        let mut listing = Listing::default();
        for step in steps {
            let Ok(()) = match step {
                Step::Container(id) => listing.container(trace, id),
                Step::Type(container, type_) => match trace.lane(container, type_) {
                    Some(lane) => lane.visit(&mut listing),
                    None => Ok(()),
                },
            };
        }
        listing.0
    }

    fn push(&mut self, lane: Lane<'_>, object: impl std::fmt::Debug) {
        let container = lane.trace().containers().identifier(lane.container()).text;
        let type_ = lane.trace().types().identifier(lane.type_id()).text;
        self.0.push(format!("{container:?} {type_:?} {object:?}"));
    }
}

impl Visitor for Listing {
    type Error = Infallible;

    fn container(&mut self, trace: &Trace, id: ContainerId) -> Result<(), Infallible> {
        let all = trace.containers();
        let (start, end) = (all.start(id).to_bits(), all.end(id).to_bits());
        self.0.push(format!("{:?} {start:x} {end:x}", all.identifier(id).text));
        Ok(())
    }

    fn states(&mut self, lane: Lane<'_>, states: States<'_>) -> Result<(), Infallible> {
        for (i, value) in states.value.iter().enumerate() {
            let times = (states.start[i].to_bits(), states.end[i].to_bits(), states.imbrication[i]);
            // In a portion, a state without an end is still open.
            if !states.end[i].is_nan() {
                let fields: Vec<_> = states.user_defined.of(i).collect();
                self.push(lane, (times, lane.value_name(*value), fields));
            }
        }
        Ok(())
    }

    fn variables(&mut self, lane: Lane<'_>, variables: Variables<'_>) -> Result<(), Infallible> {
        for (i, value) in variables.value.iter().enumerate() {
            let times = (variables.start[i].to_bits(), variables.end(i).to_bits());
            let fields: Vec<_> = variables.user_defined.of(i).collect();
            self.push(lane, (times, value.to_bits(), fields));
        }
        Ok(())
    }

    fn events(&mut self, lane: Lane<'_>, events: Events<'_>) -> Result<(), Infallible> {
        for (i, (time, value)) in events.time.iter().zip(events.value).enumerate() {
            let fields: Vec<_> = events.user_defined.of(i).collect();
            self.push(lane, (time.to_bits(), lane.value_name(*value), fields));
        }
        Ok(())
    }

    fn links(&mut self, lane: Lane<'_>, links: Links<'_>) -> Result<(), Infallible> {
        for (i, value) in links.value.iter().enumerate() {
            let times = (links.start[i].to_bits(), links.end[i].to_bits());
            let ends = (links.from[i], links.to[i], links.raw_key(i));
            let fields: Vec<_> = links.user_defined.of(i).collect();
            self.push(lane, (times, lane.value_name(*value), ends, fields));
        }
        Ok(())
    }
}
