//! The bound of every mechanism against the number of records.

use crate::failure::Failure;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use rayon::prelude::*;
use std::path::Path;
use tamis::plan::{Question, mechanisms};

const SIZE: (u32, u32) = (1000, 600);
/// For the names.
const LEGEND: i32 = 290;
/// Okabe & Ito's palette, told apart by colour-blind readers; dashes and marks tell curves apart without it.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];
const GREY: RGBColor = RGBColor(120, 120, 120);

/// A mechanism's bounds.
struct Curve {
    title: &'static str,
    /// Records, and what all answers are within.
    points: Vec<(f64, f64)>,
}

/// Draws and writes the SVG.
pub fn write(question: &Question, path: &Path) -> Result<(), Failure> {
    let svg = draw(question);
    std::fs::write(path, svg).map_err(|error| {
        Failure::machine(
            format_args!("cannot write {}: {error}", path.display()),
            "give a file in a folder that is there",
        )
    })
}

fn draw(question: &Question) -> String {
    let records = sizes(question.records);
    let limit: Vec<(f64, f64)> =
        records.iter().map(|&records| (records as f64, question.with_records(records).largest_answer())).collect();
    // What is far beyond the vacuous is cut off.
    let highest = 100.0 * limit.iter().map(|point| point.1).fold(1.0, f64::max);
    let curves: Vec<Curve> = mechanisms::ALL
        .into_par_iter()
        .map(|&mechanism| {
            let point = |&records: &u64| {
                let within = question.with_records(records).within(mechanism)?;
                (within <= highest).then_some((records as f64, within.max(1e-3)))
            };
            Curve { title: mechanism.about().title, points: records.iter().filter_map(point).collect() }
        })
        .filter(|curve| !curve.points.is_empty())
        .collect();
    let mut svg = String::new();
    let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
    // Cannot fail: the backend writes to memory, and the ranges are positive and not empty.
    draw_curves(question, &curves, &limit, &root).expect("memory does not fail");
    drop(root);
    svg
}

/// Two a decade, a hundred times fewer to a hundred times more.
fn sizes(records: u64) -> Vec<u64> {
    let size = |half: i32| (records as f64 * 10f64.powf(f64::from(half) / 2.0)).round();
    let within = |size: &f64| (1.0..=Question::MAX_RECORDS as f64).contains(size);
    let mut sizes: Vec<u64> = (-4..=4).map(size).filter(within).map(|size| size as u64).collect();
    sizes.dedup();
    sizes
}

type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn draw_curves(question: &Question, curves: &[Curve], limit: &[(f64, f64)], root: &Area<'_>) -> Drawn {
    root.fill(&WHITE)?;
    let (plot, legend) = root.split_horizontally(SIZE.0 as i32 - LEGEND);
    let range = |values: &mut dyn Iterator<Item = f64>| {
        let (low, high) = values.fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
        (low / 1.5)..(high * 1.5)
    };
    let x = range(&mut limit.iter().map(|point| point.0));
    let all = || curves.iter().flat_map(|curve| &curve.points).chain(limit);
    let y = range(&mut all().map(|point| point.1));
    let title = format!("{} queries of up to {} keys, {}", question.queries.get(), question.support, question.budget);
    let mut chart = ChartBuilder::on(&plot)
        .caption(title, ("sans-serif", 17))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(72)
        .build_cartesian_2d(x.log_scale(), y.log_scale())?;
    let power = |value: &f64| if (1.0..1e5).contains(value) { format!("{value}") } else { format!("{value:e}") };
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.12))
        .x_desc("records")
        .y_desc(format!("all answers within, in records (but for {})", question.beta.get()))
        .x_label_formatter(&power)
        .y_label_formatter(&power)
        .axis_desc_style(("sans-serif", 15))
        .label_style(("sans-serif", 13))
        .draw()?;
    chart.plotting_area().draw(&PathElement::new(limit.to_vec(), GREY.stroke_width(5)))?;
    legend.draw(&PathElement::new(vec![(4, 40), (40, 40)], GREY.stroke_width(5)))?;
    legend.draw(&Text::new("largest answer: vacuous above", (48, 34), ("sans-serif", 13)))?;
    for (row, curve) in curves.iter().enumerate() {
        let height = 64 + 22 * row as i32;
        draw_curve(row, chart.plotting_area(), &curve.points)?;
        draw_curve(row, &legend, &[(4, height), (22, height), (40, height)])?;
        legend.draw(&Text::new(curve.title, (48, height - 6), ("sans-serif", 13)))?;
    }
    root.present()
}

/// A line and marks, of which no two curves have the same pair.
fn draw_curve<C: CoordTranslate<From: Copy + 'static>>(
    number: usize,
    area: &DrawingArea<SVGBackend<'_>, C>,
    points: &[C::From],
) -> Drawn {
    let colour = COLOURS[number % COLOURS.len()];
    let stroke = colour.stroke_width(2);
    match number / 4 % 4 {
        0 => area.draw(&PathElement::new(points, stroke))?,
        1 => area.draw(&DashedPathElement::new(points.iter().copied(), 9, 5, stroke))?,
        2 => area.draw(&DashedPathElement::new(points.iter().copied(), 3, 4, stroke))?,
        _ => area.draw(&DashedPathElement::new(points.iter().copied(), 16, 3, stroke))?,
    }
    points.iter().try_for_each(|point| match number % 4 {
        0 => area.draw(&Circle::new(*point, 4, colour.filled())),
        1 => area.draw(&TriangleMarker::new(*point, 6, colour.filled())),
        2 => area.draw(&Cross::new(*point, 5, stroke)),
        _ => area.draw(&Circle::new(*point, 5, stroke)),
    })
}
