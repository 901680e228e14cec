//! A global allocator. If memory is refused, it ends the program with a message and an exit status.
//!
//! By default, the standard library aborts in this case, which looks like a crash. The standard
//! library's hook for this (`alloc::set_alloc_error_hook`) is not stable.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The system's allocator. If it refuses memory, the program ends.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: paje_console::allocator::OrExit =
///     paje_console::allocator::OrExit { program: "pj_dump", status: 2 };
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OrExit {
    /// Name of the program, as used in its messages.
    pub program: &'static str,
    /// Exit status if memory is refused.
    pub status: i32,
}

static BEFORE: OnceLock<fn()> = OnceLock::new();

/// Registers a function to run before the program ends for lack of memory. The function must not
/// allocate.
pub fn before_refusal(last: fn()) {
    let _ = BEFORE.set(last);
}

impl OrExit {
    /// Must not allocate. Writing to standard error does not, because it has no buffer.
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

// SAFETY: every call forwards the caller's arguments to the system's allocator, which upholds the
// contract of `GlobalAlloc`. Nothing unwinds, as `refused` does not return.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for OrExit {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds `System`'s contract.
        self.given(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller got `memory` from `System` with this layout.
        unsafe { System.dealloc(memory, layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds `System`'s contract.
        self.given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller got `memory` from `System` with this layout.
        self.given(unsafe { System.realloc(memory, layout, size) }, size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: OrExit = OrExit { program: "a test", status: 3 };

    #[test]
    fn memory_is_allocated_moved_and_zeroed() {
        let mut bytes = vec![0_u8; 100_000];
        assert!(bytes.iter().all(|byte| *byte == 0));
        bytes.fill(7);
        bytes.resize(1_000_000, 8);
        assert!(bytes[..100_000].iter().all(|byte| *byte == 7));
        assert_eq!(bytes[999_999], 8);
    }

    /// Runs the test binary again as a child process, which requests more memory than exists.
    #[test]
    fn a_refusal_ends_the_program() {
        const IS_AGAIN: &str = "PAJE_TEST_IS_ALONE";
        if std::env::var_os(IS_AGAIN).is_some() {
            let bytes = Vec::<u8>::with_capacity(isize::MAX as usize);
            unreachable!("{} bytes were allocated", bytes.capacity());
        }
        let this = std::env::current_exe().expect("path of the test binary");
        let mut again = std::process::Command::new(this);
        again.args(["--exact", "allocator::tests::a_refusal_ends_the_program", "--nocapture"]);
        let output = again.env(IS_AGAIN, "1").output().expect("the test binary starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        let wanted = format!("a test: not enough memory ({} bytes were refused)\n", isize::MAX);
        assert!(said.ends_with(&wanted), "{said}");
    }
}
