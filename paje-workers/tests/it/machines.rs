//! Machines, each as the files in which Linux shows it.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use paje_workers::{Missing, Topology};
use tempfile::TempDir;

/// Every machine in `tests/sys`.
pub(crate) const MACHINES: [&str; 5] =
    ["round-robin", "hyper-threads", "plain", "memory-node", "nothing"];

/// Topology as read from the files of a machine in `tests/sys`: once, since they are hundreds.
pub(crate) fn topology(machine: &str) -> Result<&'static Topology, &'static Missing> {
    static READ: LazyLock<[Result<Topology, Missing>; 5]> = LazyLock::new(|| {
        MACHINES.map(|machine| {
            let tree = format!("tests/sys/{machine}.tree");
            let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join(tree);
            read(&fs::read_to_string(&tree).expect("the machine has its file"))
        })
    });
    let place = MACHINES.iter().position(|known| *known == machine);
    READ[place.expect("a known machine")].as_ref()
}

/// Topology as read from files; a line is `PATH:CONTENT` or a comment.
pub(crate) fn read(tree: &str) -> Result<Topology, Missing> {
    let sys = TempDir::new().unwrap();
    for line in tree.lines().filter(|line| !line.starts_with('#')) {
        let (path, content) = line.split_once(':').unwrap();
        let path = sys.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{content}\n")).unwrap();
    }
    Topology::read(sys.path())
}
