//! Evenness of pieces.

use std::collections::BTreeSet;

use datasets::Shape;

use crate::plain::Plain;
use crate::splitting::Place;

/// No piece exceeds 1.2 times the mean, unless a single container does.
#[test]
fn no_piece_is_much_larger_than_others() {
    let mut even = 0;
    for shape in Shape::ALL.into_iter().filter(|shape| shape.is_sorted()) {
        for seed in 0..3 {
            let trace = datasets::generate(shape, 200_000, seed);
            let (place, plain) = (Place::new(&trace), Plain::new(&trace));
            let total: usize = plain.bytes.values().sum();
            let largest = plain.bytes.values().max().copied().unwrap_or(0);
            for count in [2, 3, 5, 8, 20] {
                // A large last container may make a piece exceed the limit.
                if largest as f64 > total as f64 / count as f64 * 0.2 {
                    continue;
                }
                let split = place.split(&["--no-warnings", "-p", &count.to_string()], 1 << 17);
                assert_eq!(split.pieces.len(), count, "{shape}");
                let bytes = plain
                    .owns(&split)
                    .into_iter()
                    .map(|own| own.iter().filter_map(|name| plain.bytes.get(name)).sum::<usize>());
                let most = bytes.max().unwrap_or(0);
                let share = most as f64 / (total as f64 / count as f64);
                assert!(share <= 1.2, "{shape}, seed {seed}: {share} of {count} pieces");
                even += 1;
            }
        }
    }
    assert!(even > 20, "{even}");
}

#[test]
fn piece_size_determines_the_number_of_pieces() {
    let trace = datasets::generate(Shape::ManyContainers, 200_000, 1);
    let place = Place::new(&trace);
    let bytes = trace.len();
    for (size, count) in [(bytes, 1), (bytes - 1, 2), (bytes / 4 + 1, 4), (bytes / 20 + 1, 20)] {
        let split = place.split(&["--piece-size", &size.to_string()], 1 << 17);
        assert_eq!(split.pieces.len(), count, "{size}");
    }
    assert_eq!(place.split(&["--piece-size", "1M"], 1 << 17).pieces.len(), 1);
}

#[test]
fn children_stay_with_their_container() {
    let mut trace = String::from(
        "%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef\n\
         %EventDef PajeDefineStateType 2\n% Name string\n% Type string\n%EndEventDef\n\
         %EventDef PajeCreateContainer 3\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef\n\
         %EventDef PajeSetState 4\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef\n\
         1 Host 0\n1 Process Host\n2 S Process\n",
    );
    for host in 0..4 {
        trace += &format!("3 0 h{host} Host 0\n");
        for process in 0..5 {
            trace += &format!("3 0 p{host}{process} Process h{host}\n");
            (0..9).for_each(|time| trace += &format!("4 {time} S p{host}{process} v\n"));
        }
    }
    let (place, plain) = (Place::new(trace.as_bytes()), Plain::new(trace.as_bytes()));
    for count in [2, 4] {
        let split = place.split(&["-p", &count.to_string()], 1 << 17);
        let owns = plain.owns(&split);
        assert_eq!(owns.len(), count);
        for own in &owns {
            let hosts: BTreeSet<&str> = own.iter().map(|name| &name[1..2]).collect();
            assert_eq!((hosts.len(), own.len()), (4 / count, 24 / count), "{own:?}");
        }
    }
    // With four hosts of four processes, five pieces require that some hosts are divided.
    assert_eq!(plain.owns(&place.split(&["-p", "5"], 1 << 17)).len(), 5);
}
