//! The checker shares nothing with the replay that it is compared with.

use std::fs;
use std::path::Path;

/// What it uses of `paje-sim`: how problems are described.
const SHARED: [&str; 3] = ["error::", "excerpt", "OtherQuoting"];

#[test]
fn the_checker_uses_no_replay() {
    let check = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/check");
    let files: Vec<_> = fs::read_dir(&check).expect("the checker").collect();
    assert!(files.len() > 20, "{} files", files.len());
    for file in files.into_iter().map(|file| file.expect("an entry").path()) {
        let text = fs::read_to_string(&file).expect("a source file");
        let shared = |path: &str| SHARED.iter().any(|shared| path.starts_with(shared));
        assert!(text.split("paje_sim::").skip(1).all(shared), "{}", file.display());
        assert!(!text.contains("crate::sound::"), "{}", file.display());
    }
}
