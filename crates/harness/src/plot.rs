//! Plots of columns against each other: bounds as lines, measurements as points, in SVG.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::{CoordTranslate, Shift};
use plotters::element::{DashedPathElement, EmptyElement};
use plotters::prelude::*;

use crate::cell::{Cell, significant};
use crate::outcome::Picture;
use crate::table::{Role, Table};

/// What to plot: named columns of the table. Values that are missing, infinite, or not positive on a
/// logarithmic axis are left out; the last two are counted under the plot.
///
/// ```
/// use tamis_harness::Plot;
/// let plot = Plot::new("plot", "Error of k queries", "k", "error (counts)").x_label("k (queries)").log_x();
/// let plot = plot.line("paper's bound").points("measured").split_by("c").in_brief();
/// ```
#[derive(Clone, Debug)]
pub struct Plot {
    stem: &'static str,
    title: &'static str,
    x: &'static str,
    x_label: &'static str,
    y_label: &'static str,
    log_x: bool,
    log_y: bool,
    series: Vec<(&'static str, Mark)>,
    split: Option<&'static str>,
    only: Vec<(&'static str, &'static str)>,
    in_brief: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Line,
    Points,
}

/// One curve or cloud: what it shows, and how it is drawn.
struct Series {
    /// The value by which the plot is split, as the legend has it; empty without one.
    group: String,
    column: &'static str,
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
const GREY: RGBColor = RGBColor(90, 90, 90);
const SIZE: (u32, u32) = (860, 480);

/// Length and gap of the dashes of a line: another number than there are colours, so that the same pair comes late.
const DASHES: [Option<(u32, u32)>; 6] =
    [None, Some((10, 5)), Some((3, 4)), Some((18, 5)), Some((6, 10)), Some((12, 2))];

/// The outlines of points, around the origin, and whether they are filled: full ones and open ones by turns, so that
/// those that coincide are seen. The first, a circle, has none.
const SHAPES: [(&[(i32, i32)], bool); 8] = [
    (&[], true),
    (&[(-5, -5), (5, -5), (5, 5), (-5, 5), (-5, -5)], false),
    (&[(0, -6), (6, 5), (-6, 5)], true),
    (&[(-5, -5), (5, 5), (0, 0), (5, -5), (-5, 5)], false),
    (&[(0, -7), (7, 0), (0, 7), (-7, 0), (0, -7)], false),
    (&[(-4, -4), (4, -4), (4, 4), (-4, 4)], true),
    (&[(0, -6), (0, 6), (0, 0), (-6, 0), (6, 0)], false),
    (&[(0, 6), (6, -5), (-6, -5), (0, 6)], false),
];

impl Plot {
    /// A plot over the column `x`, in the file `stem`.svg. `title` says what it shows, `y_label` names the vertical axis and its unit.
    pub fn new(stem: &'static str, title: &'static str, x: &'static str, y_label: &'static str) -> Self {
        Self {
            stem,
            title,
            x,
            x_label: x,
            y_label,
            log_x: false,
            log_y: false,
            series: Vec::new(),
            split: None,
            only: Vec::new(),
            in_brief: false,
        }
    }

    /// The name of the horizontal axis and its unit, where the column's name does not say it.
    #[must_use]
    pub fn x_label(mut self, label: &'static str) -> Self {
        self.x_label = label;
        self
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

    /// Draws every series once for each value of this column, with a colour, a shape and dashes for each.
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

    /// Its rows belong to the brief size. Otherwise that leaves out the plot if it leaves out any of them.
    #[must_use]
    pub fn in_brief(mut self) -> Self {
        self.in_brief = true;
        self
    }

    pub(crate) fn is_in_brief(&self) -> bool {
        self.in_brief
    }

    /// The columns it needs.
    pub(crate) fn columns(&self) -> Vec<&'static str> {
        let series = self.series.iter().map(|(column, _)| *column);
        series.chain([self.x]).chain(self.split).chain(self.only.iter().map(|(column, _)| *column)).collect()
    }

    /// Whether it could show a row with these parameters: none of its conditions on a parameter says no.
    pub(crate) fn may_show(&self, parameters: &[(&str, Cell)]) -> bool {
        let is_another = |&(column, text): &(&str, &str)| {
            parameters.iter().any(|(name, value)| *name == column && value.exact() != text)
        };
        !self.only.iter().any(is_another)
    }

    /// The file it goes to: apart from the others if it shows readings of the clock.
    pub(crate) fn file(&self, table: &Table) -> String {
        let is_timing =
            |name: &str| table.position(name).is_some_and(|position| table.columns[position].role == Role::Timing);
        let timed = self.columns().into_iter().any(is_timing);
        format!("{}{}.svg", if timed { "timings-" } else { "" }, self.stem)
    }

    /// The drawing; below it the name of the experiment and the choice of rows.
    pub(crate) fn draw(&self, name: &str, table: &Table) -> Picture {
        let file = self.file(table);
        let (mut from, mut table) = (name.to_owned(), table.clone());
        for (column, text) in &self.only {
            from += &format!(", {column} = {text}");
            table = table.only(column, *text);
        }
        let (series, left_out) = self.series(&table);
        let mut svg = String::new();
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        // Cannot fail: the backend writes to memory, and the ranges are finite and not empty.
        self.draw_series(&from, &series, left_out, root).expect("memory does not fail");
        Picture { file, title: self.title, svg }
    }

    /// The series in axis coordinates (logarithms where the axis has them), and how many values cannot be shown.
    fn series(&self, table: &Table) -> (Vec<Series>, usize) {
        let groups: Vec<(String, Table)> = match self.split {
            None => vec![(String::new(), table.clone())],
            Some(split) => {
                let values = table.values(split).into_iter();
                // A word says by itself what it is; a number does not.
                let named = |value: &str| {
                    if value.parse::<f64>().is_ok() { format!("{split} = {value}") } else { value.to_owned() }
                };
                values.map(|value| (named(value), table.only(split, value))).collect()
            }
        };
        let axis = |log: bool, value: f64| if log { value.log10() } else { value };
        let (mut all, mut left_out) = (Vec::new(), 0);
        for (group_number, (group, rows)) in groups.iter().enumerate() {
            for (number, &(column, mark)) in self.series.iter().enumerate() {
                let mut points = rows.points(self.x, column);
                let given = points.len();
                points.iter_mut().for_each(|(x, y)| (*x, *y) = (axis(self.log_x, *x), axis(self.log_y, *y)));
                points.retain(|(x, y)| x.is_finite() && y.is_finite());
                left_out += given - points.len();
                if mark == Mark::Line {
                    points.sort_by(|a, b| a.0.total_cmp(&b.0));
                }
                let colour = COLOURS[if self.split.is_some() { group_number } else { number } % COLOURS.len()];
                let of_kind = |series: &[(_, Mark)]| series.iter().filter(|(_, other)| *other == mark).count();
                let shape = group_number * of_kind(&self.series) + of_kind(&self.series[..number]);
                if !points.is_empty() {
                    all.push(Series { group: group.clone(), column, points, mark, colour, shape });
                }
            }
        }
        (all, left_out)
    }

    fn draw_series(
        &self,
        from: &str,
        series: &[Series],
        left_out: usize,
        root: DrawingArea<SVGBackend<'_>, Shift>,
    ) -> Drawn {
        root.fill(&WHITE)?;
        let entries = self.legend(series);
        let widest = entries.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
        let legend_width = (62 + 8 * widest as i32).min(SIZE.0 as i32 / 2);
        let (plot, legend) =
            root.titled(self.title, ("sans-serif", 18))?.split_horizontally(SIZE.0 as i32 - legend_width);
        let x_axis = Axis { range: range(series, |point| point.0, self.log_x), log: self.log_x };
        let y_axis = Axis { range: range(series, |point| point.1, self.log_y), log: self.log_y };
        let mut chart = ChartBuilder::on(&plot)
            .margin(12)
            .margin_bottom(26)
            .x_label_area_size(48)
            .y_label_area_size(80)
            .build_cartesian_2d(x_axis, y_axis)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.12))
            .x_desc(self.x_label)
            .y_desc(self.y_label)
            .axis_desc_style(("sans-serif", 16))
            .label_style(("sans-serif", 14))
            .draw()?;
        for one in series {
            one.draw(chart.plotting_area(), &one.points)?;
        }
        let height = (SIZE.1 as i32 - 90) / entries.len().max(1) as i32;
        for (row, (label, shown)) in entries.iter().enumerate() {
            let y = 26 + height.min(22) * row as i32;
            for one in shown {
                let example = if one.mark == Mark::Line { vec![(4, y), (40, y)] } else { vec![(22, y)] };
                one.draw(&legend, &example)?;
            }
            let colour = if shown.is_empty() { GREY } else { BLACK };
            legend.draw(&Text::new(label.clone(), (46, y - 7), ("sans-serif", 14).into_font().color(&colour)))?;
        }
        let note = match (series.is_empty(), left_out) {
            (true, _) => " · nothing to show".to_owned(),
            (false, 0) => String::new(),
            (false, count) => format!(" · {count} values do not fit the axes"),
        };
        let note = format!("{from} · seeded: not private{note}");
        root.draw(&Text::new(note, (12, SIZE.1 as i32 - 16), ("sans-serif", 11).into_font().color(&GREY)))?;
        root.present()
    }

    /// The legend's entries, each with what is drawn before it. A group has one for its line and its points together,
    /// and what lines and points are follows below; where one of the two has several columns, each has its own.
    fn legend<'a>(&self, series: &'a [Series]) -> Vec<(String, Vec<&'a Series>)> {
        let of_kind =
            |mark: Mark| self.series.iter().filter(move |(_, other)| *other == mark).map(|(column, _)| *column);
        let kinds = [(Mark::Line, "line"), (Mark::Points, "points")];
        if self.split.is_none() || kinds.iter().any(|(mark, _)| of_kind(*mark).count() > 1) {
            let label = |one: &Series| match one.group.as_str() {
                "" => one.column.to_owned(),
                group => format!("{group}: {}", one.column),
            };
            return series.iter().map(|one| (label(one), vec![one])).collect();
        }
        let groups = series.chunk_by(|a, b| a.group == b.group);
        let mut entries: Vec<_> = groups.map(|group| (group[0].group.clone(), group.iter().collect())).collect();
        if self.series.len() > 1 {
            let named = kinds.into_iter().flat_map(|(mark, word)| of_kind(mark).map(move |column| (word, column)));
            entries.extend(named.map(|(word, column)| (format!("{word}: {column}"), Vec::new())));
        }
        entries
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
        if self.mark == Mark::Line {
            return match DASHES[self.shape % DASHES.len()] {
                // A line of one point would be invisible.
                _ if points.len() == 1 => area.draw(&Circle::new(points[0], 2, self.colour.filled())),
                None => area.draw(&PathElement::new(points, stroke)),
                Some((length, gap)) => area.draw(&DashedPathElement::new(points.iter().copied(), length, gap, stroke)),
            };
        }
        let (outline, is_filled) = SHAPES[self.shape % SHAPES.len()];
        points.iter().try_for_each(|&point| match (outline, is_filled) {
            ([], _) => area.draw(&Circle::new(point, 4, self.colour.filled())),
            (_, true) => area.draw(&(EmptyElement::at(point) + Polygon::new(outline, self.colour.filled()))),
            (_, false) => area.draw(&(EmptyElement::at(point) + PathElement::new(outline, stroke))),
        })
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
        if self.log { label(10_f64.powf(*value)) } else { significant(*value) }
    }
}

/// A number on a logarithmic axis: 10⁴, 2·10⁴, 10⁻⁴, where its power of ten is so far from 1.
fn label(value: f64) -> String {
    let scientific = format!("{value:.3e}");
    match scientific.split_once('e') {
        Some((mantissa, power)) if power.parse::<i32>().is_ok_and(|power| power.abs() >= 4) => {
            let factor = mantissa.trim_end_matches('0').trim_end_matches('.');
            let factor = if factor == "1" { String::new() } else { format!("{factor}·") };
            format!("{factor}10{}", power.chars().map(raised).collect::<String>())
        }
        _ => significant(value),
    }
}

/// A digit or a minus of an exponent.
fn raised(character: char) -> char {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    character.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize])
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
    use super::{Plot, Series, label, significant, ticks};
    use crate::table::Table;

    fn table(rows: &[[&str; 4]]) -> Table {
        let rows = rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect();
        Table::plain(&["k", "c", "bound", "measured"], rows)
    }

    fn plot() -> Plot {
        Plot::new("plot", "t & <u>", "k", "error").log_x().log_y().line("bound").points("measured").split_by("c")
    }

    fn drawn(rows: &[[&str; 4]]) -> String {
        plot().x_label("k (queries)").draw("sums", &table(rows)).svg
    }

    #[test]
    fn ticks_are_round_and_within() {
        let rounded = |range, log| {
            ticks(&range, log)
                .iter()
                .map(|tick| if log { label(10_f64.powf(*tick)) } else { significant(*tick) })
                .collect::<Vec<_>>()
        };
        assert_eq!(rounded(0.0..10.0, false), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(rounded(-0.31..0.31, false), ["-0.3", "-0.2", "-0.1", "0", "0.1", "0.2", "0.3"]);
        assert_eq!(rounded(0.9..3.1, true), ["10", "20", "50", "100", "200", "500", "1000"]);
        assert_eq!(rounded(-10.0..10.0, true), ["10⁻¹⁰", "10⁻⁷", "10⁻⁴", "0.1", "100", "10⁵", "10⁸"]);
        assert_eq!(rounded(3.6..4.8, true), ["5000", "10⁴", "2·10⁴", "5·10⁴"]);
        assert_eq!(rounded(0.29..0.71, true), ["2", "2.5", "3", "3.5", "4", "4.5", "5"]);
    }

    #[test]
    fn every_series_has_a_legend_and_what_does_not_fit_is_counted() {
        let rows = [["1", "1", "10", "3"], ["10", "1", "20", "0"], ["1", "2", "30", "inf"], ["10", "2", "40", ""]];
        let svg = drawn(&rows);
        let legend = ["c = 1", "c = 2", "line: bound", "points: measured"];
        for label in legend.into_iter().chain([
            "2 values do not fit the axes",
            "t &amp; &lt;u&gt;",
            "k (queries)",
            "sums · seeded",
        ]) {
            assert!(svg.contains(label), "{label:?} is missing in {svg}");
        }
        assert_eq!(svg, drawn(&rows));
    }

    #[test]
    fn a_plot_of_nothing_or_of_one_point_is_still_drawn() {
        assert!(drawn(&[["1", "1", "", ""]]).contains("nothing to show"));
        assert!(drawn(&[["1", "1", "5", "5"]]).contains("c = 1"));
    }

    #[test]
    fn series_of_a_kind_differ_by_more_than_their_colour() {
        let rows = ["1", "2", "3", "4", "5", "6"].map(|c| ["1", c, "10", "3"]);
        let (series, _) = plot().points("k").series(&table(&rows));
        for (number, one) in series.iter().enumerate() {
            let same = |other: &&Series| other.mark == one.mark && other.shape == one.shape;
            assert_eq!(
                series[..number].iter().find(same).map(|other| &other.group),
                None,
                "{} {}",
                one.group,
                one.column
            );
        }
        assert_eq!(series.len(), 3 * rows.len());
    }
}
