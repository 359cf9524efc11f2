//! One column, and perhaps a label, of a CSV text with a header.

use super::{Place, Row, lines::Lines, position};
use crate::failure::Failure;
use csv::{ReaderBuilder, StringRecord};
use std::collections::VecDeque;

/// Reads the header at once and the rows as they are asked for.
pub fn rows(
    mut lines: Lines,
    value: &str,
    label: Option<&str>,
) -> Result<impl Iterator<Item = Result<Row, Failure>> + use<>, Failure> {
    let mut fields = Fields::new();
    let Some(header) = lines.next()?.map(str::to_owned) else {
        return Err(Failure::input(
            format_args!("{} is empty", lines.source()),
            "a CSV input starts with a header line that names its columns",
        ));
    };
    let names: Vec<String> = fields.split(&header, 1)?.iter().map(str::to_owned).collect();
    let value = position(&names, value, lines.source())?;
    let label = label.map(|label| position(&names, label, lines.source())).transpose()?;
    Ok(std::iter::from_fn(move || next(&mut lines, &mut fields, names.len(), value, label).transpose()))
}

fn next(
    lines: &mut Lines,
    fields: &mut Fields,
    width: usize,
    value: usize,
    label: Option<usize>,
) -> Result<Option<Row>, Failure> {
    let number = lines.number() + 1;
    let Some(line) = lines.next()? else {
        return Ok(None);
    };
    let record = fields.split(line, number)?;
    if record.len() != width {
        return Err(Failure::input(
            format_args!("line {number} has {} fields, the header has {width}", record.len()),
            "every row must have as many fields as the header; put a field that holds a comma in double quotes",
        ));
    }
    Ok(Some(Row {
        place: Place::Line(number),
        label: label.map(|label| record[label].to_owned()),
        cell: record[value].to_owned(),
        whole_up_to: None,
    }))
}

/// Splits one line at a time.
///
/// The csv crate reads on over line ends inside quotes, so an unclosed quote would swallow the rest of the file
/// in silence, and wait forever on a pipe. Fed line by line, it leaves the line end in the field instead.
struct Fields {
    reader: csv::Reader<VecDeque<u8>>,
    record: StringRecord,
}

impl Fields {
    fn new() -> Self {
        Self {
            reader: ReaderBuilder::new().has_headers(false).flexible(true).from_reader(VecDeque::new()),
            record: StringRecord::new(),
        }
    }

    fn split(&mut self, line: &str, number: u64) -> Result<&StringRecord, Failure> {
        let feed = self.reader.get_mut();
        feed.extend(line.as_bytes());
        feed.push_back(b'\n');
        // Cannot fail: the feed does no input or output, rows may have any length, and the line is UTF-8.
        self.reader.read_record(&mut self.record).expect("memory is readable");
        if self.record.iter().any(|field| field.contains('\n')) {
            return Err(Failure::input(
                format_args!("line {number} has a quote that is not closed on the same line"),
                "close it; a quote inside a quoted field is written twice",
            ));
        }
        Ok(&self.record)
    }
}
