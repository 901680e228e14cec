//! Allocator for a program that is refused memory: it says so and ends with a status of its own.
//!
//! Rust's standard library ends a program by SIGABRT then, which looks like a crash. What it offers
//! instead (`alloc::set_alloc_error_hook`) is not stable; an allocator of one's own is.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The system's allocator, whose refusals end the program.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: console::allocator::OrExit =
///     console::allocator::OrExit { program: "pj_dump", status: 2 };
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OrExit {
    /// Name of the program in its messages.
    pub program: &'static str,
    /// Its exit status when there is no memory.
    pub status: i32,
}

static BEFORE: OnceLock<fn()> = OnceLock::new();

/// Has `last` called before a refusal ends the program. It must not allocate: there is no memory.
pub fn before_refusal(last: fn()) {
    let _ = BEFORE.set(last);
}

impl OrExit {
    /// Nothing here may allocate: standard error is not buffered.
    #[cold]
    #[inline(never)]
    fn refused(&self, size: usize) -> ! {
        static REFUSED: AtomicBool = AtomicBool::new(false);
        if !REFUSED.swap(true, Ordering::Relaxed)
            && let Some(last) = BEFORE.get()
        {
            last();
        }
        let program = self.program;
        let _ =
            writeln!(std::io::stderr(), "{program}: not enough memory ({size} bytes were refused)");
        std::process::exit(self.status)
    }

    #[inline(always)]
    fn given(&self, memory: *mut u8, size: usize) -> *mut u8 {
        if memory.is_null() {
            self.refused(size);
        }
        memory
    }
}

// SAFETY: all memory is the system allocator's, which keeps the contract of `GlobalAlloc`, and callers
// give it what they promise to give us. Nothing unwinds from here: a refusal does not return.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for OrExit {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises what `System` asks for.
        self.given(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: `memory` came from `System` with this layout, as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises what `System` asks for.
        self.given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: `memory` came from `System` with this layout, as the caller promises.
        self.given(unsafe { System.realloc(memory, layout, size) }, size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: OrExit = OrExit { program: "a test", status: 3 };

    #[test]
    fn memory_is_given_moved_and_zeroed() {
        let mut bytes = vec![0_u8; 100_000];
        assert!(bytes.iter().all(|byte| *byte == 0));
        bytes.fill(7);
        bytes.resize(10_000_000, 8);
        assert!(bytes[..100_000].iter().all(|byte| *byte == 7));
        assert_eq!(bytes[9_999_999], 8);
    }

    /// Runs this test again, alone, in a process of its own, which asks for more than there can be.
    #[test]
    fn a_refusal_ends_the_program() {
        const ASKED: &str = "PAJE_ASK_FOR_TOO_MUCH";
        if std::env::var_os(ASKED).is_some() {
            let bytes = Vec::<u8>::with_capacity(isize::MAX as usize);
            unreachable!("{} bytes were given", bytes.capacity());
        }
        let this = std::env::current_exe().expect("it runs");
        let mut again = std::process::Command::new(this);
        again
            .args(["--exact", "allocator::tests::a_refusal_ends_the_program", "--nocapture"])
            .env(ASKED, "1");
        let output = again.output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        let wanted = format!("a test: not enough memory ({} bytes were refused)\n", isize::MAX);
        assert!(said.ends_with(&wanted), "{said}");
    }
}
