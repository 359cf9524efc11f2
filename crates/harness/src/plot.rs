//! Plots of columns against each other: bounds as lines, measurements as points, in SVG.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::{CoordTranslate, Shift};
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use crate::cell::significant;
use crate::table::{Role, Table};

/// What to plot: named columns of the table. Values that are missing, infinite, or not positive on a
/// logarithmic axis are left out; the last two are counted under the plot.
///
/// ```
/// use tamis_harness::Plot;
/// let plot = Plot::new("plot", "k", "error (counts)").log_x().line("paper's bound").points("measured").split_by("c");
/// ```
#[derive(Clone, Debug)]
pub struct Plot {
    stem: &'static str,
    x: &'static str,
    y_label: &'static str,
    log_x: bool,
    log_y: bool,
    series: Vec<(&'static str, Mark)>,
    split: Option<&'static str>,
    only: Vec<(&'static str, &'static str)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Line,
    Points,
}

/// One curve or cloud: legend, points, and how it is drawn.
struct Series {
    label: String,
    points: Vec<(f64, f64)>,
    mark: Mark,
    colour: RGBColor,
    /// The how-manieth of its kind: decides dashes and shapes, so that colour is never the only difference.
    shape: usize,
}

/// Okabe & Ito's palette, told apart by colour-blind readers.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];
const GREY: RGBColor = RGBColor(110, 110, 110);
const SIZE: (u32, u32) = (860, 480);

impl Plot {
    /// A plot over the column `x`, in the file `stem`.svg. `y_label` names the vertical axis and its unit.
    pub fn new(stem: &'static str, x: &'static str, y_label: &'static str) -> Self {
        Self { stem, x, y_label, log_x: false, log_y: false, series: Vec::new(), split: None, only: Vec::new() }
    }

    /// A logarithmic horizontal axis.
    #[must_use]
    pub fn log_x(mut self) -> Self {
        self.log_x = true;
        self
    }

    /// A logarithmic vertical axis.
    #[must_use]
    pub fn log_y(mut self) -> Self {
        self.log_y = true;
        self
    }

    /// A column drawn as a line: a bound.
    #[must_use]
    pub fn line(mut self, column: &'static str) -> Self {
        self.series.push((column, Mark::Line));
        self
    }

    /// A column drawn as points: something measured.
    #[must_use]
    pub fn points(mut self, column: &'static str) -> Self {
        self.series.push((column, Mark::Points));
        self
    }

    /// Draws every series once for each value of this column, a colour each.
    #[must_use]
    pub fn split_by(mut self, column: &'static str) -> Self {
        self.split = Some(column);
        self
    }

    /// Draws only the rows whose column holds this text, as printed.
    #[must_use]
    pub fn only(mut self, column: &'static str, text: &'static str) -> Self {
        self.only.push((column, text));
        self
    }

    /// The columns it needs.
    pub(crate) fn columns(&self) -> Vec<&'static str> {
        let series = self.series.iter().map(|(column, _)| *column);
        series.chain([self.x]).chain(self.split).chain(self.only.iter().map(|(column, _)| *column)).collect()
    }

    /// The file it goes to: apart from the others if it shows readings of the clock.
    pub(crate) fn file(&self, table: &Table) -> String {
        let is_timing =
            |name: &str| table.position(name).is_some_and(|position| table.columns[position].role == Role::Timing);
        let timed = self.columns().into_iter().any(is_timing);
        format!("{}{}.svg", if timed { "timings-" } else { "" }, self.stem)
    }

    /// The SVG, with the name of the experiment and the choice of rows above it.
    pub(crate) fn draw(&self, name: &str, table: &Table) -> String {
        let (mut title, mut table) = (name.to_owned(), table.clone());
        for (column, text) in &self.only {
            title += &format!(", {column} = {text}");
            table = table.only(column, *text);
        }
        let (series, left_out) = self.series(&table);
        let mut svg = String::new();
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        // Cannot fail: the backend writes to memory, and the ranges are finite and not empty.
        self.draw_series(&title, &series, left_out, root).expect("memory does not fail");
        svg
    }

    /// The series in axis coordinates (logarithms where the axis has them), and how many values cannot be shown.
    fn series(&self, table: &Table) -> (Vec<Series>, usize) {
        let groups: Vec<(String, Table)> = match self.split {
            None => vec![(String::new(), table.clone())],
            Some(split) => {
                let values = table.values(split).into_iter();
                // A word says by itself what it is; a number does not.
                let named = |value: &str| {
                    if value.parse::<f64>().is_ok() { format!("{split} = {value}: ") } else { format!("{value}: ") }
                };
                values.map(|value| (named(value), table.only(split, value))).collect()
            }
        };
        let axis = |log: bool, value: f64| if log { value.log10() } else { value };
        let (mut all, mut left_out) = (Vec::new(), 0);
        for (group_number, (group, rows)) in groups.iter().enumerate() {
            for (number, (column, mark)) in self.series.iter().enumerate() {
                let mut points = rows.points(self.x, column);
                let given = points.len();
                points.iter_mut().for_each(|(x, y)| (*x, *y) = (axis(self.log_x, *x), axis(self.log_y, *y)));
                points.retain(|(x, y)| x.is_finite() && y.is_finite());
                left_out += given - points.len();
                if *mark == Mark::Line {
                    points.sort_by(|a, b| a.0.total_cmp(&b.0));
                }
                let colour = COLOURS[if self.split.is_some() { group_number } else { number } % COLOURS.len()];
                let shape = self.series[..number].iter().filter(|(_, other)| other == mark).count();
                if !points.is_empty() {
                    all.push(Series { label: format!("{group}{column}"), points, mark: *mark, colour, shape });
                }
            }
        }
        (all, left_out)
    }

    fn draw_series(
        &self,
        title: &str,
        series: &[Series],
        left_out: usize,
        root: DrawingArea<SVGBackend<'_>, Shift>,
    ) -> Drawn {
        root.fill(&WHITE)?;
        let widest = series.iter().map(|series| series.label.chars().count()).max().unwrap_or(0);
        let legend_width = (60 + 7 * widest as i32).min(SIZE.0 as i32 / 2);
        let (plot, legend) = root.split_horizontally(SIZE.0 as i32 - legend_width);
        let x_axis = Axis { range: range(series, |point| point.0, self.log_x), log: self.log_x };
        let y_axis = Axis { range: range(series, |point| point.1, self.log_y), log: self.log_y };
        let mut chart = ChartBuilder::on(&plot)
            .caption(title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(72)
            .build_cartesian_2d(x_axis, y_axis)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.12))
            .x_desc(self.x)
            .y_desc(self.y_label)
            .axis_desc_style(("sans-serif", 15))
            .label_style(("sans-serif", 13))
            .draw()?;
        for one in series {
            one.draw(chart.plotting_area(), &one.points)?;
        }
        for (row, one) in series.iter().enumerate() {
            let y = 52 + 20 * row as i32;
            let example = if one.mark == Mark::Line { vec![(4, y), (36, y)] } else { vec![(20, y)] };
            one.draw(&legend, &example)?;
            legend.draw(&Text::new(one.label.clone(), (42, y - 6), ("sans-serif", 13)))?;
        }
        let note = match (series.is_empty(), left_out) {
            (true, _) => "seeded: not private · nothing to show".to_owned(),
            (false, 0) => "seeded: not private".to_owned(),
            (false, count) => format!("seeded: not private · {count} values do not fit the axes"),
        };
        root.draw(&Text::new(note, (12, SIZE.1 as i32 - 16), ("sans-serif", 11).into_font().color(&GREY)))?;
        root.present()
    }
}

type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

impl Series {
    /// Draws the series through points given in the coordinates of `area`: the plot's, or the legend's pixels.
    fn draw<C: CoordTranslate<From: Copy + 'static>>(
        &self,
        area: &DrawingArea<SVGBackend<'_>, C>,
        points: &[C::From],
    ) -> Drawn {
        let stroke = self.colour.stroke_width(2);
        match (self.mark, self.shape) {
            // A line of one point would be invisible.
            (Mark::Line, _) if points.len() == 1 => area.draw(&Circle::new(points[0], 2, self.colour.filled())),
            (Mark::Line, 0) => area.draw(&PathElement::new(points, stroke)),
            (Mark::Line, 1) => area.draw(&DashedPathElement::new(points.iter().copied(), 9, 5, stroke)),
            (Mark::Line, _) => area.draw(&DashedPathElement::new(points.iter().copied(), 3, 4, stroke)),
            (Mark::Points, shape) => points.iter().try_for_each(|point| match shape % 3 {
                0 => area.draw(&Circle::new(*point, 4, self.colour.filled())),
                1 => area.draw(&TriangleMarker::new(*point, 6, self.colour.filled())),
                _ => area.draw(&Cross::new(*point, 4, stroke)),
            }),
        }
    }
}

/// An axis in its own coordinates, which are logarithms if `log`: one code path for both, and ticks of our
/// choice.
struct Axis {
    range: Range<f64>,
    log: bool,
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        ticks(&self.range, self.log)
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Axis {
    fn format(value: &f64) -> String {
        significant(*value)
    }

    fn format_ext(&self, value: &f64) -> String {
        significant(if self.log { 10_f64.powf(*value) } else { *value })
    }
}

/// The range of an axis in its own coordinates, with some air; from zero where that is natural.
fn range(series: &[Series], coordinate: impl Fn(&(f64, f64)) -> f64, log: bool) -> Range<f64> {
    let values = || series.iter().flat_map(|one| &one.points).map(&coordinate);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if low > high {
        return 0.0..1.0; // nothing to show
    }
    let from_zero = !log && low >= 0.0;
    let low = if from_zero { 0.0 } else { low };
    let air = if high > low { 0.05 * (high - low) } else { 0.5 };
    let air = if log { air.max(0.1) } else { air };
    (if from_zero { 0.0 } else { low - air })..high + air
}

/// Round numbers within a range: multiples of 1, 2 or 5 times a power of ten; on a logarithmic axis powers of
/// ten, with 2 and 5 times them where those are few.
fn ticks(range: &Range<f64>, log: bool) -> Vec<f64> {
    let span = range.end - range.start;
    if log && span > 1.0 {
        let step = (span / 8.0).ceil() as usize;
        let decades = (range.start.floor() as i32..=range.end.ceil() as i32).step_by(step);
        let within: &[f64] = if span > 3.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let all = decades.flat_map(|decade| within.iter().map(move |factor| f64::from(decade) + factor.log10()));
        return all.filter(|tick| range.contains(tick)).collect();
    }
    if log {
        let linear = 10_f64.powf(range.start)..10_f64.powf(range.end);
        return ticks(&linear, false).into_iter().filter(|tick| *tick > 0.0).map(f64::log10).collect();
    }
    let magnitude = 10_f64.powf((span / 8.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * magnitude)
        .into_iter()
        .find(|step| span / step <= 8.0)
        .unwrap_or(span);
    ((range.start / step).ceil() as i64..=(range.end / step).floor() as i64)
        .map(|multiple| multiple as f64 * step)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Plot, ticks};
    use crate::table::Table;

    fn drawn(rows: &[[&str; 4]]) -> String {
        let rows = rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect();
        let table = Table::plain(&["k", "c", "bound", "measured"], rows);
        Plot::new("plot", "k", "error")
            .log_x()
            .log_y()
            .line("bound")
            .points("measured")
            .split_by("c")
            .draw("t & <u>", &table)
    }

    #[test]
    fn ticks_are_round_and_within() {
        let rounded = |range, log| {
            ticks(&range, log)
                .iter()
                .map(|tick| crate::significant(if log { 10_f64.powf(*tick) } else { *tick }))
                .collect::<Vec<_>>()
        };
        assert_eq!(rounded(0.0..10.0, false), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(rounded(-0.31..0.31, false), ["-0.3", "-0.2", "-0.1", "0", "0.1", "0.2", "0.3"]);
        assert_eq!(rounded(0.9..3.1, true), ["10", "20", "50", "100", "200", "500", "1000"]);
        assert_eq!(rounded(-10.0..10.0, true), ["1e-10", "1e-7", "1e-4", "0.1", "100", "100000", "1e8"]);
        assert_eq!(rounded(0.29..0.71, true), ["2", "2.5", "3", "3.5", "4", "4.5", "5"]);
    }

    #[test]
    fn every_series_has_a_legend_and_what_does_not_fit_is_counted() {
        let rows = [["1", "1", "10", "3"], ["10", "1", "20", "0"], ["1", "2", "30", "inf"], ["10", "2", "40", ""]];
        let svg = drawn(&rows);
        for label in
            ["c = 1: bound", "c = 1: measured", "c = 2: bound", "2 values do not fit the axes", "t &amp; &lt;u&gt;"]
        {
            assert!(svg.contains(label), "{label:?} is missing in {svg}");
        }
        assert!(!svg.contains("c = 2: measured"), "a series without points has no legend");
        assert_eq!(svg, drawn(&rows));
    }

    #[test]
    fn a_plot_of_nothing_or_of_one_point_is_still_drawn() {
        assert!(drawn(&[["1", "1", "", ""]]).contains("nothing to show"));
        assert!(drawn(&[["1", "1", "5", "5"]]).contains("c = 1: bound"));
    }
}
