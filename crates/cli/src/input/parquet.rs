//! Columns of a Parquet file.

use super::{Columns, Place, Role, Row, Rows, Source, position, suggestion_by_name};
use crate::failure::Failure;
use crate::output::quoted;
use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;
use parquet::record::Field;
use parquet::record::reader::RowIter;
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type};
use std::borrow::Cow;
use std::fs::File;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// The first four bytes of every Parquet file.
pub const MAGIC: &[u8] = b"PAR1";

/// One column, and perhaps a label: the types are checked before any row is read.
pub fn rows(file: File, source: &Source, columns: &Columns, follow: bool) -> Result<Rows, Failure> {
    if follow {
        return Err(Failure::input("a Parquet file cannot be followed: it does not grow", "leave out --follow"));
    }
    let opened = Opened::new(file, source)?;
    let Some(value) = &columns.value else {
        return Err(Failure::input(
            "a Parquet file has named columns, and none was chosen",
            format_args!("add --column with one of: {}", quoted(&opened.names)),
        ));
    };
    let value = opened.column(value)?;
    let label = columns.label.as_deref().map(|label| opened.column(label)).transpose()?;
    require(is_number(&value), &value, "whole or floating-point numbers or decimals")?;
    if let Some(label) = &label {
        require(is_number(label) || is_text_or_time(label), label, "text, dates, times or numbers")?;
    }
    let mut wanted = vec![value.clone()];
    wanted.extend(label.clone());
    let mut records = opened.project(wanted)?;
    let rows = std::iter::from_fn(move || records.next().transpose());
    Ok(Box::new(rows.map(move |row| {
        let (number, row) = row?;
        let text = |column: &Arc<Type>| Ok::<_, Failure>(text(&row, column, number)?.into_owned());
        Ok(Row {
            place: Place::Row(number),
            label: label.as_ref().map(text).transpose()?,
            cell: text(&value)?,
            whole_up_to: whole_up_to(&value),
        })
    })))
}

/// Several columns.
pub struct Table {
    names: Vec<String>,
    columns: Vec<Arc<Type>>,
    records: Records,
}

impl Table {
    /// The types are checked before any row is read. A column may be asked for twice.
    pub fn open(file: File, source: &Source, columns: &[(&str, Role)]) -> Result<Self, Failure> {
        let opened = Opened::new(file, source)?;
        let mut found: Vec<Arc<Type>> = Vec::new();
        for (name, role) in columns {
            let column = opened.column(name)?;
            match role {
                Role::Name => require(is_name(&column), &column, "text, whole numbers or dates")?,
                Role::Number => require(is_number(&column), &column, "whole or floating-point numbers or decimals")?,
            }
            found.push(column);
        }
        let mut wanted = found.clone();
        wanted.sort_by(|a, b| a.name().cmp(b.name()));
        wanted.dedup_by(|a, b| a.name() == b.name());
        Ok(Self { names: opened.names.clone(), columns: found, records: opened.project(wanted)? })
    }

    /// The names of all columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Up to where a column asked for holds every whole number, if it holds floating-point numbers.
    pub fn whole_up_to(&self, column: usize) -> Option<u64> {
        whole_up_to(&self.columns[column])
    }

    /// Shows every row, until one is refused.
    pub fn for_each(mut self, mut visit: impl FnMut(Place, &[&str]) -> Result<(), Failure>) -> Result<(), Failure> {
        while let Some((number, row)) = self.records.next()? {
            let texts = self.columns.iter().map(|column| text(&row, column, number));
            let texts = texts.collect::<Result<Vec<Cow<str>>, Failure>>()?;
            let cells: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
            visit(Place::Row(number), &cells)?;
        }
        Ok(())
    }
}

/// A file whose index has been read.
struct Opened {
    reader: SerializedFileReader<File>,
    source: Source,
    schema: Type,
    names: Vec<String>,
}

impl Opened {
    fn new(file: File, source: &Source) -> Result<Self, Failure> {
        let opened = guarded(source, || {
            let reader = SerializedFileReader::new(file.try_clone()?)?;
            let Some(wide) = widened(reader.metadata().file_metadata().schema())? else { return Ok(reader) };
            let options = ReadOptionsBuilder::new().with_parquet_schema(wide).build();
            SerializedFileReader::new_with_options(file, options)
        });
        let reader = opened?.map_err(|error| unreadable(source, &error))?;
        let schema = reader.metadata().file_metadata().schema().clone();
        let names = schema.get_fields().iter().map(|field| field.name().to_owned()).collect();
        Ok(Self { reader, source: source.clone(), schema, names })
    }

    fn column(&self, name: &str) -> Result<Arc<Type>, Failure> {
        Ok(self.schema.get_fields()[position(&self.names, name, &self.source, suggestion_by_name)?].clone())
    }

    /// The rows, of which only these columns are read.
    fn project(self, columns: Vec<Arc<Type>>) -> Result<Records, Failure> {
        let projection = Type::group_type_builder(self.schema.name()).with_fields(columns).build();
        let iterator = projection
            .and_then(|projection| RowIter::from_file_into(Box::new(self.reader)).project(Some(projection)))
            .map_err(|error| unreadable(&self.source, &error))?;
        Ok(Records { iterator, source: self.source, number: 0 })
    }
}

/// The schema with every narrow integer as wide as it is stored, if there is one: else the library would cut off what a file
/// holds beyond the narrow type, and make one unit of several.
fn widened(schema: &Type) -> Result<Option<SchemaDescPtr>, ParquetError> {
    use ConvertedType::{INT_8, INT_16, UINT_8, UINT_16};
    let is_narrow = |column: &Arc<Type>| {
        column.is_primitive() && matches!(column.get_basic_info().converted_type(), INT_8 | INT_16 | UINT_8 | UINT_16)
    };
    if !schema.get_fields().iter().any(is_narrow) {
        return Ok(None);
    }
    let wide = |column: &Arc<Type>| {
        if !is_narrow(column) {
            return Ok(column.clone());
        }
        let wide = Type::primitive_type_builder(column.name(), column.get_physical_type());
        Ok(Arc::new(wide.with_repetition(column.get_basic_info().repetition()).build()?))
    };
    let columns = schema.get_fields().iter().map(wide).collect::<Result<_, ParquetError>>()?;
    let schema = Type::group_type_builder(schema.name()).with_fields(columns).build()?;
    Ok(Some(Arc::new(SchemaDescriptor::new(Arc::new(schema)))))
}

/// Rows with their numbers, from 1.
struct Records {
    iterator: RowIter<'static>,
    source: Source,
    number: u64,
}

impl Records {
    fn next(&mut self) -> Result<Option<(u64, parquet::record::Row)>, Failure> {
        let Some(row) = guarded(&self.source, || self.iterator.next())? else { return Ok(None) };
        self.number += 1;
        row.map(|row| Some((self.number, row))).map_err(|error| unreadable(&self.source, &error))
    }
}

/// The cell of a column that was read.
fn cell<'row>(row: &'row parquet::record::Row, name: &str) -> &'row Field {
    // Cannot fail: the projection names the column.
    row.get_column_iter().find(|(column, _)| *column == name).expect("a projected column").1
}

/// Up to here a floating-point column holds every whole number, beyond only some.
fn whole_up_to(column: &Type) -> Option<u64> {
    match column.get_physical_type() {
        PhysicalType::FLOAT => Some(1 << f32::MANTISSA_DIGITS),
        PhysicalType::DOUBLE => Some(1 << f64::MANTISSA_DIGITS),
        _ => None,
    }
}

/// The library panics on some damaged files, where an error would do.
fn guarded<T>(source: &Source, step: impl FnOnce() -> T) -> Result<T, Failure> {
    std::panic::catch_unwind(AssertUnwindSafe(step)).map_err(|_| damaged(source, "it is damaged"))
}

/// What a CSV file would hold. The library panics on dates that its calendar does not have.
fn text<'row>(row: &'row parquet::record::Row, column: &Type, number: u64) -> Result<Cow<'row, str>, Failure> {
    let name = column.name();
    let field = cell(row, name);
    std::panic::catch_unwind(AssertUnwindSafe(|| in_csv(field))).map_err(|_| {
        Failure::input(
            format_args!("row {number}: the cell in column {name:?} is beyond every calendar"),
            "correct the date or time; no row can be skipped",
        )
    })
}

fn in_csv(field: &Field) -> Cow<'_, str> {
    match field {
        Field::Null => Cow::Borrowed(""),
        Field::Str(text) => Cow::Borrowed(text),
        Field::Float(value) => Cow::Owned(exact_decimal(f64::from(*value))),
        Field::Double(value) => Cow::Owned(exact_decimal(*value)),
        // A whole number of this type would end with a point.
        Field::Decimal(_) => Cow::Owned(field.to_string().trim_end_matches('.').to_owned()),
        other => Cow::Owned(other.to_string()),
    }
}

/// The number itself, and not the shortest decimal that names it: two of those may lie further apart than the numbers do,
/// further than the stated sensitivity.
fn exact_decimal(value: f64) -> String {
    // A number of at least 2^-32 ends within 84 places; a smaller one is 0 on every grid, however it is written.
    if value.abs() >= f64::from(f32::EPSILON).powi(2) { format!("{value:.100}") } else { format!("{value:e}") }
}

fn require(usable: bool, column: &Arc<Type>, wanted: &str) -> Result<(), Failure> {
    if usable {
        return Ok(());
    }
    Err(Failure::input(
        format_args!("the column {:?} does not hold {wanted}", column.name()),
        "choose another column, or convert it before, for example to text",
    ))
}

/// Lists what the record reader converts to numbers: it panics on pairs of types that it does not know.
fn is_number(column: &Type) -> bool {
    use ConvertedType::{DECIMAL, INT_8, INT_16, INT_32, INT_64, NONE, UINT_8, UINT_16, UINT_32, UINT_64};
    let Some(converted) = single_value(column) else {
        return false;
    };
    if converted == DECIMAL {
        return column.get_physical_type() != PhysicalType::BOOLEAN;
    }
    // A time in nanoseconds, say, is an integer that only its logical type tells apart.
    let plain = matches!(column.get_basic_info().logical_type_ref(), None | Some(LogicalType::Integer(_)));
    plain
        && match column.get_physical_type() {
            PhysicalType::INT32 => matches!(converted, NONE | INT_8 | INT_16 | INT_32 | UINT_8 | UINT_16 | UINT_32),
            PhysicalType::INT64 => matches!(converted, NONE | INT_64 | UINT_64),
            PhysicalType::FLOAT | PhysicalType::DOUBLE => true,
            _ => false,
        }
}

/// Not floating-point numbers, nor times: there is more than one text for each, and a list could not know which was meant.
fn is_name(column: &Type) -> bool {
    let float = matches!(column.get_physical_type(), PhysicalType::FLOAT | PhysicalType::DOUBLE);
    let time =
        is_text_or_time(column) && !matches!(single_value(column), Some(ConvertedType::UTF8 | ConvertedType::DATE));
    !time && (is_text_or_time(column) || is_number(column) && !float)
}

fn is_text_or_time(column: &Type) -> bool {
    use ConvertedType::{DATE, TIME_MICROS, TIME_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_MILLIS, UTF8};
    single_value(column).is_some_and(|converted| match column.get_physical_type() {
        PhysicalType::INT32 => matches!(converted, DATE | TIME_MILLIS),
        PhysicalType::INT64 => matches!(converted, TIME_MICROS | TIMESTAMP_MILLIS | TIMESTAMP_MICROS),
        PhysicalType::BYTE_ARRAY => converted == UTF8,
        _ => false,
    })
}

/// The converted type of a column with at most one value a row.
fn single_value(column: &Type) -> Option<ConvertedType> {
    let kind = column.get_basic_info();
    (column.is_primitive() && kind.repetition() != Repetition::REPEATED).then(|| kind.converted_type())
}

fn unreadable(source: &Source, error: &ParquetError) -> Failure {
    // Only the kind: the text of the error may quote what it stumbled over.
    let fault = match error {
        ParquetError::EOF(_) => "it ends too early",
        ParquetError::NYI(_) => "it uses a feature that is not supported",
        _ => "it is damaged, or not a Parquet file",
    };
    damaged(source, fault)
}

fn damaged(source: &Source, fault: &str) -> Failure {
    Failure::input(format_args!("cannot read {source}: {fault}"), "write the file anew, or export the column as CSV")
}

#[cfg(test)]
mod tests {
    use super::exact_decimal;
    use tamis::noise::{Rational, parse_rational};

    /// Floats that differ by exactly the sensitivity are read as numbers that do. The shortest decimals of these two are
    /// 2000 apart in places.
    #[test]
    fn floats_are_read_as_the_numbers_they_are() {
        for step in 0..2000 {
            let low = 1e10f32 + 1024.0 * step as f32;
            let [low, high] =
                [low, low + 1024.0].map(|value| parse_rational(&exact_decimal(f64::from(value))).unwrap());
            assert_eq!(high - low, Rational::from(1024));
        }
    }

    #[test]
    fn every_finite_float_is_a_number() {
        for value in [0.0, -0.0, 0.1, f64::MIN_POSITIVE, f64::MAX, -1e-20, 2f64.powi(-33), 123_456.75] {
            let read = parse_rational(&exact_decimal(value)).unwrap_or_else(|| panic!("{value:e}"));
            if value.abs() >= 1e-9 {
                assert_eq!(read, Rational::try_from(value).unwrap(), "{value:e}");
            }
        }
    }
}
