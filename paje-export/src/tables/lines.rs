//! Columns for the line and the file of each row.

use std::sync::Arc;

use arrow_array::builder::{ArrayBuilder, Int64Builder};
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, StringArray};
use arrow_schema::{DataType, Field};
use paje_sim::{LineNumber, Trace};

use crate::tables::Error;
use crate::tables::names::text;

/// Column of lines, if the replay kept them, and names of files, if there are several.
#[derive(Debug)]
pub(crate) struct Lines {
    kept: bool,
    files: Option<ArrayRef>,
}

impl Lines {
    pub(crate) fn new(trace: &Trace) -> Self {
        let kept = trace.has_lines();
        let name = |path: &Option<Arc<std::path::Path>>| {
            path.as_ref().map(|path| text(path.as_os_str().as_encoded_bytes()).into_owned())
        };
        // The main file may be a pipe and has no path.
        let names = || trace.files().iter().map(|path| name(path).unwrap_or_default());
        let several = kept && trace.files().len() > 1;
        let files = several.then(|| Arc::new(StringArray::from_iter_values(names())) as ArrayRef);
        Lines { kept, files }
    }

    pub(crate) fn fields(&self) -> Vec<Arc<Field>> {
        let mut fields = Vec::new();
        if self.kept {
            fields.push(Arc::new(Field::new("Line", DataType::Int64, true)));
        }
        if self.files.is_some() {
            let names = (Box::new(DataType::Int32), Box::new(DataType::Utf8));
            let names = DataType::Dictionary(names.0, names.1);
            fields.push(Arc::new(Field::new("File", names, true)));
        }
        fields
    }
}

pub(crate) struct GatheredLines<'a> {
    lines: &'a Lines,
    numbers: Int64Builder,
    files: Vec<Option<i32>>,
}

impl<'a> GatheredLines<'a> {
    pub(crate) fn new(lines: &'a Lines) -> Self {
        GatheredLines { lines, numbers: Int64Builder::new(), files: Vec::new() }
    }

    pub(crate) fn row(&mut self, line: Option<LineNumber>) {
        if self.lines.kept {
            self.numbers.append_option(line.map(|line| line.line as i64));
        }
        if self.lines.files.is_some() {
            self.files.push(line.map(|line| line.file as i32));
        }
    }

    pub(crate) fn finish(mut self) -> Result<Vec<ArrayRef>, Error> {
        let mut columns = Vec::new();
        if self.lines.kept {
            debug_assert!(self.files.is_empty() || self.files.len() == self.numbers.len());
            columns.push(Arc::new(self.numbers.finish()) as ArrayRef);
        }
        if let Some(names) = &self.lines.files {
            let codes = Int32Array::from(self.files);
            columns.push(Arc::new(DictionaryArray::try_new(codes, Arc::clone(names))?));
        }
        Ok(columns)
    }
}
