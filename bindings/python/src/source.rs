//! Sources of traces: one or several paths, bytes, or a file object.

use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};

use paje_bindings::as_file;
use pyo3::exceptions::{PyBlockingIOError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList, PyMemoryView, PyString, PyTuple};
use splitter::Input;

use crate::job::Request;

/// Minimum size of reads from a file object in bytes.
const AT_ONCE: usize = 1 << 20;

pub(crate) enum Given {
    /// One or several files that form one trace.
    Paths(Vec<PathBuf>),
    Bytes(PyBackedBytes),
    Object(Object),
}

pub(crate) struct Object {
    object: Py<PyAny>,
    name: PathBuf,
}

impl Given {
    pub(crate) fn new(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = given.extract::<PyBackedBytes>() {
            return Ok(Given::Bytes(bytes));
        }
        if given.is_instance_of::<PyMemoryView>() {
            return Ok(Given::Bytes(given.call_method0("tobytes")?.extract()?));
        }
        if given.is_instance_of::<PyString>() || given.hasattr("__fspath__")? {
            return Ok(Given::Paths(vec![given.extract()?]));
        }
        if given.hasattr("read")? {
            let name = given.getattr("name").and_then(|name| name.extract::<PathBuf>());
            let name = name.unwrap_or_else(|_| "<file>".into());
            return Ok(Given::Object(Object { object: given.clone().unbind(), name }));
        }
        if given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>() {
            let paths: Vec<PathBuf> = given.extract()?;
            if !paths.is_empty() {
                return Ok(Given::Paths(paths));
            }
        }
        let type_ = given.get_type().name()?;
        Err(PyTypeError::new_err(format!(
            "expected a path, a list of paths, bytes, or a file opened for reading bytes, not {type_}"
        )))
    }

    pub(crate) fn name(&self) -> &Path {
        match self {
            Given::Paths(paths) => &paths[0],
            Given::Bytes(_) => Path::new("<bytes>"),
            Given::Object(object) => &object.name,
        }
    }

    /// Returns the path of a trace in one file.
    pub(crate) fn single_path(&self) -> Option<&Path> {
        match self {
            Given::Paths(paths) if paths.len() == 1 => Some(&paths[0]),
            _ => None,
        }
    }

    pub(crate) fn paths(&self) -> (Option<PathBuf>, Vec<PathBuf>) {
        match self {
            Given::Paths(paths) => (Some(paths[0].clone()), paths[1..].to_vec()),
            _ => (None, Vec::new()),
        }
    }

    /// Returns the file object, which stays in the calling thread.
    pub(crate) fn object(&self, py: Python<'_>) -> Option<Object> {
        match self {
            Given::Object(object) => {
                Some(Object { object: object.object.clone_ref(py), name: object.name.clone() })
            }
            _ => None,
        }
    }

    /// Opens the source. File objects are read through requests.
    pub(crate) fn open(self, ask: Sender<Request>) -> io::Result<Input> {
        let name = self.name().to_owned();
        match self {
            Given::Paths(paths) => Input::open(Some(as_file(&paths[0]))),
            Given::Bytes(bytes) => {
                let size = bytes.len() as u64;
                Input::from_reader(name, Cursor::new(bytes), Some(size))
            }
            Given::Object(_) => Input::from_reader(name, Asking { ask, rest: None }, None),
        }
    }
}

/// Answers a request with bytes of the file object, if the source is one.
pub(crate) fn serve(object: Option<&Object>, py: Python<'_>, request: Request) -> PyResult<()> {
    let Request::Read(bytes, answer) = request;
    if let Some(object) = object {
        // The send fails if the reader has already ended, which is harmless.
        let _ = answer.send(object.read(py, bytes)?);
    }
    py.check_signals()
}

impl Object {
    pub(crate) fn read(&self, py: Python<'_>, bytes: usize) -> PyResult<PyBackedBytes> {
        let read = self.object.bind(py).call_method1("read", (bytes,))?;
        if read.is_none() {
            return Err(PyBlockingIOError::new_err("the file has no data yet"));
        }
        let type_ = read.get_type().name()?;
        read.cast_into::<PyBytes>().map(PyBackedBytes::from).map_err(|_| {
            PyTypeError::new_err(format!(
                "the file's read() returned {type_}, not bytes; open it in binary mode ('rb'), or pass its .buffer"
            ))
        })
    }
}

/// Reader that requests bytes of a file object from the calling thread.
struct Asking {
    ask: Sender<Request>,
    rest: Option<Cursor<PyBackedBytes>>,
}

impl Read for Asking {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(rest) = &mut self.rest {
                let count = rest.read(buffer)?;
                if count > 0 {
                    return Ok(count);
                }
            }
            // The calling thread raises the file object's error.
            let gone = |_| io::Error::other("the file object cannot be read");
            let (answer, answered) = mpsc::channel();
            let request = Request::Read(buffer.len().max(AT_ONCE), answer);
            self.ask.send(request).map_err(|_| gone(mpsc::RecvError))?;
            let bytes = answered.recv().map_err(gone)?;
            if bytes.is_empty() {
                return Ok(0);
            }
            self.rest = Some(Cursor::new(bytes));
        }
    }
}
