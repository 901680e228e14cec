//! Tools for making pages, and room for them, which are used again and again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::frame::Frames;
use crate::Error;

/// Room and tools that all columns of a row group use in turn.
pub(super) struct Tools {
    pub(super) frames: Frames,
    /// A page's body, and its frame.
    pub(super) body: Vec<u8>,
    pub(super) frame: Arc<Vec<u8>>,
    pub(super) numbers: Vec<u32>,
}

impl Tools {
    fn new() -> Result<Self, Error> {
        let (body, frame, numbers) = (Vec::new(), Arc::default(), Vec::new());
        Ok(Tools { frames: Frames::new()?, body, frame, numbers })
    }

    /// Nothing, to write a frame in.
    pub(super) fn empty(frame: &mut Arc<Vec<u8>>) -> &mut Vec<u8> {
        let frame = Arc::make_mut(frame);
        frame.clear();
        frame
    }
}

/// Room and tools that nobody uses at the time, for all tables: memory that is new costs as much as what is put in it.
#[derive(Default)]
pub(crate) struct Stock {
    rooms: Mutex<Vec<Vec<u8>>>,
    tools: Mutex<Vec<Tools>>,
}

impl Stock {
    /// Room for a column.
    pub(super) fn room(&self) -> Vec<u8> {
        exclusively(&self.rooms).pop().unwrap_or_default()
    }

    /// Takes back room of a column that has been written.
    pub(super) fn give_room(&self, room: Vec<u8>) {
        exclusively(&self.rooms).push(room);
    }

    pub(super) fn tools(&self) -> Result<Tools, Error> {
        let tools = exclusively(&self.tools).pop();
        tools.map_or_else(Tools::new, Ok)
    }

    pub(super) fn give_tools(&self, tools: Tools) {
        exclusively(&self.tools).push(tools);
    }
}

/// Contents of a mutex. All that is given back is whole, also after somebody panicked.
pub(super) fn exclusively<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bodies of a column's pages, which are compressed if that of the first one that is worth trying got shorter.
#[derive(Default)]
pub(super) struct Trial(Option<bool>);

impl Trial {
    /// Makes the frame of the body that is in the tools.
    pub(super) fn frame(&mut self, tools: &mut Tools) -> Result<(), Error> {
        let tried = self.0.unwrap_or(true);
        let frame = Tools::empty(&mut tools.frame);
        let shorter = tools.frames.whole(&tools.body, tried, frame)?;
        if tools.body.len() >= 1_000 {
            self.0.get_or_insert(shorter);
        }
        Ok(())
    }
}
