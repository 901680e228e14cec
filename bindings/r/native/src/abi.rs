//! Functions that C calls, declared in `src/paje.h` of the R package.
//!
//! This module has the only unsafe code of the crate. It relies on rules that the package's C code
//! follows:
//!
//! 1. All calls come from R's thread, one after the other.
//! 2. A `Reading` comes from [`paje_new`], and is not used after [`paje_free`]. Pointers to it are
//!    never null.
//! 3. Strings end with a zero byte, and `bytes` has `length` bytes.
//! 4. `columns` points to [`paje_columns`] pointers, each to a vector of [`paje_rows`] items: `int`
//!    for kinds 0 and 2, `double` for kind 1. Vectors do not overlap, and nothing else uses them
//!    during the call. Pointers of kind 3 are ignored.
//! 5. `read` and `size` each point to a number.
//!
//! These rules make the references in signatures valid. No function uses a vector after its call. A
//! panic becomes a failure.
#![allow(unsafe_code)]
// The module's rules hold for each function.
#![allow(clippy::missing_safety_doc)]

#[cfg(test)]
mod tests;

use std::ffi::{CStr, OsStr, c_char, c_double, c_int, c_uint, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use paje_export::Table;

use crate::fill::Slot;
use crate::frame::{Frame, Kind};
use crate::reading::{Failure, Reading, defect};

/// Text that is valid until the next call. `bytes` is null for a missing text.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Text {
    /// UTF-8 text.
    pub bytes: *const c_char,
    /// Length in bytes.
    pub length: usize,
}

impl Text {
    const NONE: Text = Text { bytes: std::ptr::null(), length: 0 };

    fn of(text: Option<&str>) -> Text {
        text.map_or(Text::NONE, |text| Text { bytes: text.as_ptr().cast(), length: text.len() })
    }
}

/// Calls `f`. Returns 0, or 1 after a failure.
fn tried(reading: &mut Reading, f: impl FnOnce(&mut Reading) -> Result<(), Failure>) -> c_int {
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
    // SAFETY: rule 3.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}

/// Creates a reading.
#[unsafe(no_mangle)]
pub extern "C" fn paje_new() -> Box<Reading> {
    Box::default()
}

/// Stops a reading and frees it.
#[unsafe(no_mangle)]
pub extern "C" fn paje_free(mut reading: Box<Reading>) {
    let _ = catch_unwind(AssertUnwindSafe(|| reading.stop()));
}

/// Adds a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_add_path(reading: &mut Reading, path: *const c_char) -> c_int {
    // SAFETY: rule 3.
    let path = OsStr::from_bytes(unsafe { bytes_of(path) });
    tried(reading, |reading| {
        reading.add_path(path.into());
        Ok(())
    })
}

/// Sets the bytes of the trace. They are copied, since the replay may outlast R's vector.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_set_bytes(
    reading: &mut Reading,
    bytes: *const u8,
    length: usize,
) -> c_int {
    tried(reading, |reading| {
        // SAFETY: rule 3. If there are no bytes, the pointer may be invalid and is not used.
        let some =
            unsafe { if length == 0 { &[] } else { std::slice::from_raw_parts(bytes, length) } };
        reading.set_bytes(some.to_vec());
        Ok(())
    })
}

/// Sets a keyword, or adds to it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_ask(
    reading: &mut Reading,
    keyword: *const c_char,
    value: *const c_char,
) -> c_int {
    // SAFETY: rule 3.
    let (keyword, value) = unsafe { (bytes_of(keyword), bytes_of(value)) };
    let (keyword, value) = (String::from_utf8_lossy(keyword), String::from_utf8_lossy(value));
    tried(reading, |reading| reading.ask(&keyword, &value))
}

/// Starts the replay.
#[unsafe(no_mangle)]
pub extern "C" fn paje_start(reading: &mut Reading) -> c_int {
    tried(reading, Reading::start)
}

/// Waits for the replay. Returns 0 if it still runs, 1 if there is a trace, 2 after a failure.
#[unsafe(no_mangle)]
pub extern "C" fn paje_wait(reading: &mut Reading, milliseconds: c_uint) -> c_int {
    let mut done = false;
    let wait = |reading: &mut Reading| {
        done = reading.wait(Duration::from_millis(milliseconds.into()));
        Ok(())
    };
    let failed = tried(reading, wait) != 0;
    match (done || failed, reading.shown.is_some()) {
        (false, _) => 0,
        (true, true) => 1,
        (true, false) => 2,
    }
}

/// Writes the number of bytes read and the size of the trace. The size is negative if it is
/// unknown.
#[unsafe(no_mangle)]
pub extern "C" fn paje_progress(
    reading: &Reading,
    read: &mut MaybeUninit<c_double>,
    size: &mut MaybeUninit<c_double>,
) {
    let (so_far, all) = reading.progress();
    read.write(so_far as c_double);
    size.write(all.map_or(-1.0, |all| all as c_double));
}

/// Returns the end of the trace in seconds.
#[unsafe(no_mangle)]
pub extern "C" fn paje_end(reading: &Reading) -> c_double {
    reading.trace().map_or(0.0, |trace| trace.end())
}

/// Looks up facts: 0 failures, 1 warnings, 2 recovered problems, 3 metadata. Returns the number of
/// rows.
#[unsafe(no_mangle)]
pub extern "C" fn paje_facts(reading: &mut Reading, what: c_uint) -> usize {
    let facts = catch_unwind(AssertUnwindSafe(|| reading.facts_of(what)));
    reading.facts = facts.unwrap_or_default();
    reading.facts.len()
}

/// Returns one of the facts that were looked up last.
#[unsafe(no_mangle)]
pub extern "C" fn paje_fact(reading: &mut Reading, row: usize, field: usize) -> Text {
    let fact = reading.facts.get(row).and_then(|row| row.get(field)).cloned().flatten();
    keep_text(reading, fact)
}

/// Keeps a text until the next call.
fn keep_text(reading: &mut Reading, text: Option<String>) -> Text {
    let Some(text) = text else { return Text::NONE };
    reading.scratch = crate::frame::clean(&text).into_owned();
    Text::of(Some(&reading.scratch))
}

/// Selects a table by its number in [`Table::ALL`]. The number after the last one selects the
/// analysis.
#[unsafe(no_mangle)]
pub extern "C" fn paje_table(reading: &mut Reading, table: c_uint) -> c_int {
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

/// Returns the number of the table's columns.
#[unsafe(no_mangle)]
pub extern "C" fn paje_columns(reading: &Reading) -> usize {
    reading.frame.as_ref().map_or(0, |frame| frame.columns.len())
}

/// Returns the number of the table's rows.
#[unsafe(no_mangle)]
pub extern "C" fn paje_rows(reading: &Reading) -> usize {
    reading.frame.as_ref().map_or(0, Frame::rows)
}

/// Returns the number of the table's batches.
#[unsafe(no_mangle)]
pub extern "C" fn paje_batches(reading: &Reading) -> usize {
    reading.frame.as_ref().map_or(0, Frame::batches)
}

/// Returns the index of a batch's first row.
#[unsafe(no_mangle)]
pub extern "C" fn paje_begin(reading: &Reading, batch: usize) -> usize {
    reading.frame.as_ref().map_or(0, |frame| frame.begin(batch))
}

/// Returns the name of a column.
#[unsafe(no_mangle)]
pub extern "C" fn paje_column_name(reading: &mut Reading, column: usize) -> Text {
    let column = reading.frame.as_ref().and_then(|frame| frame.columns.get(column));
    let name = column.map(|column| column.name.clone());
    keep_text(reading, name)
}

/// Returns the kind of a column's vector: 0 integers, 1 doubles, 2 factor, 3 strings.
#[unsafe(no_mangle)]
pub extern "C" fn paje_column_kind(reading: &Reading, column: usize) -> c_uint {
    let column = reading.frame.as_ref().and_then(|frame| frame.columns.get(column));
    column.map_or(Kind::Text, |column| column.kind) as c_uint
}

unsafe fn slots<'s>(frame: &Frame, columns: *const *mut c_void) -> Vec<Slot<'s>> {
    let rows = frame.rows();
    let slots = frame.columns.iter().enumerate().map(|(i, column)| {
        // SAFETY: rule 4. The pointers of R's empty vectors are not followed.
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
    reading: &mut Reading,
    columns: *const *mut c_void,
    from: usize,
    to: usize,
) -> c_int {
    tried(reading, |reading| {
        let Reading { shown: Some(shown), workers: Some(workers), frame: Some(frame), .. } =
            reading
        else {
            return Err(defect());
        };
        // SAFETY: rule 4. `Frame::fill` returns before this function does.
        let slots = unsafe { slots(frame, columns) };
        let to = to.min(frame.batches());
        let tables = shown.borrow_dependent();
        let filled = workers.run(|| frame.fill(tables, workers, slots, from.min(to), to));
        filled.map_err(|error| Failure::Wrong(error.to_string()))
    })
}

/// Returns the number of rows of a batch whose strings are to be copied. Batches are numbered from
/// 0, beginning with the first one that was filled in last time.
#[unsafe(no_mangle)]
pub extern "C" fn paje_text_rows(reading: &Reading, batch: usize) -> usize {
    reading.frame.as_ref().map_or(0, |frame| frame.text_rows(batch))
}

/// Returns a string of a batch that was filled in last.
#[unsafe(no_mangle)]
pub extern "C" fn paje_text(
    reading: &mut Reading,
    column: usize,
    batch: usize,
    row: usize,
) -> Text {
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

/// Completes factors after all batches are filled in.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paje_finish(reading: &mut Reading, columns: *const *mut c_void) -> c_int {
    tried(reading, |reading| {
        let Reading { workers: Some(workers), frame: Some(frame), .. } = reading else {
            return Err(defect());
        };
        // SAFETY: rule 4. `Frame::finish` returns before this function does.
        let slots = unsafe { slots(frame, columns) };
        workers.run(|| frame.finish(workers, slots));
        Ok(())
    })
}

/// Returns the number of levels of a complete factor.
#[unsafe(no_mangle)]
pub extern "C" fn paje_levels(reading: &Reading, column: usize) -> usize {
    let column = reading.frame.as_ref().and_then(|frame| frame.columns.get(column));
    column.map_or(0, |column| column.levels.len())
}

/// Returns a level.
#[unsafe(no_mangle)]
pub extern "C" fn paje_level(reading: &Reading, column: usize, level: usize) -> Text {
    let column = reading.frame.as_ref().and_then(|frame| frame.columns.get(column));
    Text::of(column.and_then(|column| column.levels.get(level)).map(String::as_str))
}
