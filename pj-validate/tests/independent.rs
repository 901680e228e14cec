//! Checks that the checker shares no code with the replay that it is compared with.

use std::fs;
use std::path::{Path, PathBuf};

/// The only parts of `paje-sim` that the checker may use: descriptions of problems.
const SHARED: [&str; 3] = ["error::", "excerpt", "OtherQuoting"];

#[test]
fn the_checker_uses_no_replay() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut rest: Vec<PathBuf> = vec![source.join("check.rs"), source.join("check")];
    let mut files = 0;
    while let Some(path) = rest.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("a folder");
            rest.extend(entries.map(|entry| entry.expect("an entry").path()));
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source file");
        let shared = |path: &str| SHARED.iter().any(|shared| path.starts_with(shared));
        assert!(text.split("paje_sim::").skip(1).all(shared), "{}", path.display());
        assert!(!text.contains("crate::sound::"), "{}", path.display());
        files += 1;
    }
    assert!(files > 20, "{files} files");
}
