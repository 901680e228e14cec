//! Contents of a trace as text, for comparisons.

use paje_sim::{Lane, Name, NameOrder, Row, Step, Trace};

/// Lists every object of a trace in output order, with all bits of its numbers.
pub(crate) fn of(trace: &Trace) -> Vec<String> {
    of_steps(trace, trace.walk(NameOrder::Bare))
}

pub(crate) fn of_steps(trace: &Trace, steps: impl Iterator<Item = Step>) -> Vec<String> {
    let (containers, types) = (trace.containers(), trace.types());
    let mut listing = Vec::new();
    for step in steps {
        match step {
            Step::Container(id) => {
                let times = [containers.start(id), containers.end(id)].map(f64::to_bits);
                listing.push(format!("{:?} {times:x?}", containers.identifier(id).text));
            }
            Step::Type(container, type_) => {
                let about = (containers.identifier(container).text, types.identifier(type_).text);
                let rows = trace.lane(container, type_).into_iter().flat_map(Lane::rows);
                listing.extend(rows.filter_map(|row| Some(format!("{about:?} {}", text(row)?))));
            }
        }
    }
    listing
}

fn text(row: Row<'_>) -> Option<String> {
    let times = (row.start().to_bits(), row.end().to_bits());
    let raw = |name: Name<'_>| {
        let mut text = Vec::new();
        name.write_raw(&mut text);
        text
    };
    let (value, fields): (_, Vec<_>) = match row {
        // In a portion, a state without an end is still open.
        Row::State(it) if it.end.is_nan() => return None,
        Row::Container(_) => return None,
        Row::State(it) => {
            (format!("{:?} {}", it.value_name(), it.imbrication), it.fields().collect())
        }
        Row::Variable(it) => (format!("{:x}", it.value.to_bits()), it.fields().collect()),
        Row::Event(it) => (format!("{:?}", it.value_name()), it.fields().collect()),
        Row::Link(it) => {
            let ends = (it.from, it.to, raw(it.key()));
            (format!("{:?} {ends:?}", it.value_name()), it.fields().collect())
        }
    };
    Some(format!("{times:?} {value} {fields:?}"))
}
