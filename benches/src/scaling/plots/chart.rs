//! Drawing: lines and markers over two axes, with the legend beside them, where it hides nothing.

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::super::Result;
use super::axis::Axis;

/// Pixels of the whole, and of its left part with the axes.
const SIZE: (u32, u32) = (1240, 620);
const AXES_WIDTH: u32 = 790;

/// The backend writes sizes of fonts divided by this.
const FONT_SCALE: f64 = 1.24;

const INK: RGBColor = RGBColor(40, 40, 40);
const PALE_INK: RGBColor = RGBColor(105, 105, 105);

/// Red, green, blue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Colour(pub(crate) u8, pub(crate) u8, pub(crate) u8);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    None,
    Thin,
    Solid,
    Dashed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    HollowCircle,
    HollowSquare,
    HollowTriangle,
    HollowDiamond,
    Cross,
    /// Large enough for any other marker inside.
    OpenStar,
}

impl Marker {
    /// The same, with paper inside.
    pub(crate) fn hollow(self) -> Marker {
        match self {
            Marker::Circle => Marker::HollowCircle,
            Marker::Square => Marker::HollowSquare,
            Marker::Triangle => Marker::HollowTriangle,
            Marker::Diamond => Marker::HollowDiamond,
            other => other,
        }
    }

    fn is_hollow(self) -> bool {
        use Marker::{HollowCircle, HollowDiamond, HollowSquare, HollowTriangle};
        matches!(self, HollowCircle | HollowSquare | HollowTriangle | HollowDiamond)
    }

    /// Corners around the centre; none for a circle and a cross.
    fn corners(self) -> &'static [(i32, i32)] {
        match self {
            Marker::Circle | Marker::HollowCircle | Marker::Cross => &[],
            Marker::Square | Marker::HollowSquare => &[(-5, -5), (5, -5), (5, 5), (-5, 5)],
            Marker::Triangle | Marker::HollowTriangle => &[(0, -6), (6, 5), (-6, 5)],
            Marker::Diamond | Marker::HollowDiamond => &[(0, -7), (7, 0), (0, 7), (-7, 0)],
            Marker::OpenStar => &[
                (0, -15),
                (5, -6),
                (14, -5),
                (8, 2),
                (9, 12),
                (0, 8),
                (-9, 12),
                (-8, 2),
                (-14, -5),
                (-5, -6),
            ],
        }
    }
}

/// Series of points in one colour.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) label: String,
    /// A second line in the legend.
    pub(crate) note: Option<String>,
    pub(crate) colour: Colour,
    pub(crate) line: Line,
    pub(crate) marker: Option<Marker>,
    pub(crate) points: Vec<(f64, f64)>,
}

/// A plot to be drawn.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) x_name: String,
    pub(crate) y_name: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// Later ones lie above earlier ones.
    pub(crate) series: Vec<Series>,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Pixel = (i32, i32);

impl Chart {
    /// The plot as a text.
    pub(crate) fn svg(&self) -> Result<String> {
        let mut text = String::new();
        {
            let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
            root.fill(&WHITE)?;
            write(&root, &self.title, (24, 28), 20.0, INK)?;
            write(&root, &self.subtitle, (24, 54), 13.0, PALE_INK)?;
            self.draw_axes(&root)?;
            self.draw_legend(&root)?;
            root.present()?;
        }
        Ok(text)
    }

    fn draw_axes(&self, root: &Area<'_>) -> Result<()> {
        let (left, _) = root.split_horizontally(AXES_WIDTH);
        let mut context = ChartBuilder::on(&left)
            .margin_top(76)
            .margin_left(16)
            .margin_right(20)
            .margin_bottom(12)
            .x_label_area_size(52)
            .y_label_area_size(66)
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        let font = |size: f64| ("sans-serif", size * FONT_SCALE).into_font().color(&INK);
        context
            .configure_mesh()
            .bold_line_style(RGBColor(225, 225, 225))
            .axis_style(PALE_INK)
            .label_style(font(13.0))
            .axis_desc_style(font(14.0))
            .x_desc(&self.x_name)
            .y_desc(&self.y_name)
            .draw()?;
        for series in &self.series {
            let pixels = series.points.iter().map(|point| context.backend_coord(point));
            draw_series(root, series, &pixels.collect::<Vec<_>>())?;
        }
        Ok(())
    }

    fn draw_legend(&self, root: &Area<'_>) -> Result<()> {
        let left = AXES_WIDTH as i32 + 4;
        let mut y = 96;
        for series in self.series.iter().filter(|series| !series.label.is_empty()) {
            let (from, to) = ((left, y), (left + 40, y));
            let middle = (left + 20, y);
            draw_line(root, series, &[from, to])?;
            draw_marker(root, series, middle)?;
            write(root, &series.label, (left + 50, y), 13.0, INK)?;
            if let Some(note) = &series.note {
                y += 18;
                write(root, note, (left + 50, y), 12.0, PALE_INK)?;
            }
            y += 27;
        }
        Ok(())
    }
}

fn draw_series(root: &Area<'_>, series: &Series, pixels: &[Pixel]) -> Result<()> {
    draw_line(root, series, pixels)?;
    for pixel in pixels {
        draw_marker(root, series, *pixel)?;
    }
    Ok(())
}

fn draw_line(root: &Area<'_>, series: &Series, pixels: &[Pixel]) -> Result<()> {
    if pixels.is_empty() {
        return Ok(());
    }
    let Colour(red, green, blue) = series.colour;
    let colour = RGBColor(red, green, blue);
    match series.line {
        Line::None => {}
        Line::Thin => root.draw(&PathElement::new(pixels.to_vec(), colour.stroke_width(1)))?,
        Line::Solid => root.draw(&PathElement::new(pixels.to_vec(), colour.stroke_width(2)))?,
        Line::Dashed => {
            let pixels = pixels.to_vec();
            root.draw(&DashedPathElement::new(pixels, 7, 5, colour.stroke_width(2)))?;
        }
    }
    Ok(())
}

fn draw_marker(root: &Area<'_>, series: &Series, (x, y): Pixel) -> Result<()> {
    let Colour(red, green, blue) = series.colour;
    let colour = RGBColor(red, green, blue);
    let Some(marker) = series.marker else { return Ok(()) };
    let inside = if marker.is_hollow() { WHITE } else { colour };
    let outline = colour.stroke_width(2);
    match marker {
        Marker::Circle | Marker::HollowCircle => {
            root.draw(&Circle::new((x, y), 5, inside.filled()))?;
            root.draw(&Circle::new((x, y), 5, outline))?;
        }
        Marker::Cross => root.draw(&Cross::new((x, y), 5, outline))?,
        marker => {
            let mut corners: Vec<Pixel> =
                marker.corners().iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
            if marker != Marker::OpenStar {
                root.draw(&Polygon::new(corners.clone(), inside.filled()))?;
            }
            corners.push(corners[0]);
            root.draw(&PathElement::new(corners, outline))?;
        }
    }
    Ok(())
}

/// Writes from a point to the right, centred on its height.
fn write(root: &Area<'_>, text: &str, at: Pixel, size: f64, colour: RGBColor) -> Result<()> {
    let style = ("sans-serif", size * FONT_SCALE).into_font().color(&colour);
    let style = style.pos(Pos::new(HPos::Left, VPos::Center));
    Ok(root.draw(&Text::new(text.to_owned(), at, style))?)
}
