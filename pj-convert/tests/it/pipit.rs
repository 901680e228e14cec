//! Pipit's table, read as Pipit reads it. Each Leave ends the last Enter with the same name on the
//! same thread.

use std::collections::{BTreeMap, HashMap};

use paje_sim::Trace;
use pj_convert::{Format, Losses};

use crate::rows::Shown;
use crate::traces::{all, converted_with, options};

fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                word.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => words.push(std::mem::take(&mut word)),
            letter => word.push(letter),
        }
    }
    words.push(word);
    words
}

#[test]
fn every_state_and_event_is_written() {
    for (name, text) in all() {
        let trace = Trace::read(&text[..], &options()).expect("valid");
        let expected = Shown::of(&trace);
        let (file, losses) = converted_with(&text, Format::Pipit, options(), 1);
        let file = String::from_utf8(file).expect("UTF-8");
        let mut lines = file.split_terminator('\n');
        let head = "Timestamp (ns),Event Type,Name,Process,Thread,Container,Type";
        assert_eq!(lines.next(), Some(head));
        let mut rows: Vec<Vec<String>> = lines.map(words).collect();
        assert!(rows.iter().all(|row| row.len() == 7), "{name}");
        let time = |row: &[String]| row[0].parse::<i64>().expect("a number");
        rows.sort_by_key(|row| time(row));
        let mut open: HashMap<(String, String), Vec<(String, i64)>> = HashMap::new();
        let mut states: BTreeMap<(String, String), (u64, i64)> = BTreeMap::new();
        let mut events = Vec::new();
        for row in &rows {
            let process: u32 = row[3].parse().expect("a number");
            assert!((process as usize) < trace.containers().len());
            let stack = open.entry((row[3].clone(), row[4].clone())).or_default();
            match row[1].as_str() {
                "Enter" => stack.push((row[2].clone(), time(row))),
                "Leave" => {
                    let (value, start) = stack.pop().expect("an Enter");
                    assert_eq!(value, row[2], "{name}");
                    let (count, sum) = states.entry((row[6].clone(), value)).or_default();
                    *count += 1;
                    *sum += time(row) - start;
                }
                "Instant" => {
                    events.push((row[5].clone(), row[6].clone(), time(row), row[2].clone()));
                }
                other => panic!("{other}"),
            }
        }
        if losses == Losses::default() {
            events.sort();
            assert_eq!((states, events), (expected.states, expected.events), "{name}");
        }
    }
}
