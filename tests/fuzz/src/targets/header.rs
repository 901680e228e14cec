//! Tests that accepted definitions can be written again and read as the same definitions.

use paje_parser::{DefTable, EventDef, FieldNames};

pub fn run(text: &[u8]) {
    let names = [FieldNames::Strict, FieldNames::Old][usize::from(text.len() % 2 == 1)];
    let mut table = DefTable::new(names);
    for line in text.split(|byte| *byte == b'\n') {
        let (before, open) = (table.defs().len(), table.is_open());
        match table.header_line(line) {
            Ok(()) => {
                let ended = table.defs().len() - before;
                assert!(ended <= 1 && table.is_open() == (ended == 0), "{line:?}");
            }
            Err(fault) => {
                let word = fault.word(line);
                assert!(word.start <= word.end && word.end as usize <= line.len(), "{fault:?}");
                assert!(
                    !fault.kind.sentence(&line[word.start as usize..word.end as usize]).is_empty()
                );
                assert!(open || !table.is_open(), "a faulty line starts a definition");
            }
        }
    }
    let mut again = DefTable::new(names);
    for def in table.defs().iter() {
        assert_eq!(table.find(def.id()).map(|index| &*table.defs()[index]), Some(&**def));
        if written(def).iter().all(|line| again.header_line(line).is_ok()) {
            assert_eq!(again.defs().last().map(|again| &**again), Some(&**def));
        } else {
            panic!("{def:?} cannot be written again");
        }
    }
}

/// Returns the lines of a definition. Words are quoted unless they contain quotes. After the
/// percent sign and inside unquoted words, a quote is an ordinary character.
fn written(def: &EventDef) -> Vec<Vec<u8>> {
    let first = [b"%EventDef ", def.kind().name().as_bytes(), b" ", &word(def.id())].concat();
    let mut lines = vec![first];
    for field in def.fields() {
        let kind = format!("{:?}", field.kind).to_lowercase();
        let glue: &[u8] = if field.name.contains('"') { b"%" } else { b"% " };
        lines.push([glue, &word(field.name.as_bytes()), b" ", kind.as_bytes()].concat());
    }
    lines.push(b"%EndEventDef".to_vec());
    lines
}

fn word(text: &[u8]) -> Vec<u8> {
    let quote: &[u8] = if text.contains(&b'"') { b"" } else { b"\"" };
    [quote, text, quote].concat()
}
