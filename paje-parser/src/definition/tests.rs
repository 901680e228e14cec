use super::*;
use crate::error::Fault;
use crate::error::Instead;
use crate::token;

fn table(header: &str) -> Result<DefTable, (usize, Fault)> {
    let mut table = DefTable::new(FieldNames::Strict);
    for (number, line) in header.lines().enumerate() {
        table.header_line(line.as_bytes()).map_err(|fault| (number + 1, fault))?;
    }
    Ok(table)
}

fn fault(header: &str) -> (usize, u32, FaultKind) {
    let (line, fault) = table(header).expect_err("the header is wrong");
    (line, fault.at, fault.kind)
}

const SET: &str = "%EventDef PajeSetState 11\n% Time date\n%\tType string\n %Container string\n% Value string\n% Size int # bytes\n% Line int\n";

/// Word indices once had sixteen bits, and larger definitions were misread.
#[test]
fn definitions_may_have_more_than_65536_fields() {
    for extras in [65_533, 65_534, 65_535, 65_536, 70_000] {
        let mut table = DefTable::new(FieldNames::Strict);
        let mut line = |line: &str| table.header_line(line.as_bytes()).expect("a definition");
        line("%EventDef PajePopState 1");
        for i in 0..extras {
            line(&format!("% F{i} string"));
        }
        for field in ["Time", "Type", "Container"] {
            line(&format!("% {field} string"));
        }
        line("%EndEventDef");
        let def = &table.defs()[0];
        assert_eq!(def.word_of(FieldName::Time), Some(extras + 1));
        assert_eq!(def.word_of(FieldName::Container), Some(extras + 3));
        assert_eq!(def.needed_words(), extras + 4);
    }
}

#[test]
fn a_definition_is_read() {
    let table = table(&format!("{SET}%EndEventDef\n")).expect("valid");
    assert!(!table.is_open());
    assert_eq!(table.find(b"11"), Some(0));
    assert_eq!(table.find(b"011"), None);
    assert_eq!(table.find(b"1"), None);
    let def = &table.defs()[0];
    assert_eq!((def.kind(), def.id()), (EventKind::SetState, &b"11"[..]));
    assert_eq!(def.word_of(FieldName::Container), Some(3));
    assert_eq!(def.word_of(FieldName::Key), None);
    assert_eq!(def.needed_words(), 5);
    assert_eq!(def.extras().collect::<Vec<_>>(), [("Size", 5)]);
    assert_eq!(def.first_missing(2), FieldName::Type);
}

#[test]
fn event_numbers_are_text() {
    let popped = |id: &str| {
        format!(
            "%EventDef PajePopState {id}\n% Time date\n% Type string\n% Container string\n% EndEventDef\n"
        )
    };
    let header = ["7", "07", "abc", "123456", "999", "1000"].map(popped).concat();
    let table = table(&header).expect("valid");
    for (index, id) in ["7", "07", "abc", "123456", "999", "1000"].iter().enumerate() {
        assert_eq!(table.find(id.as_bytes()), Some(index), "{id}");
    }
    assert_eq!(table.find(b"1001"), None);
}

#[test]
fn old_names_are_read_only_on_request() {
    let header = "%EventDef PajeDefineContainerType 0\n% Alias string\n% ContainerType string\n% Name string\n%EndEventDef";
    assert_eq!(
        fault(header),
        (
            5,
            0,
            FaultKind::MissingObligatory(
                EventKind::DefineContainerType,
                FieldName::Type,
                Instead::OldName
            )
        )
    );
    let mut old = DefTable::new(FieldNames::Old);
    for line in header.lines() {
        old.header_line(line.as_bytes()).expect("valid with old names");
    }
    assert_eq!(old.defs()[0].word_of(FieldName::Type), Some(2));
}

#[test]
fn every_fault_of_a_header_is_reported() {
    use FaultKind as K;
    assert_eq!(fault("%Eventdef PajeSetState 1"), (1, 0, K::ExpectedEventDef));
    assert_eq!(fault("  % Time date"), (1, 2, K::ExpectedEventDef));
    assert_eq!(fault("%"), (1, 0, K::ExpectedEventDef));
    assert_eq!(fault("%EndEventDef"), (1, 0, K::ExpectedEventDef));
    assert_eq!(fault("%EventDef PajeSetState"), (1, 0, K::ExpectedEventDef));
    assert_eq!(fault("%EventDef PajeSetState 1 2"), (1, 0, K::ExpectedEventDef));
    assert_eq!(fault("%EventDef PajeFoo 1"), (1, 10, K::UnknownEvent));
    assert_eq!(fault(&format!("{SET}%EventDef PajePopState 2")), (8, 0, K::NestedDefinition));
    assert_eq!(fault(&format!("{SET}%EndEventDef\n{SET}")), (9, 23, K::RedefinedId));
    assert_eq!(fault(&format!("{SET}% Foo")), (8, 2, K::MissingFieldType));
    assert_eq!(fault(&format!("{SET}% Foo bar")), (8, 6, K::UnknownFieldType));
    assert_eq!(fault(&format!("{SET}% Time date")), (8, 2, K::RepeatedField));
    assert_eq!(
        fault("%EventDef PajePopState 3\n% Time date\n% EndEventDef"),
        (3, 0, K::MissingObligatory(EventKind::PopState, FieldName::Type, Instead::Nothing))
    );
}

#[test]
fn comments_and_quotes_are_read() {
    let header = "%EventDef PajePopState \"3 4\" # three\n% Time date# when\n% Type string junk\n% \"Container\" string\n%EndEventDef#";
    let table = table(header).expect("valid");
    assert_eq!(table.find(b"3 4"), Some(0));
}

/// Returns the expected field, as read by the reference tokeniser.
fn field(text: &str) -> Result<(String, FieldType), FaultKind> {
    let line = format!("% {text}");
    let mut spans = Vec::new();
    token::fields(line.as_bytes(), 0, &mut spans);
    let mut words = spans[1..].iter().map(|span| span.of(line.as_bytes()).bare());
    let name = words.next().ok_or(FaultKind::ExpectedEventDef)?;
    if name.is_empty() {
        return Err(FaultKind::UnnamedField);
    }
    match words.next() {
        None => Err(FaultKind::MissingFieldType),
        Some(b"int") => Ok((String::from_utf8_lossy(name).into_owned(), FieldType::Int)),
        Some(_) => Err(FaultKind::UnknownFieldType),
    }
}

proptest::proptest! {
    #[test]
    fn header_lines_are_split_like_event_lines(text in "(x|y z|\"|\"\"|int|int|[ #\t\r]){0,7}") {
        let mut table = DefTable::new(FieldNames::Strict);
        table.header_line(b"%EventDef PajePopState 1").expect("a definition");
        let line = format!("% {text}");
        let taken = table.header_line(line.as_bytes());
        let found = taken.map_err(|fault| fault.kind).map(|()| {
            let field = &table.open.as_ref().expect("the definition is open").fields[0];
            (field.name.clone(), field.kind)
        });
        proptest::prop_assert_eq!(found, field(&text));
    }
}

/// PajeNG 1.3.6 accepts and refuses the same definitions.
#[test]
fn quotes_in_definitions_are_read_like_quotes_in_events() {
    use FaultKind as K;
    let first = |name: &str| fault(&format!("{SET}{name}"));
    assert_eq!(first("% Type2 string\""), (8, 8, K::UnknownFieldType));
    assert_eq!(first("% Foo\" strin"), (8, 7, K::UnknownFieldType));
    assert_eq!(first("% \"\"  string"), (8, 2, K::UnnamedField));
    assert_eq!(first("%\"x y\" string"), (8, 4, K::UnknownFieldType));
    assert_eq!(first("%EndEventDef\""), (8, 1, K::MissingFieldType));
    assert_eq!(fault("%EventDef PajePopState\" 0"), (1, 10, K::UnknownEvent));
    assert_eq!(fault("%\"EventDef\" PajePopState 0"), (1, 0, K::ExpectedEventDef));
    let table = table(
        "%EventDef PajeNewEvent 0\"\n% a\"b string\n%\"Value\" string\n% Time date\n% \"Type\"\"string\"\n% Container \"string\n% Value string\n% \"EndEventDef\"",
    );
    let table = table.expect("as PajeNG reads it");
    let def = &table.defs()[table.find(b"0\"").expect("event numbers are text")];
    assert_eq!(def.extras().collect::<Vec<_>>(), [("a\"b", 1), ("\"Value\"", 2)]);
}

#[track_caller]
fn kinds(table: &DefTable, ids: &[&str]) -> Vec<Option<EventKind>> {
    let kind = |id: &&str| table.find(id.as_bytes()).map(|index| table.defs()[index].kind());
    ids.iter().map(kind).collect()
}

fn extend(table: &mut DefTable, header: &str) {
    for line in header.lines() {
        table.header_line(line.as_bytes()).expect("the header is valid");
    }
}

const POP: &str =
    "%EventDef PajePopState 4711\n% Time date\n% Type string\n% Container string\n%EndEventDef\n";

#[test]
fn a_file_inherits_the_definitions_of_the_file_that_refers_to_it() {
    use EventKind::{PopState, ResetState, SetState};
    let set = format!("{SET}%EndEventDef\n");
    let naming = table(&format!("{set}{POP}")).expect("valid");
    let mut own = naming.inherit();
    assert!(own.is_inherited() && own.same_numbers(&naming));
    assert_eq!(kinds(&own, &["11", "4711"]), [Some(SetState), Some(PopState)]);
    // The first definition drops the inherited definitions.
    extend(&mut own, &POP.replace("PopState", "ResetState"));
    assert!(!own.is_inherited() && !own.same_numbers(&naming));
    assert_eq!(kinds(&own, &["11", "4711"]), [None, Some(ResetState)]);
    assert_eq!((naming.defs().len(), own.defs().len()), (2, 3));
    // Equal definitions are stored once.
    extend(&mut own, &set);
    assert_eq!((own.find(b"11"), own.defs().len()), (Some(0), 3));
    assert!(!own.is_part_of(&naming) && !naming.is_part_of(&own));
    // Definitions of other files come after the table's own definitions.
    let mut third = naming.inherit();
    third.learn(own.defs());
    extend(&mut third, &POP.replace("PopState", "ResetState"));
    assert_eq!((third.find(b"4711"), third.find(b"11")), (Some(2), None));
}

#[test]
fn a_repeated_header_changes_nothing() {
    let set = format!("{SET}%EndEventDef\n");
    let naming = table(&format!("{set}{POP}")).expect("valid");
    let known = naming.numbering();
    let mut own = naming.inherit();
    assert_eq!(own.numbered_since(&known), Some(2));
    extend(&mut own, POP);
    assert!(!own.same_numbers(&naming));
    assert_eq!(own.numbered_since(&known), None);
    assert!(own.is_part_of(&naming) && !naming.is_part_of(&own));
    extend(&mut own, &set);
    assert!(own.same_numbers(&naming) && !own.is_inherited());
    assert_eq!((own.defs().len(), own.numbered_since(&known)), (2, Some(2)));
    // Two files that continue differently have different numbers.
    let mut other = own.clone();
    extend(&mut own, &POP.replace("4711", "5"));
    extend(&mut other, &POP.replace("4711", "6"));
    let known = own.numbering();
    assert_eq!((own.numbered_since(&known), other.numbered_since(&known)), (Some(3), None));
}

#[test]
fn a_similar_name_for_a_missing_field_is_reported() {
    let instead = |fields: &str| {
        let lines: String = fields.split(' ').map(|field| format!("% {field} string\n")).collect();
        match fault(&format!("%EventDef PajePopState 1\n{lines}%EndEventDef")).2 {
            FaultKind::MissingObligatory(_, field, instead) => (field, instead),
            other => panic!("{other:?}"),
        }
    };
    use FieldName::{Container, Time, Type};
    for (fields, field, wanted) in [
        ("Tme Type Container", Time, Instead::Field(1)),
        ("Type Container time", Time, Instead::Field(3)),
        ("Size Type Container", Time, Instead::Nothing),
        ("Time EntityType Container", Type, Instead::OldName),
        ("Time Typ EntityType Container", Type, Instead::OldName),
        ("Time Type Contaner", Container, Instead::Field(3)),
        ("Time Type Conteiners", Container, Instead::Field(3)),
        ("Time Type Contents", Container, Instead::Nothing),
    ] {
        assert_eq!(instead(fields), (field, wanted), "{fields}");
    }
}
