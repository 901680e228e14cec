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
/// static ALLOCATOR: paje_console::allocator::OrExit =
///     paje_console::allocator::OrExit { program: "pj_dump", status: 2 };
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

/// Large memory has pages of its own, in every thread, and goes back to the system when it is given back.
///
/// The C library of most Linux systems does so at first, and stops with the first large piece that is given back: from
/// then on, what grows (tables of lanes, of values) leaves holes where it was, in each thread's memory others.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod large_apart {
    /// Bytes from which on memory is large: the library's own bound, before it changes that.
    const LARGE: libc::c_int = 128 << 10;

    // SAFETY: the loader calls what stands in this section once, in the only thread, before Rust's runtime begins: nobody
    // asks for memory meanwhile, which is all that `mallopt` asks of its callers. The function takes no arguments and does
    // not unwind.
    #[allow(unsafe_code)]
    #[used]
    #[unsafe(link_section = ".init_array")]
    static AT_START: extern "C" fn() = keep_large_apart;

    extern "C" fn keep_large_apart() {
        // SAFETY: two numbers are all that it takes, and no other thread is there. If it refuses them, nothing changes.
        #[allow(unsafe_code)]
        let _ = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE) };
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

    /// Runs one of these tests again, alone, in a process of its own; `None` in that process.
    fn again(test: &str) -> Option<std::process::Output> {
        const AGAIN: &str = "PAJE_TEST_IS_ALONE";
        if std::env::var_os(AGAIN).is_some() {
            return None;
        }
        let this = std::env::current_exe().expect("it runs");
        let test = format!("allocator::tests::{test}");
        let mut again = std::process::Command::new(this);
        again.args(["--exact", &test, "--nocapture"]).env(AGAIN, "1");
        Some(again.output().expect("it starts"))
    }

    /// It asks for more than there can be.
    #[test]
    fn a_refusal_ends_the_program() {
        let Some(output) = again("a_refusal_ends_the_program") else {
            let bytes = Vec::<u8>::with_capacity(isize::MAX as usize);
            unreachable!("{} bytes were given", bytes.capacity());
        };
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        let wanted = format!("a test: not enough memory ({} bytes were refused)\n", isize::MAX);
        assert!(said.ends_with(&wanted), "{said}");
    }

    /// Even when other large memory has been given back before, and in another thread.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn what_is_large_goes_back_to_the_system() {
        const SIZE: usize = 8 << 20;
        if let Some(output) = again("what_is_large_goes_back_to_the_system") {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{said}");
            return;
        }
        let resident = || {
            let pages = std::fs::read_to_string("/proc/self/statm").expect("numbers of pages");
            let pages = pages.split(' ').nth(1).expect("a second number");
            pages.parse::<usize>().expect("a number") * rustix::param::page_size()
        };
        // Something small behind it would keep a heap from shrinking.
        let once = || (vec![1_u8; SIZE], vec![2_u8; 100]).1;
        let kept: Vec<_> = (0..4).map(|_| once()).collect();
        let before = resident();
        let there = std::thread::spawn(move || (0..4).map(|_| once()).collect::<Vec<_>>());
        let there = there.join().expect("a thread");
        assert!(resident() < before + SIZE / 2, "{before} bytes, then {}", resident());
        drop((kept, there));
    }
}
