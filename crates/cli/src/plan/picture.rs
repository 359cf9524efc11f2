//! The bound of every mechanism against the number of records.

use super::report::{exact, number};
use crate::arguments::wrong;
use crate::failure::Failure;
use crate::folder;
use crate::output::percentage;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use rayon::prelude::*;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;
use tamis::plan::{Asking, Basis, Question, mechanisms};

const SIZE: (u32, u32) = (1020, 600);
/// For the names.
const LEGEND: i32 = 316;
/// How long a line is beside its name: three of the longest dashes.
const KEY: i32 = 58;
/// From one name to the next.
const LEADING: i32 = 22;
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
/// Of a curve that does not hold.
const FAINT: f64 = 0.35;

/// What bounds rest on, or why they do not hold, in the order in which they are named.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Proven,
    UntilCorrected,
    Predicted,
    NotAdaptive,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Proven, Self::UntilCorrected, Self::Predicted, Self::NotAdaptive];

    fn heading(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::UntilCorrected => "proven while corrections last",
            Self::Predicted => "predicted, not proven",
            Self::NotAdaptive => "not for questions that depend on answers",
        }
    }
}

/// A mechanism's bounds.
struct Curve {
    /// The place among all mechanisms: it looks the same in every picture.
    place: usize,
    title: &'static str,
    kind: Kind,
    /// Records, and what all answers are within.
    points: Vec<(f64, f64)>,
    /// Whether it goes on above.
    is_cut: bool,
}

/// Whether a picture can be there, before it is drawn.
pub fn check(path: &Path, force: bool) -> Result<(), Failure> {
    const HELP: &str = "give a file in a folder that is there, for example --plot plan.svg";
    let is_svg = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg"));
    let folder = folder::of(path);
    if !is_svg {
        let fault = format_args!("pictures are SVG, and {} does not end in .svg", path.display());
        return Err(wrong("plot", fault, HELP));
    }
    if path.is_dir() {
        return Err(wrong("plot", format_args!("{} is a folder", path.display()), HELP));
    }
    if !folder.is_dir() {
        return Err(wrong("plot", format_args!("there is no folder {}", folder.display()), HELP));
    }
    // What stands there may be a link to nowhere.
    if !force && path.symlink_metadata().is_ok() {
        return Err(exists(path));
    }
    Ok(())
}

fn exists(path: &Path) -> Failure {
    wrong("plot", format_args!("{} exists", path.display()), "give another name, or replace it with --force")
}

/// Draws and writes the SVG.
pub fn write(question: &Question, path: &Path, force: bool) -> Result<(), Failure> {
    let svg = draw(question);
    let mut open = File::options();
    open.write(true).truncate(true).create(force).create_new(!force);
    open.open(path).and_then(|mut file| file.write_all(svg.as_bytes())).map_err(|error| match error.kind() {
        // Since it was checked.
        ErrorKind::AlreadyExists => exists(path),
        _ => Failure::machine(
            format_args!("cannot write {}: {error}", path.display()),
            "give a file that can be written, or look for a full disk",
        ),
    })
}

fn draw(question: &Question) -> String {
    let records = sizes(question);
    let limit: Vec<(f64, f64)> =
        records.iter().map(|&records| (records as f64, question.with_records(records).largest_answer())).collect();
    // What is far beyond the vacuous is cut off.
    let highest = 100.0 * limit.iter().map(|point| point.1).fold(1.0, f64::max);
    let curves: Vec<Curve> = mechanisms::ALL
        .par_iter()
        .enumerate()
        .map(|(place, &mechanism)| {
            let about = mechanism.about();
            let kind = match (question.asking, about.basis) {
                (Asking::Adaptively, _) if !about.is_adaptive => Kind::NotAdaptive,
                (_, Basis::Theorem) => Kind::Proven,
                (_, Basis::UntilCorrected) => Kind::UntilCorrected,
                (_, Basis::Prediction) => Kind::Predicted,
            };
            let bound = |&records: &u64| Some((records as f64, question.with_records(records).within(mechanism)?));
            let bounds: Vec<(f64, f64)> = records.iter().filter_map(bound).collect();
            let seen = |&(records, within): &(f64, f64)| (within <= highest).then_some((records, within.max(1e-3)));
            let points: Vec<_> = bounds.iter().filter_map(seen).collect();
            Curve { place, title: about.title, kind, is_cut: points.len() < bounds.len(), points }
        })
        .filter(|curve| curve.is_cut || !curve.points.is_empty())
        .collect();
    let mut svg = String::new();
    let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
    // Cannot fail: the backend writes to memory, and the ranges are positive and not empty.
    draw_curves(question, &curves, &limit, &root).expect("memory does not fail");
    drop(root);
    svg
}

/// Two a decade, a hundred times fewer to a hundred times more, as far as the question makes sense.
fn sizes(question: &Question) -> Vec<u64> {
    let size = |half: i32| (question.records as f64 * 10f64.powf(f64::from(half) / 2.0)).round() as u64;
    let makes_sense = |&size: &u64| question.with_records(size).check().is_ok();
    let mut sizes: Vec<u64> = (-4..=4).map(size).filter(makes_sense).collect();
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
    let how = match question.asking {
        Asking::Beforehand => "",
        Asking::Adaptively => "adaptive ",
    };
    let (queries, support) = (number(question.queries.to_f64()), number(question.support as f64));
    let title = format!("{queries} {how}queries of up to {support} keys, {}, {}", question.budget, question.neighbours);
    let asked = question.records as f64;
    let axis = format!(
        "number of records (asked: {}), a key having {} of them",
        exact(asked),
        number(question.key_multiplicity)
    );
    let (lowest, highest) = (y.start, y.end);
    let mut chart = ChartBuilder::on(&plot)
        .caption(title, ("sans-serif", 17))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(72)
        .build_cartesian_2d(x.log_scale(), y.log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.12))
        .x_desc(axis)
        .y_desc(format!("all answers within (records), with probability {}", percentage(1.0 - question.beta.get())))
        .x_label_formatter(&tick)
        .y_label_formatter(&tick)
        .axis_desc_style(("sans-serif", 15))
        .label_style(("sans-serif", 13))
        .draw()?;
    chart.plotting_area().draw(&PathElement::new(vec![(asked, lowest), (asked, highest)], GREY.stroke_width(1)))?;
    chart.plotting_area().draw(&PathElement::new(limit.to_vec(), GREY.stroke_width(5)))?;
    curves.iter().try_for_each(|curve| draw_curve(curve, chart.plotting_area(), &curve.points))?;
    draw_legend(curves, &legend)?;
    root.present()
}

/// Names, those of a kind together.
fn draw_legend(curves: &[Curve], legend: &Area<'_>) -> Drawn {
    legend.draw(&PathElement::new(vec![(4, 40), (4 + KEY, 40)], GREY.stroke_width(5)))?;
    legend.draw(&Text::new("largest answer: vacuous above", (18 + KEY, 34), ("sans-serif", 13)))?;
    let mut height = 64;
    for kind in Kind::ALL {
        let of_kind: Vec<&Curve> = curves.iter().filter(|curve| curve.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        legend.draw(&Text::new(
            kind.heading(),
            (4, height - 6),
            ("sans-serif", 13).into_font().style(FontStyle::Bold),
        ))?;
        height += LEADING;
        for curve in of_kind {
            draw_curve(curve, legend, &[(4, height), (4 + KEY / 2, height), (4 + KEY, height)])?;
            let title = match curve.points.as_slice() {
                [] => format!("{} (above)", curve.title),
                _ => curve.title.to_owned(),
            };
            legend.draw(&Text::new(title, (18 + KEY, height - 6), ("sans-serif", 13)))?;
            height += LEADING;
        }
    }
    let notes = [
        (curves.iter().any(|curve| curve.is_cut), "some lines go on above the picture"),
        (true, "where a line ends, memory, keys or a theorem do"),
    ];
    for (row, (_, note)) in (0..).zip(notes.into_iter().filter(|(is_so, _)| *is_so)) {
        legend.draw(&Text::new(note, (4, height + LEADING * row), ("sans-serif", 13)))?;
    }
    Ok(())
}

/// A power of ten as one where it is large.
fn tick(value: &f64) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let power = value.log10().round();
    if power < 4.0 || (value / 10f64.powf(power) - 1.0).abs() > 1e-9 {
        return number(*value);
    }
    let digits = format!("{power:.0}");
    let raised: String = digits.chars().filter_map(|digit| DIGITS.get(digit.to_digit(10)? as usize)).collect();
    format!("10{raised}")
}

/// A line and marks, of which no two of sixteen curves have the same pair, faint if it does not hold.
fn draw_curve<C: CoordTranslate<From: Copy + 'static>>(
    curve: &Curve,
    area: &DrawingArea<SVGBackend<'_>, C>,
    points: &[C::From],
) -> Drawn {
    let place = curve.place;
    let strength = if curve.kind == Kind::NotAdaptive { FAINT } else { 1.0 };
    let colour = COLOURS[place % COLOURS.len()].mix(strength);
    let stroke = colour.stroke_width(2);
    match place / 4 % 4 {
        0 => area.draw(&PathElement::new(points, stroke))?,
        1 => area.draw(&DashedPathElement::new(points.iter().copied(), 9, 5, stroke))?,
        2 => area.draw(&DashedPathElement::new(points.iter().copied(), 3, 4, stroke))?,
        _ => area.draw(&DashedPathElement::new(points.iter().copied(), 16, 3, stroke))?,
    }
    points.iter().try_for_each(|point| match place % 4 {
        0 => area.draw(&Circle::new(*point, 4, colour.filled())),
        1 => area.draw(&TriangleMarker::new(*point, 6, colour.filled())),
        2 => area.draw(&Cross::new(*point, 5, stroke)),
        _ => area.draw(&Circle::new(*point, 5, stroke)),
    })
}
