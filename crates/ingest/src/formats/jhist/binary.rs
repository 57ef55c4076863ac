//! The binary encoding: Avro datums back to back, without separators, up to the end of the file.

use std::collections::HashMap;
use std::io::{self, BufRead, Read};
use std::path::Path;

use apache_avro::Schema;
use apache_avro::reader::datum::GenericDatumReader;
use apache_avro::schema::{Name, NamespaceRef, RecordSchema, SchemaKind};

use super::event::Event;
use super::history::History;
use super::lines::MAX_EVENT_BYTES;
use resched_tables::Error;
use resched_tables::cause;
use resched_tables::sink::Sink;

/// How deeply records, arrays and maps of a schema may be nested. Hadoop's own go to 8.
const MAX_DEPTH: usize = 16;

/// Reads the events up to the end of the input. Nothing separates them, so reading ends with the first damaged one.
pub(super) fn read(
    input: &mut dyn BufRead,
    schema: &[u8],
    path: &str,
    history: &mut History,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    apache_avro::util::max_allocation_bytes(MAX_EVENT_BYTES);
    let schema = parse_schema(schema).map_err(|problem| schema_error(path, problem))?;
    let datums = GenericDatumReader::builder(&schema).build().map_err(|error| schema_error(path, error.to_string()))?;
    let mut input = Watched { input, left: MAX_EVENT_BYTES, cut: false, failure: None };
    while !input.at_end().map_err(Error::io(Path::new(path), "read"))? {
        input.left = MAX_EVENT_BYTES;
        let value = datums.read_value(&mut input);
        if let Some(failure) = input.failure {
            return Err(Error::io(Path::new(path), "read")(failure));
        }
        match value.as_ref().map(apache_avro::from_value::<Event<'_>>) {
            Ok(Ok(event)) => history.record(event, sink),
            Ok(Err(_)) | Err(_) => {
                sink.skip(if input.cut { cause::CUT_EVENT } else { cause::DAMAGED_EVENT }, 1);
                return Ok(());
            }
        }
    }
    Ok(())
}

fn schema_error(path: &str, problem: String) -> Error {
    Error::Source {
        path: path.to_owned(),
        place: "the line after Avro-Binary, ".to_owned(),
        expected: "the Avro schema of the events".to_owned(),
        found: problem,
        remedy: "copy the file again from the history server, byte by byte".to_owned(),
    }
}

/// The schema, if data written with it can be decoded in bounded memory; otherwise what is wrong with it.
fn parse_schema(text: &[u8]) -> Result<Schema, String> {
    let text = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let schema = Schema::parse(&text).map_err(|error| error.to_string())?;
    match &schema {
        Schema::Record(event) => {
            let mut known = HashMap::new();
            record_depth(event, None, &mut known)?;
            Ok(schema)
        }
        _ => Err("a schema that is not a record".to_owned()),
    }
}

/// The depth of the values of named types; `None` while it is being computed.
type Depths = HashMap<Name, Option<usize>>;

fn record_depth(record: &RecordSchema, namespace: NamespaceRef<'_>, known: &mut Depths) -> Result<usize, String> {
    let name = record.name.fully_qualified_name(namespace).into_owned();
    if record.fields.is_empty() {
        return Err(format!("record {name} without fields"));
    }
    known.insert(name.clone(), None);
    let mut deepest = 0;
    for field in &record.fields {
        deepest = deepest.max(depth(&field.schema, name.namespace(), known)?);
    }
    let depth = deepest + 1;
    if depth > MAX_DEPTH {
        return Err(format!("record {name} {depth} levels deep"));
    }
    known.insert(name, Some(depth));
    Ok(depth)
}

/// The depth of a value of `schema`. It is an error if a value could be endless, or is of a type that no version of
/// Hadoop uses in its histories. It is also an error if a value could take no byte: an array of a few bytes could then
/// hold any number of them.
fn depth(schema: &Schema, namespace: NamespaceRef<'_>, known: &mut Depths) -> Result<usize, String> {
    let inner = match schema {
        Schema::Boolean | Schema::Int | Schema::Long | Schema::Float | Schema::Double => return Ok(0),
        Schema::String | Schema::Bytes => return Ok(0),
        Schema::Enum(symbols) => {
            known.insert(symbols.name.fully_qualified_name(namespace).into_owned(), Some(0));
            return Ok(0);
        }
        Schema::Ref { name } => {
            let name = name.fully_qualified_name(namespace);
            return known
                .get(&*name)
                .copied()
                .flatten()
                .ok_or_else(|| format!("type {name} within or before its definition"));
        }
        Schema::Record(record) => return record_depth(record, namespace, known),
        Schema::Union(union) => {
            let mut deepest = 0;
            for branch in union.variants().iter().filter(|branch| !matches!(branch, Schema::Null)) {
                deepest = deepest.max(depth(branch, namespace, known)?);
            }
            deepest
        }
        Schema::Array(array) => depth(&array.items, namespace, known)?,
        Schema::Map(map) => depth(&map.types, namespace, known)?,
        other => return Err(format!("a value of type {:?}", SchemaKind::from(other))),
    };
    match inner + 1 {
        depth if depth > MAX_DEPTH => Err(format!("a value {depth} levels deep")),
        depth => Ok(depth),
    }
}

/// An input that distinguishes a cut from damage. In places, the Avro library takes the end of the input within a value
/// for null. So this input reports the end as an error of another kind.
struct Watched<'r> {
    input: &'r mut dyn BufRead,
    /// Bytes that the current event may still have.
    left: usize,
    /// True if the input ended within an event.
    cut: bool,
    /// What went wrong with the input itself.
    failure: Option<io::Error>,
}

impl Watched<'_> {
    fn at_end(&mut self) -> io::Result<bool> {
        Ok(self.input.fill_buf()?.is_empty())
    }
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let most = buffer.len().min(self.left);
        let Some(buffer) = buffer.get_mut(..most).filter(|part| !part.is_empty()) else {
            return Err(io::Error::other("the event is too long"));
        };
        match self.input.read(buffer) {
            Ok(0) => {
                self.cut = true;
                Err(io::Error::other("the event is cut"))
            }
            Ok(n) => {
                self.left = self.left.saturating_sub(n);
                Ok(n)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                self.failure = Some(error);
                Err(io::Error::other("the input failed"))
            }
        }
    }
}
