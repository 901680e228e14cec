//! Functions that C calls: see `src/paje.h` of the R package, which declares the same.
//!
//! This is the only unsafe code. It relies on what the package's C keeps to:
//!
//! 1. All calls come from one thread, R's, one after the other.
//! 2. A `Reading` comes from [`paje_new`] and is given to [`paje_free`] once, and to nothing afterwards.
//! 3. Strings end with a zero byte, and `bytes` has `length` bytes.
//! 4. `columns` points to as many pointers as [`paje_columns`] last told; each points to a vector of
//!    [`paje_rows`] items, of `int` for kinds 0 and 2 and of `double` for kind 1, which nothing else looks at during
//!    the call, and no two of which overlap. Of kind 3, the pointer is not looked at.
//! 5. `read` and `size` point to a number each.
//!
//! Vectors are only used until the call returns, since workers are waited for. A panic is never let out: it
//! becomes a failure.
#![allow(unsafe_code)]
// These rules are what each function asks for.
#![allow(clippy::missing_safety_doc)]

use std::ffi::{CStr, OsStr, c_char, c_double, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use paje_export::Table;

use crate::fill::Slot;
use crate::frame::{Frame, Kind};
use crate::reading::{Failure, Reading, defect};

/// A text that is there until the next call; `bytes` is null for none.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Text {
    /// UTF-8.
    pub bytes: *const c_char,
    /// Their length in bytes.
    pub length: usize,
}

impl Text {
    const NONE: Text = Text { bytes: std::ptr::null(), length: 0 };

    fn of(text: Option<&str>) -> Text {
        text.map_or(Text::NONE, |text| Text { bytes: text.as_ptr().cast(), length: text.len() })
    }
}

/// Calls `f`; 0, or 1 and there is a failure.
unsafe fn tried(
    reading: *mut Reading,
    f: impl FnOnce(&mut Reading) -> Result<(), Failure>,
) -> c_int {
    // SAFETY: by rules 1 and 2 it is there, and nobody else has it.
    let reading = unsafe { &mut *reading };
    let done = catch_unwind(AssertUnwindSafe(|| f(reading)));
    match done.unwrap_or_else(|_| Err(defect())) {
        Ok(()) => 0,
        Err(failure) => {
            reading.failure = Some(failure);
            1
        }
    }
}

unsafe fn bytes_of<'a>(text: *const c_char) -> &'a [u8] {
    // SAFETY: by rule 3 it ends.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}

/// A new reading.
#[unsafe(no_mangle)]
pub extern "C" fn paje_new() -> *mut Reading {
    Box::into_raw(Box::default())
}

/// Ends a reading and lets go of all that it has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_free(reading: *mut Reading) {
    // SAFETY: by rule 2 it is a box, and this is the last that is done with it.
    let mut reading = unsafe { Box::from_raw(reading) };
    let _ = catch_unwind(AssertUnwindSafe(|| reading.stop()));
}

/// Adds a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_add_path(reading: *mut Reading, path: *const c_char) -> c_int {
    // SAFETY: rule 3.
    let path = OsStr::from_bytes(unsafe { bytes_of(path) });
    // SAFETY: rules 1 and 2.
    unsafe {
        tried(reading, |reading| {
            reading.add_path(path.into());
            Ok(())
        })
    }
}

/// Sets the bytes of the trace, which are copied: the replay may outlast what R has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_set_bytes(
    reading: *mut Reading,
    bytes: *const u8,
    length: usize,
) -> c_int {
    // SAFETY: rules 1 to 3; of no bytes, the pointer may be anything.
    unsafe {
        tried(reading, |reading| {
            let some = if length == 0 { &[] } else { std::slice::from_raw_parts(bytes, length) };
            reading.set_bytes(some.to_vec());
            Ok(())
        })
    }
}

/// Sets a keyword, or adds to it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_ask(
    reading: *mut Reading,
    keyword: *const c_char,
    value: *const c_char,
) -> c_int {
    // SAFETY: rule 3.
    let (keyword, value) = unsafe { (bytes_of(keyword), bytes_of(value)) };
    let (keyword, value) = (String::from_utf8_lossy(keyword), String::from_utf8_lossy(value));
    // SAFETY: rules 1 and 2.
    unsafe { tried(reading, |reading| reading.ask(&keyword, &value)) }
}

/// Begins the replay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_start(reading: *mut Reading) -> c_int {
    // SAFETY: rules 1 and 2.
    unsafe { tried(reading, Reading::start) }
}

/// Waits for the replay: 0 it goes on, 1 there is a trace, 2 there is a failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_wait(reading: *mut Reading, milliseconds: c_uint) -> c_int {
    let mut done = false;
    let wait = |reading: &mut Reading| {
        done = reading.wait(Duration::from_millis(milliseconds.into()));
        Ok(())
    };
    // SAFETY: rules 1 and 2.
    let failed = unsafe { tried(reading, wait) } != 0;
    // SAFETY: the same.
    let reading = unsafe { &*reading };
    match (done || failed, reading.shown.is_some()) {
        (false, _) => 0,
        (true, true) => 1,
        (true, false) => 2,
    }
}

/// The number of bytes that are read so far, and how many there are (negative: nobody knows).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_progress(
    reading: *const Reading,
    read: *mut c_double,
    size: *mut c_double,
) {
    // SAFETY: rules 1 and 2.
    let (so_far, all) = unsafe { &*reading }.progress();
    // SAFETY: rule 5.
    unsafe {
        *read = so_far as c_double;
        *size = all.map_or(-1.0, |all| all as c_double);
    }
}

/// The time when the trace ends, in seconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_end(reading: *const Reading) -> c_double {
    // SAFETY: rules 1 and 2.
    unsafe { &*reading }.trace().map_or(0.0, |trace| trace.end())
}

/// Looks up facts: 0 failures, 1 warnings, 2 what was recovered, 3 what was read. How many rows there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_facts(reading: *mut Reading, what: c_uint) -> usize {
    // SAFETY: rules 1 and 2.
    let reading = unsafe { &mut *reading };
    let facts = catch_unwind(AssertUnwindSafe(|| reading.facts_of(what)));
    reading.facts = facts.unwrap_or_default();
    reading.facts.len()
}

/// One of the facts that were looked up last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_fact(reading: *mut Reading, row: usize, field: usize) -> Text {
    // SAFETY: rules 1 and 2.
    let reading = unsafe { &mut *reading };
    let fact = reading.facts.get(row).and_then(|row| row.get(field)).cloned().flatten();
    told(reading, fact)
}

/// Keeps a text until the next call.
fn told(reading: &mut Reading, text: Option<String>) -> Text {
    let Some(text) = text else { return Text::NONE };
    reading.scratch = crate::frame::clean(&text).into_owned();
    Text::of(Some(&reading.scratch))
}

/// Begins a table, by its number in [`Table::ALL`]; the number after the last is that of the analysis.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_table(reading: *mut Reading, table: c_uint) -> c_int {
    // SAFETY: rules 1 and 2.
    unsafe {
        tried(reading, |reading| {
            let Reading { shown: Some(shown), workers: Some(workers), .. } = &*reading else {
                return Err(defect());
            };
            let Some(table) = Table::ALL.get(table as usize) else {
                let rows = reading.analysed.take().ok_or_else(defect)?;
                reading.frame = Some(Frame::of_rows(rows));
                return Ok(());
            };
            let frame = workers.run(|| Frame::new(shown.borrow_dependent(), *table, workers));
            reading.frame = Some(frame.map_err(|error| Failure::Wrong(error.to_string()))?);
            Ok(())
        })
    }
}

/// The table that was begun last.
unsafe fn frame<'a>(reading: *const Reading) -> Option<&'a Frame> {
    // SAFETY: rules 1 and 2.
    unsafe { &*reading }.frame.as_ref()
}

/// The number of columns that the table has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_columns(reading: *const Reading) -> usize {
    // SAFETY: rules 1 and 2.
    unsafe { frame(reading) }.map_or(0, |frame| frame.columns.len())
}

/// The number of rows that it has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_rows(reading: *const Reading) -> usize {
    // SAFETY: rules 1 and 2.
    unsafe { frame(reading) }.map_or(0, Frame::rows)
}

/// The number of batches that it has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_batches(reading: *const Reading) -> usize {
    // SAFETY: rules 1 and 2.
    unsafe { frame(reading) }.map_or(0, Frame::batches)
}

/// Before which row a batch begins.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_begin(reading: *const Reading, batch: usize) -> usize {
    // SAFETY: rules 1 and 2.
    unsafe { frame(reading) }.map_or(0, |frame| frame.begin(batch))
}

/// The name of a column.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_column_name(reading: *mut Reading, column: usize) -> Text {
    // SAFETY: rules 1 and 2.
    let reading = unsafe { &mut *reading };
    let column = reading.frame.as_ref().and_then(|frame| frame.columns.get(column));
    let name = column.map(|column| column.name.clone());
    told(reading, name)
}

/// Kind of R's vector of a column: 0 integers, 1 doubles, 2 a factor, 3 texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_column_kind(reading: *const Reading, column: usize) -> c_uint {
    // SAFETY: rules 1 and 2.
    let column = unsafe { frame(reading) }.and_then(|frame| frame.columns.get(column));
    column.map_or(Kind::Text, |column| column.kind) as c_uint
}

/// Slots for all columns.
unsafe fn slots<'s>(frame: &Frame, columns: *const *mut c_void) -> Vec<Slot<'s>> {
    let rows = frame.rows();
    let slots = frame.columns.iter().enumerate().map(|(i, column)| {
        // SAFETY: by rule 4 there are so many pointers, and each points to so many items of this type that
        // nothing else looks at. R's empty vectors have a pointer that is not to be followed.
        unsafe {
            match column.kind {
                Kind::Text => Slot::Texts,
                Kind::Double if rows == 0 => Slot::Doubles(&mut []),
                Kind::Integer | Kind::Factor if rows == 0 => Slot::Integers(&mut []),
                Kind::Double => {
                    let items = (*columns.add(i)).cast::<f64>();
                    Slot::Doubles(std::slice::from_raw_parts_mut(items, rows))
                }
                Kind::Integer | Kind::Factor => {
                    let items = (*columns.add(i)).cast::<i32>();
                    Slot::Integers(std::slice::from_raw_parts_mut(items, rows))
                }
            }
        }
    });
    slots.collect()
}

/// Fills in the rows of some batches.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_fill(
    reading: *mut Reading,
    columns: *const *mut c_void,
    from: usize,
    to: usize,
) -> c_int {
    // SAFETY: rules 1, 2 and 4; `Frame::fill` has returned before this does.
    unsafe {
        tried(reading, |reading| {
            let Reading { shown: Some(shown), workers: Some(workers), frame: Some(frame), .. } =
                reading
            else {
                return Err(defect());
            };
            let slots = slots(frame, columns);
            let to = to.min(frame.batches());
            let tables = shown.borrow_dependent();
            let filled = workers.run(|| frame.fill(tables, workers, slots, from.min(to), to));
            filled.map_err(|error| Failure::Wrong(error.to_string()))
        })
    }
}

/// Number of rows of texts that a batch has, counted from the first one that was filled in last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_text_rows(reading: *const Reading, batch: usize) -> usize {
    // SAFETY: rules 1 and 2.
    unsafe { frame(reading) }.map_or(0, |frame| frame.text_rows(batch))
}

/// A text of such a batch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_text(
    reading: *mut Reading,
    column: usize,
    batch: usize,
    row: usize,
) -> Text {
    // SAFETY: rules 1 and 2.
    let reading = unsafe { &mut *reading };
    let text = reading.frame.as_ref().and_then(|frame| frame.text(column, batch, row));
    match text {
        None => Text::NONE,
        Some(std::borrow::Cow::Borrowed(text)) => Text::of(Some(text)),
        Some(std::borrow::Cow::Owned(text)) => {
            reading.scratch = text;
            Text::of(Some(&reading.scratch))
        }
    }
}

/// Makes factors complete, once all batches are filled in.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_finish(reading: *mut Reading, columns: *const *mut c_void) -> c_int {
    // SAFETY: rules 1, 2 and 4; `Frame::finish` has returned before this does.
    unsafe {
        tried(reading, |reading| {
            let Reading { workers: Some(workers), frame: Some(frame), .. } = reading else {
                return Err(defect());
            };
            let slots = slots(frame, columns);
            workers.run(|| frame.finish(workers, slots));
            Ok(())
        })
    }
}

/// The number of levels that a factor has that is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_levels(reading: *const Reading, column: usize) -> usize {
    // SAFETY: rules 1 and 2.
    let column = unsafe { frame(reading) }.and_then(|frame| frame.columns.get(column));
    column.map_or(0, |column| column.levels.len())
}

/// A level.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_level(reading: *const Reading, column: usize, level: usize) -> Text {
    // SAFETY: rules 1 and 2.
    let column = unsafe { frame(reading) }.and_then(|frame| frame.columns.get(column));
    Text::of(column.and_then(|column| column.levels.get(level)).map(String::as_str))
}
