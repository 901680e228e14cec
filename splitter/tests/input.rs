//! Tests traces in files, pipes and compressed files.

#![allow(clippy::unwrap_used)] // A panic makes a test fail.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;

use splitter::{Compression, Input, Kind};
use tempfile::TempDir;

const ALL: [Compression; 4] =
    [Compression::Gzip, Compression::Zstd, Compression::Xz, Compression::Bzip2];

fn compress(compression: Compression, text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    match compression {
        Compression::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(&mut out, flate2::Compression::new(6));
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap();
        }
        Compression::Zstd => {
            let mut encoder = zstd::Encoder::new(&mut out, 3).unwrap();
            encoder.include_checksum(true).unwrap();
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap();
        }
        Compression::Xz => {
            let mut encoder = liblzma::write::XzEncoder::new(&mut out, 1);
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap();
        }
        Compression::Bzip2 => {
            let mut encoder = bzip2::write::BzEncoder::new(&mut out, bzip2::Compression::new(1));
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap();
        }
        _ => unreachable!("unknown compression"),
    }
    out
}

struct Trace {
    _folder: TempDir,
    path: PathBuf,
}

impl Trace {
    fn new() -> Trace {
        let folder = tempfile::tempdir().unwrap();
        // The name of the file does not matter.
        let path = folder.path().join("trace.zip");
        Trace { _folder: folder, path }
    }

    fn open(&self, bytes: &[u8]) -> Input {
        fs::write(&self.path, bytes).unwrap();
        Input::open(Some(&self.path)).unwrap()
    }

    fn read(&self, bytes: &[u8]) -> (Option<Compression>, io::Result<Vec<u8>>) {
        let mut input = self.open(bytes);
        let mut text = Vec::new();
        let result = input.read_to_end(&mut text);
        if result.is_err() {
            // Later reads also fail, instead of returning the end of the input.
            input.read(&mut [0]).unwrap_err();
        } else if input.compression().is_some() {
            assert_eq!(input.size(), Some(bytes.len() as u64));
            assert_eq!(input.read_so_far().load(Ordering::Relaxed), bytes.len() as u64);
        }
        (input.compression(), result.map(|_| text))
    }
}

fn text() -> Vec<u8> {
    (0..20)
        .flat_map(|i| format!("{} {i} \"a name\" {}\n", i * 37 % 11, i * i).into_bytes())
        .collect()
}

#[test]
fn a_regular_file_is_read() {
    let trace = Trace::new();
    let mut input = trace.open(b"one\ntwo\n");
    assert_eq!(input.name(), trace.path);
    assert_eq!((input.size(), input.compression()), (Some(8), None));
    let taken = input.read_so_far();
    // Lines appended later are not read.
    File::options().append(true).open(&trace.path).unwrap().write_all(b"three\n").unwrap();
    let mut text = String::new();
    input.read_to_string(&mut text).unwrap();
    assert_eq!(text, "one\ntwo\n");
    assert_eq!(taken.load(Ordering::Relaxed), 8);
    assert!(matches!(input.into_kind(), Kind::File(_, 8)));
}

#[test]
fn a_file_that_becomes_shorter_is_an_error() {
    let trace = Trace::new();
    let mut input = trace.open(b"one\ntwo\n");
    File::options().write(true).open(&trace.path).unwrap().set_len(5).unwrap();
    let error = io::read_to_string(&mut input).unwrap_err();
    assert_eq!(error.to_string(), "the file became shorter while it was being read");
}

#[test]
fn an_empty_file_is_read() {
    let trace = Trace::new();
    let mut input = trace.open(b"");
    assert_eq!((input.size(), input.compression()), (Some(0), None));
    assert_eq!(io::read_to_string(&mut input).unwrap(), "");
    for compression in ALL {
        let (found, text) = trace.read(&compress(compression, b""));
        assert_eq!(found, Some(compression));
        assert_eq!(text.unwrap(), b"");
    }
}

#[test]
fn missing_files_and_folders_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let error = Input::open(Some(folder.path())).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    let error = Input::open(Some(&folder.path().join("none"))).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[test]
fn texts_that_resemble_compressed_data_are_read() {
    let trace = Trace::new();
    for text in
        [&b"B"[..], b"BZ", b"BZ h", b"P", b"P*M", b"P*Mx", b"(", b"(x", b"\x1f\n", b"\xfd7z"]
    {
        let (found, read) = trace.read(text);
        if text == b"\xfd7z" {
            assert_eq!(found, Some(Compression::Xz));
        } else {
            assert_eq!((found, read.unwrap().as_slice()), (None, text));
        }
    }
}

#[test]
fn incomplete_data_is_an_error() {
    let trace = Trace::new();
    let text = text();
    for compression in ALL {
        let mut bytes = Vec::new();
        let mut complete = vec![(0, 0)];
        let (first, second) = text.split_at(text.len() / 2 + 3);
        for (part, end) in [(first, first.len()), (&b""[..], first.len()), (second, text.len())] {
            bytes.extend(compress(compression, part));
            complete.push((bytes.len(), end));
        }
        for cut in 0..=bytes.len() {
            let (found, read) = trace.read(&bytes[..cut]);
            if let Some((_, end)) = complete.iter().find(|(len, _)| *len == cut) {
                assert_eq!(read.unwrap(), text[..*end], "{compression}, {cut}");
            } else if cut < 3 && bytes[..cut].is_ascii() && bytes[0] != 0x1f {
                // An input this short could be text.
                assert_eq!((found, read.unwrap().as_slice()), (None, &bytes[..cut]));
            } else {
                let error = read.expect_err(&format!("{compression}, {cut}")).to_string();
                let wanted = format!("{compression}: the compressed data end too early");
                assert_eq!(error, wanted, "{cut} of {}", bytes.len());
            }
        }
    }
}

#[test]
fn a_flipped_bit_is_never_silently_wrong() {
    let trace = Trace::new();
    let text = text();
    for compression in ALL {
        let whole = compress(compression, &text);
        let mut seen = 0;
        for at in 0..whole.len() {
            for bit in [0, 1, 4, 7] {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                match trace.read(&damaged) {
                    (None, Ok(read)) => assert_eq!(read, damaged, "{compression}, {at}"),
                    (Some(_), Ok(read)) => assert_eq!(read, text, "{compression}, {at}"),
                    (_, Err(error)) => {
                        seen += 1;
                        let error = error.to_string();
                        let start = format!("{compression}: the compressed data ");
                        assert!(error.starts_with(&start), "{error}");
                    }
                }
            }
        }
        assert!(seen > 3 * whole.len(), "{compression}: {seen} errors in {} bytes", whole.len());
    }
}

#[test]
fn other_data_after_the_compressed_data_is_an_error() {
    let trace = Trace::new();
    for compression in ALL {
        for rest in [&b"% more, forgotten to compress\n"[..], &[0; 23]] {
            let bytes = [compress(compression, &text()), rest.to_vec()].concat();
            let error = trace.read(&bytes).1.unwrap_err().to_string();
            assert!(error.starts_with(&format!("{compression}: the compressed data ")), "{error}");
        }
    }
}

#[test]
fn padding_of_xz_streams_is_accepted() {
    let trace = Trace::new();
    let part = compress(Compression::Xz, b"text\n");
    let bytes = [&part[..], &[0; 8], &part, &[0; 4]].concat();
    assert_eq!(trace.read(&bytes).1.unwrap(), b"text\ntext\n");
}

/// A head of a block can ask for a dictionary of 4 GiB.
#[test]
fn xz_takes_limited_memory() {
    let trace = Trace::new();
    let mut bytes = compress(Compression::Xz, b"text\n");
    let (block, size) = (12, 8);
    assert_eq!(bytes[block + 2], 0x21, "the filter is LZMA2");
    let mut with_dictionary = |bits: u8| {
        bytes[block + 4] = bits;
        let head = &bytes[block..block + size];
        let sum = head.iter().fold(u32::MAX, |sum, byte| {
            let step = |sum: u32, _| sum >> 1 ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 };
            (0..8).fold(sum ^ u32::from(*byte), step)
        });
        bytes[block + size..block + size + 4].copy_from_slice(&(!sum).to_le_bytes());
        trace.read(&bytes).1
    };
    // 1.5 GiB, which is the most that the tool `xz` makes.
    assert_eq!(with_dictionary(37).unwrap(), b"text\n");
    let error = with_dictionary(40).unwrap_err();
    assert_eq!(error.to_string(), "xz: decompressing would take more than 2 GiB of memory");
}

#[test]
fn skippable_zstd_frames_are_accepted() {
    let trace = Trace::new();
    let part = compress(Compression::Zstd, b"text\n");
    for kind in [b'P', b'_'] {
        let skipped = [&[kind, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"any"].concat();
        let bytes = [&skipped[..], &part, &skipped, &part, &skipped].concat();
        let (found, read) = trace.read(&bytes);
        assert_eq!(found, Some(Compression::Zstd));
        assert_eq!(read.unwrap(), b"text\ntext\n");
    }
}

/// `zstd --long=28` makes such windows. By default, the library refuses windows of more than 2^27
/// bytes.
#[test]
fn long_zstd_windows_are_accepted() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(28).unwrap();
    encoder.write_all(b"text\n").unwrap();
    encoder.flush().unwrap();
    encoder.write_all(b"text\n").unwrap();
    let bytes = encoder.finish().unwrap();
    assert_eq!(Trace::new().read(&bytes).1.unwrap(), b"text\ntext\n");
}

#[test]
fn long_texts_are_read() {
    let trace = Trace::new();
    let mut text = Vec::new();
    let mut number = 1_u32;
    while text.len() < 3_000_000 {
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.extend(number.to_string().into_bytes());
        text.push(b'\n');
    }
    for compression in ALL {
        let (first, second) = text.split_at(1_000_000);
        let bytes = [compress(compression, first), compress(compression, second)].concat();
        assert!(trace.read(&bytes).1.unwrap() == text, "{compression}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn named_pipes_are_read() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let text = text();
    let compressed = ALL.map(|compression| (Some(compression), compress(compression, &text)));
    let plain = [(None, text.clone()), (None, b"B".to_vec()), (None, Vec::new())];
    for (compression, bytes) in plain.into_iter().chain(compressed) {
        let (to, what) = (path.clone(), bytes.clone());
        let writer = std::thread::spawn(move || {
            let mut pipe = File::options().write(true).open(to).unwrap();
            // The first bytes of the input are written one at a time.
            for byte in what.chunks(1).take(9) {
                pipe.write_all(byte).unwrap();
            }
            pipe.write_all(&what[what.len().min(9)..]).unwrap();
        });
        let mut input = Input::open(Some(&path)).unwrap();
        assert_eq!((input.size(), input.compression()), (None, compression));
        assert!(matches!(input.kind(), Kind::Stream(_)));
        let mut read = Vec::new();
        input.read_to_end(&mut read).unwrap();
        assert_eq!(read, if compression.is_some() { text.clone() } else { bytes.clone() });
        assert_eq!(input.read_so_far().load(Ordering::Relaxed), bytes.len() as u64);
        writer.join().unwrap();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn system_files_have_content_but_no_length() {
    let mut input = Input::open(Some(Path::new("/proc/self/status"))).unwrap();
    assert_eq!(input.size(), None);
    assert!(io::read_to_string(&mut input).unwrap().starts_with("Name:"));
}

/// Runs in a process that [`standard_input_is_read`] starts with a different standard input.
#[test]
#[ignore = "a part of another test"]
fn the_child() {
    for path in [None, Some(Path::new("-"))] {
        let mut input = Input::open(path).unwrap();
        let kind = if matches!(input.kind(), Kind::File(..)) { "file" } else { "stream" };
        let (name, size) = (input.name().to_owned(), input.size());
        let text = io::read_to_string(&mut input).unwrap();
        println!("{} {kind} {size:?} {text:?};", name.display());
    }
}

#[test]
fn standard_input_is_read() {
    fn child(input: impl Into<Stdio>, feed: &[u8]) -> String {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "the_child", "--ignored", "--nocapture"])
            .stdin(input)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        if let Some(mut pipe) = child.stdin.take() {
            pipe.write_all(feed).unwrap();
        }
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    }
    let said = child(Stdio::piped(), b"text\n");
    assert!(said.contains("<stdin> stream None \"text\\n\";\n<stdin> stream None \"\";"), "{said}");
    let said = child(Stdio::null(), b"");
    assert!(said.contains("<stdin> stream None \"\";"), "{said}");

    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"first\nsecond\n").unwrap();
    file.rewind().unwrap();
    let said = child(file.try_clone().unwrap(), b"");
    let line = "<stdin> file Some(13) \"first\\nsecond\\n\";";
    assert!(said.contains(&format!("{line}\n{line}")), "{said}");
    file.seek(io::SeekFrom::Start(6)).unwrap();
    let said = child(file.try_clone().unwrap(), b"");
    assert!(said.contains("<stdin> stream Some(7) \"second\\n\";"), "{said}");

    for compression in ALL {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"first\n").unwrap();
        file.write_all(&compress(compression, b"second\n")).unwrap();
        let size = file.stream_position().unwrap() - 6;
        file.seek(io::SeekFrom::Start(6)).unwrap();
        let said = child(file, b"");
        assert!(said.contains(&format!("<stdin> stream Some({size}) \"second\\n\";")), "{said}");
    }
}

#[test]
fn readers_are_read_like_files() {
    let text = b"1 2 3\n".repeat(1000);
    let mut all: Vec<_> = ALL.iter().map(|one| (Some(*one), compress(*one, &text))).collect();
    all.push((None, text.clone()));
    for (compression, bytes) in all {
        for at_once in [1, 5, usize::MAX] {
            let (size, reader) =
                (bytes.len() as u64, Trickle(io::Cursor::new(bytes.clone()), at_once));
            let mut input = Input::from_reader("<memory>".into(), reader, Some(size)).unwrap();
            assert_eq!((input.compression(), input.size()), (compression, Some(size)));
            let taken = input.read_so_far();
            let mut read = Vec::new();
            input.read_to_end(&mut read).unwrap();
            assert_eq!(read, text, "{compression:?}");
            assert_eq!(taken.load(Ordering::Relaxed), size);
        }
    }
    let mut empty = Input::from_reader("<memory>".into(), io::empty(), None).unwrap();
    assert_eq!(empty.read(&mut [0; 8]).unwrap(), 0);
}

struct Trickle(io::Cursor<Vec<u8>>, usize);

impl Read for Trickle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let room = self.1.min(buffer.len());
        self.0.read(&mut buffer[..room])
    }
}

#[test]
fn inputs_can_be_read_through_another_reader() {
    let trace = Trace::new();
    let text = b"1 2 3\n".repeat(1000);
    for bytes in [text.clone(), compress(Compression::Zstd, &text)] {
        fs::write(&trace.path, &bytes).unwrap();
        let input = Input::open(Some(&trace.path)).unwrap();
        let (name, size) = (input.name().to_owned(), input.size());
        let mut through = input.through(|text| Box::new(text.take(6)));
        assert_eq!((through.name(), through.size()), (name.as_path(), size));
        let mut read = Vec::new();
        through.read_to_end(&mut read).unwrap();
        assert_eq!(read, &text[..6]);
    }
}

fn packed_in(texts: &[&str]) -> (TempDir, Input) {
    use paje_pack::{Definitions, Segment, Settings, Writer};
    let mut writer = Writer::new(Vec::new()).unwrap();
    for text in texts {
        let packed = Segment::pack(text.as_bytes(), &Definitions::default(), Settings::default());
        writer.put(&packed.unwrap()).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.pjp");
    fs::write(&path, writer.finish().unwrap()).unwrap();
    let input = Input::open(Some(&path)).unwrap();
    (folder, input)
}

#[test]
fn a_segment_of_several_lines_that_ends_within_one_is_refused() {
    let (_folder, mut input) = packed_in(&["5 a\n5 b\n", "5 c\n5", " d\n", "5 e"]);
    // A segment with a single line may contain the rest of a line that begins in the previous
    // segment.
    assert!(input.segments(1 << 20).is_none());
    let (_folder, mut input) = packed_in(&["5 a\n5 b\n", "5 c\n5", " d\n5 e\n", "5 f"]);
    let mut segments = input.segments(1 << 20).unwrap();
    let mut block = splitter::Block::default();
    let mut next = || {
        block.set_segment(segments.next_segment().unwrap().unwrap());
        let unpacked = block.unpack().map_err(|error| error.to_string());
        unpacked.map(|()| block.text().to_vec())
    };
    assert_eq!(next().as_deref(), Ok(&b"5 a\n5 b\n"[..]));
    let refused = next().unwrap_err();
    assert!(refused.contains("a segment of several lines ends within one"), "{refused}");
    assert_eq!(next().as_deref(), Ok(&b" d\n5 e\n"[..]));
    // The last segment need not end with a newline.
    assert_eq!(next().as_deref(), Ok(&b"5 f"[..]));
    // One segment is longer than the limit.
    let (_folder, mut input) = packed_in(&["5 a\n5 b\n", "5 c\n5 d\n"]);
    assert!(input.segments(7).is_none());
}
