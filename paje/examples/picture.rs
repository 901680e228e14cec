//! Draws the states of all containers over time as SVG: `picture TRACE`.

use std::error::Error;

use paje::{Trace, TraceReader};
use plotters::prelude::*;

pub(crate) fn svg(trace: &Trace) -> Result<String, Box<dyn Error>> {
    let lanes: Vec<_> = trace.lanes().filter(|lane| lane.states().len() > 0).collect();
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (900, 20 * lanes.len() as u32 + 40));
        let area = area.into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .margin(10)
            .build_cartesian_2d(0.0..trace.end(), 0..lanes.len() as i32)?;
        for (lane, row) in lanes.iter().zip(0..) {
            let rectangles = lane.states().map(|state| {
                let color = Palette99::pick(state.value.index());
                let corners = [(state.start, row), (state.end, row + 1)];
                Rectangle::new(corners, color.filled())
            });
            chart.draw_series(rectangles)?;
        }
        area.present()?;
    }
    Ok(text)
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: picture TRACE")?;
    print!("{}", svg(&TraceReader::new().open(path)?)?);
    Ok(())
}
