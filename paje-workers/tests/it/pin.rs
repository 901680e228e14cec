//! The texts that say where workers run.

use paje_workers::Pin;
use proptest::prelude::*;

#[test]
fn texts() {
    for (text, pin) in [
        ("none", Pin::None),
        ("compact", Pin::Compact),
        ("scatter", Pin::Scatter),
        ("numa", Pin::Numa(vec![])),
        ("numa:1", Pin::Numa(vec![1])),
        ("numa:0,1", Pin::Numa(vec![0, 1])),
        ("numa:3,0-2", Pin::Numa(vec![3, 0, 1, 2])),
        ("0", Pin::List(vec![0])),
        ("0,2,4-7", Pin::List(vec![0, 2, 4, 5, 6, 7])),
        ("9,1", Pin::List(vec![9, 1])),
    ] {
        assert_eq!(text.parse(), Ok(pin.clone()));
        assert_eq!(pin.to_string(), text);
    }
    assert_eq!(Pin::default(), Pin::None);
}

#[test]
fn errors_say_what_would_be_right() {
    const WORD: &str = "is no place for workers; say none, compact, scatter, numa, numa:NODES or \
                        CPUS, where lists are like 0,2,4-7";
    const CPUS: &str = "CPUs are listed like 0,2,4-7";
    const NODES: &str = "NUMA nodes are listed like numa:0,2, and numa means all";
    for (text, message) in [
        ("", format!("`` {WORD}")),
        ("Compact", format!("`Compact` {WORD}")),
        ("numa0", format!("`numa0` {WORD}")),
        ("-3", format!("`-3` {WORD}")),
        ("0-", format!("`` is no number; {CPUS}")),
        ("3x", format!("`3x` is no number; {CPUS}")),
        ("7-4", format!("`7-4` goes backwards; {CPUS}")),
        ("0,1,0", format!("0 is named twice; {CPUS}")),
        ("0-70000", format!("the list has more than 65536 numbers; {CPUS}")),
        ("numa:", format!("the list is empty; {NODES}")),
        ("numa:all", format!("`all` is no number; {NODES}")),
    ] {
        assert_eq!(text.parse::<Pin>().unwrap_err().to_string(), message);
    }
}

proptest! {
    #[test]
    fn what_is_written_reads_back(
        numbers in proptest::collection::hash_set(0..300_u32, 1..100), ascending: bool, numa: bool,
    ) {
        let mut numbers: Vec<u32> = numbers.into_iter().collect();
        if ascending {
            numbers.sort_unstable();
        }
        let pin = if numa {
            Pin::Numa(numbers)
        } else {
            Pin::List(numbers.into_iter().map(|cpu| cpu as usize).collect())
        };
        prop_assert_eq!(pin.to_string().parse(), Ok(pin));
    }

    #[test]
    fn no_text_panics(text in "(numa:)?[0-9,x-]{0,20}") {
        if let Ok(pin) = text.parse::<Pin>() {
            prop_assert_eq!(pin.to_string().parse(), Ok(pin));
        }
    }
}
