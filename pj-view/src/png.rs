//! PNG files of drawings.

use std::io;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Family, Query};
use resvg::usvg::{Options, Tree};

/// Maximum number of pixels of a picture. Each pixel takes four bytes.
const MOST_PIXELS: u64 = 100_000_000;

pub(crate) struct Painted {
    pub(crate) bytes: Vec<u8>,
    pub(crate) lacks_fonts: bool,
}

/// Renders a drawing, unless it is too large.
pub(crate) fn paint(drawing: &str) -> io::Result<Painted> {
    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_system_fonts();
    choose(fonts);
    let lacks_fonts = fonts.is_empty();
    let tree = Tree::from_str(drawing, &options).map_err(io::Error::other)?;
    let size = tree.size().to_int_size();
    let (width, height) = (size.width(), size.height());
    if u64::from(width) * u64::from(height) > MOST_PIXELS {
        let why =
            format!("{width} × {height} pixels are more than {MOST_PIXELS}; --height limits them");
        return Err(io::Error::other(why));
    }
    let mut pixels =
        Pixmap::new(width, height).ok_or_else(|| io::Error::other("the drawing is empty"))?;
    resvg::render(&tree, Transform::identity(), &mut pixels.as_mut());
    let bytes = pixels.encode_png().map_err(io::Error::other)?;
    Ok(Painted { bytes, lacks_fonts })
}

fn choose(fonts: &mut Database) {
    let has = |name: &str| {
        fonts.query(&Query { families: &[Family::Name(name)], ..Query::default() }).is_some()
    };
    let names = ["Helvetica", "Arial", "Liberation Sans", "DejaVu Sans", "Noto Sans"];
    let known = names.into_iter().find(|name| has(name)).map(str::to_owned);
    let any = || fonts.faces().find_map(|face| Some(face.families.first()?.0.clone()));
    if let Some(name) = known.or_else(any) {
        fonts.set_sans_serif_family(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_keep_place_and_color() {
        let drawing = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"20\" viewBox=\"0 0 40 20\">\
                       <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/><path fill=\"#0000ff\" d=\"M10 5h20v10H10z\"/></svg>";
        let painted = paint(drawing).expect("a picture");
        let pixels = Pixmap::decode_png(&painted.bytes).expect("a picture");
        assert_eq!((pixels.width(), pixels.height()), (40, 20));
        let color =
            |x, y| pixels.pixel(x, y).map(|it| [it.red(), it.green(), it.blue(), it.alpha()]);
        assert_eq!(color(20, 10), Some([0, 0, 255, 255]));
        assert_eq!(color(2, 2), Some([255, 255, 255, 255]));
    }

    #[test]
    fn large_drawings_are_refused() {
        let drawing =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"20000\" height=\"50000\"/>";
        let why = paint(drawing).err().expect("too large").to_string();
        assert!(why.starts_with("20000 × 50000 pixels are more than"), "{why}");
    }
}
