//! Tests that the main shape is a possible run: ranks only do what MPI allows, and no message is
//! too fast.

use std::collections::HashMap;

use datasets::{Shape, generate};

const LATENCY: u64 = 20;

#[derive(Debug, Default)]
struct Rank<'a> {
    open: Vec<&'a str>,
    begun: Vec<&'a str>,
    /// Start of the outermost open state.
    since: u64,
    time: HashMap<&'a str, u64>,
    iterations: u32,
    traffic: u64,
}

/// Replays a trace line by line, and checks that the run is possible.
fn run(trace: &str) -> Vec<Rank<'_>> {
    let mut values: HashMap<&str, &str> = HashMap::new();
    let mut ranks: Vec<Rank> = Vec::new();
    let mut links: HashMap<&str, (u64, &str)> = HashMap::new();
    let mut latest = 0;
    for line in trace.lines().filter(|line| !line.starts_with('%')) {
        let fields: Vec<&str> = line.split(' ').collect();
        let index = |field: usize| fields[field].parse::<usize>().expect(line) - 1;
        let event: u32 = fields[0].parse().expect(line);
        if event == 5 {
            values.insert(fields[1], fields[3]);
        }
        if event < 6 {
            continue;
        }
        let time: u64 = fields[1].replace('.', "").parse().expect(line);
        assert!(time >= latest, "{line}: times go backwards");
        latest = time;
        match event {
            6 => ranks.push(Rank::default()),
            7 => assert_eq!(ranks[index(3)].open, [""; 0], "{line}: a state is open"),
            8 => {}
            9 | 10 => {
                let (rank, bytes) =
                    (&mut ranks[index(3)], fields[4].parse::<f64>().expect(line) as u64);
                let under_way = rank.traffic.checked_add_signed(match event {
                    9 => bytes as i64,
                    _ => -(bytes as i64),
                });
                rank.traffic = under_way.expect(line);
            }
            11 | 12 => {
                let rank = &mut ranks[index(3)];
                let value = values[fields[4]];
                assert_eq!(rank.begun.is_empty(), value == "PMPI_Init", "{line}");
                assert_ne!(rank.begun.last(), Some(&"PMPI_Finalize"), "{line}");
                assert!(event == 12 || rank.open.is_empty(), "{line}: a state is open");
                if rank.open.is_empty() {
                    rank.since = time;
                }
                rank.open.push(value);
                rank.begun.push(value);
            }
            13 | 14 => {
                let rank = &mut ranks[index(3)];
                let value = rank.open.pop().expect(line);
                if rank.open.is_empty() {
                    *rank.time.entry(value).or_default() += time - rank.since;
                }
                assert!(event == 13 || rank.open.is_empty(), "{line}: a state is open");
            }
            15 | 16 => {
                let inner = *ranks[index(5)].open.last().expect(line);
                let wanted = match (fields[4], event) {
                    ("COLL", _) => ["PMPI_Bcast", "PMPI_Reduce"],
                    (_, 15) => ["PMPI_Send", "PMPI_Sendrecv"],
                    (..) => ["PMPI_Recv", "PMPI_Sendrecv"],
                };
                assert!(wanted.contains(&inner), "{line}: in {inner}");
                if event == 15 {
                    assert_eq!(links.insert(fields[6], (time, fields[4])), None, "{line}");
                } else {
                    let (start, value) = links.remove(fields[6]).expect(line);
                    assert!(time >= start + LATENCY && value == fields[4], "{line}");
                }
            }
            _ => ranks[index(3)].iterations += u32::from(fields[4] == "31"),
        }
    }
    assert!(links.is_empty(), "messages are under way: {links:?}");
    ranks
}

#[test]
fn ranks_behave_like_a_program() {
    for (size, seed) in [(0, 1), (16 << 10, 1), (50_000, 2), (300_000, 3), (2_000_000, 4)] {
        let trace = String::from_utf8(generate(Shape::Mpi, size, seed)).unwrap();
        let ranks = run(&trace);
        assert!(ranks.len() >= 4 && ranks.len().is_multiple_of(2), "{} ranks", ranks.len());
        for rank in &ranks {
            assert_eq!(rank.begun.last(), Some(&"PMPI_Finalize"));
            assert_eq!((rank.iterations, rank.traffic), (ranks[0].iterations, 0));
        }
        assert_eq!(ranks[0].iterations > 0, size > 0);
    }
}

#[test]
fn one_rank_is_slow_and_the_others_wait_for_it() {
    let trace = String::from_utf8(generate(Shape::Mpi, 1_000_000, 5)).unwrap();
    let ranks = run(&trace);
    let computed = |rank: &Rank| rank.time["computing"] / u64::from(rank.iterations);
    let slow = ranks.iter().filter(|rank| computed(rank) > 7000).count();
    assert_eq!(slow, 1);
    for rank in ranks.iter().filter(|rank| computed(rank) < 7000) {
        let waited = rank.time["PMPI_Sendrecv"] + rank.time["PMPI_Allreduce"];
        assert!(waited / u64::from(rank.iterations) > 2000, "{rank:?}");
    }
}
