//! CSV texts with a header.

use super::{Place, Row, lines::Lines, position, suggestion_by_place};
use crate::failure::Failure;
use csv::StringRecord;

/// A CSV text whose header has been read.
pub struct Csv {
    lines: Lines,
    fields: Fields,
    names: Vec<String>,
}

impl Csv {
    pub fn open(mut lines: Lines) -> Result<Self, Failure> {
        let mut fields = Fields::new();
        let Some(header) = lines.next()? else {
            return Err(Failure::input(
                format_args!("{} is empty", lines.source()),
                "a CSV input starts with a header line that names its columns",
            ));
        };
        let names = fields.split(header, 1)?.iter().map(str::to_owned).collect();
        Ok(Self { lines, fields, names })
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Where the column with exactly this name stands.
    pub fn position(&self, name: &str) -> Result<usize, Failure> {
        position(&self.names, name, self.lines.source(), suggestion_by_place)
    }

    /// The next row, as wide as the header, with the number of its line.
    pub fn next(&mut self) -> Result<Option<(u64, &StringRecord)>, Failure> {
        let (number, width) = (self.lines.number() + 1, self.names.len());
        let Some(line) = self.lines.next()? else {
            return Ok(None);
        };
        let record = self.fields.split(line, number)?;
        if record.len() != width {
            return Err(Failure::input(
                format_args!("line {number} has {} fields, the header has {width}", record.len()),
                "every row must have as many fields as the header; put a field that holds a comma in double quotes",
            ));
        }
        Ok(Some((number, record)))
    }
}

/// One column, and perhaps a label: the header at once, the rows as they are asked for.
pub fn rows(
    lines: Lines,
    value: &str,
    label: Option<&str>,
) -> Result<impl Iterator<Item = Result<Row, Failure>> + use<>, Failure> {
    let mut csv = Csv::open(lines)?;
    let value = csv.position(value)?;
    let label = label.map(|label| csv.position(label)).transpose()?;
    let mut next = move || {
        let row = csv.next()?;
        Ok(row.map(|(number, record)| Row {
            place: Place::Line(number),
            label: label.map(|label| record[label].to_owned()),
            cell: record[value].to_owned(),
            whole_up_to: None,
        }))
    };
    Ok(std::iter::from_fn(move || next().transpose()))
}

/// Splits one line at a time.
///
/// The csv crate reads on over line ends inside quotes, so an unclosed quote would swallow the rest of the file
/// in silence, and wait forever on a pipe; and it joins what follows a closing quote to the field, so that two texts are one
/// key or one unit.
pub struct Fields {
    record: StringRecord,
    field: String,
}

impl Fields {
    pub fn new() -> Self {
        Self { record: StringRecord::new(), field: String::new() }
    }

    /// The fields of a line, which is not blank.
    pub fn split(&mut self, line: &str, number: u64) -> Result<&StringRecord, Failure> {
        self.record.clear();
        // Without a quote a comma is a comma, and most lines have none.
        if !line.as_bytes().contains(&b'"') {
            line.split(',').for_each(|field| self.record.push_field(field));
            return Ok(&self.record);
        }
        let mut left = Some(line);
        while let Some(text) = left {
            left = match text.strip_prefix('"') {
                Some(text) => self.quoted(text, number)?,
                None => {
                    let (field, left) = text.split_once(',').map_or((text, None), |(field, left)| (field, Some(left)));
                    self.record.push_field(field);
                    left
                }
            };
        }
        Ok(&self.record)
    }

    /// Takes a field up to its closing quote; gives what follows the comma behind it.
    fn quoted<'line>(&mut self, mut text: &'line str, number: u64) -> Result<Option<&'line str>, Failure> {
        self.field.clear();
        loop {
            let Some((part, after)) = text.split_once('"') else {
                return Err(Failure::input(
                    format_args!("line {number} has a quote that is not closed on the same line"),
                    "close it; cells that span lines are not read, and a quote inside a quoted field is written twice",
                ));
            };
            self.field += part;
            match after.as_bytes().first() {
                Some(b'"') => self.field.push('"'),
                Some(b',') | None => {
                    self.record.push_field(&self.field);
                    return Ok(after.strip_prefix(','));
                }
                Some(_) => {
                    return Err(Failure::input(
                        format_args!("line {number} has text between a closing quote and the next comma"),
                        "put the whole field in quotes; a quote inside a quoted field is written twice",
                    ));
                }
            }
            text = &after[1..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Fields;

    /// Every line that has one meaning, as the csv crate splits it.
    #[test]
    fn lines_are_split_as_the_library_does() {
        for line in [
            "a",
            "a,b",
            ",",
            "a,",
            ",,b",
            " a , b ",
            "'a,b'",
            "a;b",
            "\u{e4},\u{1F600}",
            "\\,a",
            "\"a\"",
            "\"\"",
            "\"\",",
            ",\"\"",
            "\"a,b\",c",
            "a,\"b,\"\"c\"\"\"",
            "\"\"\"\"",
            "\"\"\"\",\"\u{1F600}\",x",
            "a\"b,c",
            "a\"\"",
            " \"a\",b",
            "x,y\"z\"",
        ] {
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
            let theirs = reader.records().next().unwrap().unwrap();
            assert_eq!(Fields::new().split(line, 1).unwrap(), &theirs, "{line}");
        }
    }

    /// The library would make `Ann` of the first.
    #[test]
    fn lines_with_two_meanings_are_refused() {
        for line in ["\"An\"n", "\"a\" ,b", "x,\"a\"b", "\"a\"\"", "\"", "a,\"b", "\"a\"\"b"] {
            assert!(Fields::new().split(line, 1).is_err(), "{line}");
        }
    }
}
