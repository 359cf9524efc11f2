//! Rows, and their renderings as CSV, Markdown and HTML.

use std::collections::HashSet;

use crate::cell::Cell;

/// What a column is for, which decides where it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A parameter of the case.
    Parameter,
    /// Seed, first stream, trials, failed trials.
    Record,
    /// Mean and quantiles of a measurement.
    Summary,
    /// A column the experiment defines for its table.
    Shown,
    /// The verdict of one check.
    Check,
    /// The sentence behind one check.
    Because,
    /// The worst verdict of the row.
    Verdict,
    /// What went wrong, if anything did.
    Error,
    /// A reading of the clock, or judged by one: kept apart, because it differs from run to run.
    Timing,
}

/// One column of a [`Table`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The heading, unique in its table.
    pub name: String,
    /// What the column is for.
    pub role: Role,
}

/// The rows of an experiment, one a case, as the text that is printed. Empty text means missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The columns, in order.
    pub columns: Vec<Column>,
    /// The rows, in the order of the sweep, each as long as `columns`.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table of words and numbers that belongs to no experiment.
    pub(crate) fn plain(headings: &[&str], rows: Vec<Vec<String>>) -> Self {
        Self {
            columns: headings.iter().map(|name| Column { name: (*name).to_owned(), role: Role::Shown }).collect(),
            rows,
        }
    }

    /// The position of the column called `name`.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The rows whose column `name` holds `value`; none if there is no such column.
    pub fn only(&self, name: &str, value: impl Into<Cell>) -> Self {
        let (position, value) = (self.position(name), value.into().exact());
        self.select(|_| true, |row| position.is_some_and(|position| self.rows[row][position] == value))
    }

    /// The different values of a column, in the order in which they first appear; none if there is no such
    /// column.
    pub fn values(&self, name: &str) -> Vec<&str> {
        let mut seen = HashSet::new();
        let all =
            self.position(name).into_iter().flat_map(|column| self.rows.iter().map(move |row| row[column].as_str()));
        all.filter(|value| seen.insert(*value)).collect()
    }

    /// The pairs of two columns, over the rows where both are numbers: for
    /// [`Finding::slope_within`](crate::Finding::slope_within) and for plots.
    pub fn points(&self, x: &str, y: &str) -> Vec<(f64, f64)> {
        let (Some(x), Some(y)) = (self.position(x), self.position(y)) else {
            return Vec::new();
        };
        self.rows.iter().filter_map(|row| Some((row[x].parse().ok()?, row[y].parse().ok()?))).collect()
    }

    /// The numbers of a column, over the rows that have one.
    pub fn numbers(&self, name: &str) -> Vec<f64> {
        let column = self.position(name);
        column.map_or(Vec::new(), |column| self.rows.iter().filter_map(|row| row[column].parse().ok()).collect())
    }

    /// The number in a column of the only row. NaN, which passes no check, if there is not exactly one row, no such
    /// column, or no number.
    pub fn number(&self, name: &str) -> f64 {
        match (self.rows.as_slice(), self.position(name)) {
            ([row], Some(column)) => row[column].parse().unwrap_or(f64::NAN),
            _ => f64::NAN,
        }
    }

    /// The columns and the rows (by number) that the two predicates keep.
    pub fn select(&self, keep_column: impl Fn(&Column) -> bool, keep_row: impl Fn(usize) -> bool) -> Self {
        let kept: Vec<usize> =
            (0..self.columns.len()).filter(|position| keep_column(&self.columns[*position])).collect();
        Self {
            columns: kept.iter().map(|position| self.columns[*position].clone()).collect(),
            rows: (0..self.rows.len())
                .filter(|row| keep_row(*row))
                .map(|row| kept.iter().map(|position| self.rows[row][*position].clone()).collect())
                .collect(),
        }
    }

    /// A table for each value of the column `name`, in the order in which they first appear, without the columns that are
    /// empty in it.
    pub(crate) fn parts(&self, name: &str) -> Vec<Self> {
        let part = |value| {
            let rows = self.only(name, value);
            let is_empty = |column: &Column| rows.values(&column.name).iter().all(|text| text.is_empty());
            rows.select(|column| !is_empty(column), |_| true)
        };
        self.values(name).into_iter().map(part).collect()
    }

    /// Comma-separated values with a heading.
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let headings = self.columns.iter().map(|column| column.name.as_str()).collect();
        let rows = self.rows.iter().map(|row| row.iter().map(String::as_str).collect::<Vec<_>>());
        for record in std::iter::once(headings).chain(rows) {
            // Cannot fail: the sink is memory, and every row is as long as the heading.
            writer.write_record(record).expect("a row has the length of the heading");
        }
        String::from_utf8(writer.into_inner().expect("memory does not fail")).expect("made of strings")
    }

    /// A Markdown table, padded so that it can be read as it is; numbers to the right, missing values as a dash.
    pub fn markdown(&self) -> String {
        let cell = |text: &str| match text {
            "" => "—".to_owned(),
            text => text.replace('|', "\\|").replace(['\n', '\r'], " "),
        };
        let mut lines = vec![self.columns.iter().map(|column| cell(&column.name)).collect::<Vec<_>>()];
        lines.extend(self.rows.iter().map(|row| row.iter().map(|text| cell(text)).collect()));
        let mut text = vec![String::new(); lines.len() + 1];
        for column in 0..self.columns.len() {
            let width = lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0).max(3);
            let numeric = self.is_numeric(column);
            let rule = if numeric { format!("{}:", "-".repeat(width - 1)) } else { "-".repeat(width) };
            let (heading, rows) = lines.split_at(1);
            let cells =
                heading.iter().map(|line| &line[column]).chain([&rule]).chain(rows.iter().map(|line| &line[column]));
            for (line, cell) in text.iter_mut().zip(cells) {
                *line += &if numeric { format!("| {cell:>width$} ") } else { format!("| {cell:<width$} ") };
            }
        }
        text.join("|\n") + "|\n"
    }

    /// An HTML table that scrolls by itself where it is too wide, with its last column in sight; a verdict becomes the
    /// class of its cell.
    pub(crate) fn html(&self) -> String {
        let class = |column: usize| if self.is_numeric(column) { " class=\"number\"" } else { "" };
        let classes: Vec<&str> = (0..self.columns.len()).map(class).collect();
        let mut text = "<div class=\"wide rows\" tabindex=\"0\"><table>\n<thead><tr>".to_owned();
        for (class, column) in classes.iter().zip(&self.columns) {
            text += &format!("<th{class}>{}</th>", escape(&column.name));
        }
        text += "</tr></thead>\n<tbody>\n";
        for row in &self.rows {
            text += "<tr>";
            for (class, cell) in classes.iter().zip(row) {
                let class = match cell.as_str() {
                    "holds" | "inconclusive" | "fails" => format!(" class=\"{cell}\""),
                    _ => (*class).to_owned(),
                };
                let cell = if cell.is_empty() { "—".to_owned() } else { escape(cell) };
                text += &format!("<td{class}>{cell}</td>");
            }
            text += "</tr>\n";
        }
        text + "</tbody></table></div>\n"
    }

    fn is_numeric(&self, column: usize) -> bool {
        let mut texts = self.rows.iter().map(|row| row[column].as_str()).filter(|text| !text.is_empty()).peekable();
        texts.peek().is_some() && texts.all(|text| text.parse::<f64>().is_ok())
    }
}

/// `text` with the characters that mean something in HTML and SVG replaced.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::Table;

    fn table() -> Table {
        Table::plain(
            &["name", "bound"],
            vec![vec!["a|b, \"c\"".into(), "12.5".into()], vec!["<d>".into(), String::new()]],
        )
    }

    #[test]
    fn renderings() {
        assert_eq!(table().csv(), "name,bound\n\"a|b, \"\"c\"\"\",12.5\n<d>,\n");
        let markdown =
            "| name      | bound |\n| --------- | ----: |\n| a\\|b, \"c\" |  12.5 |\n| <d>       |     — |\n";
        assert_eq!(table().markdown(), markdown);
        assert!(
            table().html().contains("<tr><td>&lt;d&gt;</td><td class=\"number\">—</td></tr>"),
            "{}",
            table().html()
        );
    }

    #[test]
    fn rows_and_points_are_chosen_by_name() {
        assert_eq!(table().only("name", "<d>").rows.len(), 1);
        assert_eq!(table().only("nothing", "<d>").rows.len(), 0);
        assert_eq!(table().points("bound", "bound"), [(12.5, 12.5)]);
        assert_eq!(table().points("bound", "nothing"), []);
        assert_eq!(table().numbers("bound"), [12.5]);
        assert!(table().numbers("nothing").is_empty());
    }

    #[test]
    fn parts_have_the_columns_that_speak_of_them() {
        let parts = table().parts("name");
        assert_eq!([parts[0].csv(), parts[1].csv()], ["name,bound\n\"a|b, \"\"c\"\"\",12.5\n", "name\n<d>\n"]);
        assert!(table().parts("nothing").is_empty());
    }

    #[test]
    fn only_one_row_has_one_number() {
        let row = |name: &str| table().only("name", name);
        assert_eq!(row("a|b, \"c\"").number("bound"), 12.5);
        let none = [table().number("bound"), row("<d>").number("bound"), row("<d>").number("nothing")];
        assert!(none.iter().chain(&[row("nobody").number("bound")]).all(|number| number.is_nan()), "{none:?}");
    }
}
