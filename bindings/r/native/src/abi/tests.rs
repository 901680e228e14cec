use super::*;

const TRACE: &CStr = c"%EventDef PajeDefineContainerType 0
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineStateType 1
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeCreateContainer 2
% Time date
% Alias string
% Type string
% Container string
% Name string
%EndEventDef
%EventDef PajeSetState 3
% Time date
% Container string
% Type string
% Value string
%EndEventDef
0 R 0 rank
1 S R state
2 0.0 r R 0 rank-0
3 0.5 r S busy
3 1.5 r S idle
3 2.0 r S busy
3 4.0 r S idle
";

fn string(text: Text) -> Option<String> {
    if text.bytes.is_null() {
        return None;
    }
    // SAFETY: a text has this length and is valid until the next call.
    let bytes = unsafe { std::slice::from_raw_parts(text.bytes.cast::<u8>(), text.length) };
    Some(String::from_utf8(bytes.to_vec()).expect("UTF-8"))
}

/// Does what the package's C code does, so that Miri can check the module's unsafe code.
#[test]
fn a_table_is_read_as_in_c() {
    let mut reading = paje_new();
    let text = TRACE.to_bytes();
    // SAFETY: the module's rules, which all calls of this test follow.
    unsafe {
        assert_eq!(paje_ask(&mut reading, c"threads".as_ptr(), c"1".as_ptr()), 0);
        assert_eq!(paje_ask(&mut reading, c"threads".as_ptr(), c"many".as_ptr()), 1);
        assert_eq!(paje_set_bytes(&mut reading, text.as_ptr(), text.len()), 0);
    }
    assert_eq!(paje_start(&mut reading), 0);
    while paje_wait(&mut reading, 10) == 0 {}
    assert_eq!(paje_wait(&mut reading, 10), 1);
    assert_eq!(paje_end(&reading), 4.0);
    let (mut read, mut size) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    paje_progress(&reading, &mut read, &mut size);
    // SAFETY: `paje_progress` has written both.
    assert_eq!(
        unsafe { (read.assume_init(), size.assume_init()) },
        (text.len() as f64, text.len() as f64)
    );

    assert_eq!(paje_table(&mut reading, 1), 0, "states");
    let (columns, rows) = (paje_columns(&reading), paje_rows(&reading));
    assert_eq!(rows, 4);
    let mut integers = vec![vec![-1_i32; rows]; columns];
    let mut doubles = vec![vec![-1.0_f64; rows]; columns];
    let kinds: Vec<u32> = (0..columns).map(|c| paje_column_kind(&reading, c)).collect();
    let vectors: Vec<*mut c_void> = (0..columns)
        .map(|column| match kinds[column] {
            1 => doubles[column].as_mut_ptr().cast(),
            0 | 2 => integers[column].as_mut_ptr().cast(),
            _ => std::ptr::null_mut(),
        })
        .collect();
    let batches = paje_batches(&reading);
    // SAFETY: each column has a vector of its kind with `rows` items.
    unsafe {
        assert_eq!(paje_fill(&mut reading, vectors.as_ptr(), 0, batches), 0);
        assert_eq!(paje_finish(&mut reading, vectors.as_ptr()), 0);
    }
    let column = |reading: &mut Reading, name: &str| {
        (0..columns)
            .find(|c| string(paje_column_name(reading, *c)).as_deref() == Some(name))
            .unwrap_or_else(|| panic!("no column {name}"))
    };
    assert_eq!(doubles[column(&mut reading, "Start")], [0.5, 1.5, 2.0, 4.0]);
    assert_eq!(doubles[column(&mut reading, "End")], [1.5, 2.0, 4.0, 4.0]);
    let value = column(&mut reading, "Value");
    let levels = paje_levels(&reading, value);
    let levels: Vec<_> = (0..levels).map(|l| string(paje_level(&reading, value, l))).collect();
    let values: Vec<_> =
        integers[value].iter().map(|code| levels[*code as usize - 1].as_deref()).collect();
    assert_eq!(values, [Some("busy"), Some("idle"), Some("busy"), Some("idle")]);
    paje_free(reading);
}

#[test]
fn an_invalid_trace_is_a_failure() {
    let mut reading = paje_new();
    let text = b"no trace\n";
    // SAFETY: `text` has this length.
    assert_eq!(unsafe { paje_set_bytes(&mut reading, text.as_ptr(), text.len()) }, 0);
    assert_eq!(paje_start(&mut reading), 0);
    while paje_wait(&mut reading, 10) == 0 {}
    assert_eq!(paje_wait(&mut reading, 10), 2);
    assert_eq!(paje_facts(&mut reading, 0), 1);
    let facts: Vec<_> =
        (0..9).filter_map(|field| string(paje_fact(&mut reading, 0, field))).collect();
    assert_eq!(facts[..3], ["invalid", "error", "unknown-id"]);
    assert_eq!(facts[4..], ["<raw>", "1", "1", "1"], "file, line, column and length");
    paje_free(reading);
}
