//! Tests that unpacking a packed trace returns the original bytes.

use std::io::Read;

use paje_pack::{Settings, Text, pack};

pub fn run(text: &[u8]) {
    let mut settings = Settings::default();
    settings.level = 1;
    for segment in [1 << 20, 1 + usize::from(text.last().copied().unwrap_or(0)) * 16] {
        settings.segment = segment;
        let packed = pack(text, Vec::new(), settings).expect("memory");
        let mut back = Vec::new();
        Text::new(&packed[..]).read_to_end(&mut back).expect("it was just packed");
        assert_eq!(back, text);
    }
}
