//! Reference pages in Markdown.

use std::fmt::Write;

use super::{Column, Header, Measure, Shape, Table, Word, below, joined};

/// A reference page under construction.
#[derive(Debug)]
pub struct Page(String);

/// A section of a page: the tables of one struct.
struct Section {
    table: Table,
    headers: Vec<String>,
}

impl Page {
    /// A page with its title, its first paragraph, and the test that writes it.
    pub fn new(title: &str, about: &str, test: &str) -> Self {
        let command = format!("UPDATE_DOCS=1 cargo test {test}");
        Self(format!("# {title}\n\n{about}\n\nGenerated from the code by `{command}`; do not edit.\n"))
    }

    /// A paragraph.
    #[must_use]
    pub fn paragraph(mut self, text: &str) -> Self {
        self.line(&format!("\n{text}"));
        self
    }

    /// A heading of the second level.
    #[must_use]
    pub fn heading(mut self, title: &str) -> Self {
        self.line(&format!("\n## {title}"));
        self
    }

    /// An example in TOML.
    #[must_use]
    pub fn example(mut self, toml: &str) -> Self {
        self.line(&format!("\n```toml\n{}\n```", toml.trim_end()));
        self
    }

    /// The keys of a TOML file, a section for each of its tables. `file` is the type of the whole file.
    #[must_use]
    pub fn keys(mut self, file: Shape) -> Self {
        let mut sections = Vec::new();
        if let Some(table) = file.table {
            collect(table, "", "", &mut sections);
        }
        for Section { table, headers } in sections {
            let title: Vec<String> =
                headers.iter().filter(|header| !header.is_empty()).map(|header| code(header)).collect();
            let title = if title.is_empty() { "Top level".to_owned() } else { title.join(", ") };
            self.line(&format!("\n## {title}\n\n{}\n", table.about));
            self.table_of_keys(&table);
        }
        self
    }

    /// The keys of one table, without a heading.
    #[must_use]
    pub fn table(mut self, table: Shape) -> Self {
        if let Some(table) = table.table {
            self.0.push('\n');
            self.table_of_keys(&table);
        }
        self
    }

    /// The keys of one table, without those of the tables below it.
    fn table_of_keys(&mut self, table: &Table) {
        self.head(&["key", "type", "unit", "default", "range", "meaning"]);
        for key in &table.keys {
            let words: Vec<String> = key.shape.words.iter().map(|word| code(word.word)).collect();
            let range = [words.join(", "), key.range.clone()].into_iter().filter(|part| !part.is_empty());
            let range = range.collect::<Vec<_>>().join("; ");
            let default = match &key.default {
                None => "required".to_owned(),
                Some(text) if text == "none" => text.clone(),
                Some(text) if key.shape.table.is_some() && text.len() > MOST_SHOWN => "its own defaults".to_owned(),
                Some(text) => code(text),
            };
            self.row(&[&code(key.name), &key.shape.kind, key.unit, &default, &range, &key.meaning]);
        }
        for key in table.keys.iter().filter(|key| !key.shape.words.is_empty()) {
            self.words(key.name, &key.shape.words);
        }
    }

    /// The columns of a table of a trace or a run.
    #[must_use]
    pub fn columns(mut self, name: &str, about: &str, columns: &[Column]) -> Self {
        self.line(&format!("\n## {}\n\n{about}\n", code(name)));
        self.head(&["column", "type", "unit", "null?", "meaning"]);
        for column in columns {
            // The unit stands in a column of its own.
            let unit = format!(", {}.", column.unit);
            let meaning = column.meaning.strip_suffix(&unit).map(|text| format!("{text}."));
            let meaning = meaning.unwrap_or_else(|| column.meaning.clone());
            let null = if column.nullable { "yes" } else { "" };
            self.row(&[&code(column.name), column.kind, column.unit, null, &meaning]);
        }
        for column in columns.iter().filter(|column| !column.words.is_empty()) {
            self.words(column.name, column.words);
        }
        self
    }

    /// Numbers about a run.
    #[must_use]
    pub fn measures(mut self, measures: &[Measure]) -> Self {
        self.0.push('\n');
        self.head(&["name", "unit", "meaning", "null", "source"]);
        for measure in measures {
            self.row(&[&code(measure.name), measure.unit, &joined(measure.meaning), measure.null, measure.source]);
        }
        self
    }

    /// A table of texts, with the titles of its columns.
    #[must_use]
    pub fn rows(mut self, titles: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Self {
        self.0.push('\n');
        self.head(titles);
        for row in rows {
            self.row(&row.iter().map(String::as_str).collect::<Vec<_>>());
        }
        self
    }

    /// The page in Markdown.
    pub fn text(self) -> String {
        self.0
    }

    fn words(&mut self, key: &str, words: &[Word]) {
        self.line(&format!("\n{} is one of:\n", code(key)));
        for word in words {
            self.line(&format!("* {}: {}", code(word.word), joined(word.meaning)));
        }
    }

    fn head(&mut self, titles: &[&str]) {
        self.row(titles);
        self.line(&format!("|{}", "---|".repeat(titles.len())));
    }

    fn row(&mut self, cells: &[&str]) {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        self.line(&format!("| {} |", cells.join(" | ")));
    }

    fn line(&mut self, text: &str) {
        // Writing to a text cannot fail.
        let _ = writeln!(self.0, "{text}");
    }
}

/// The most characters of a table's default that are shown.
const MOST_SHOWN: usize = 60;

fn code(text: &str) -> String {
    format!("`{text}`")
}

/// The table and all below it, those of one struct together, in the order in which they are met.
fn collect(table: Table, header: &str, path: &str, sections: &mut Vec<Section>) {
    let known = sections.iter_mut().find(|section| section.table.name == table.name);
    let first = known.is_none();
    match known {
        Some(section) => section.headers.push(header.to_owned()),
        None => sections.push(Section { table: table.clone(), headers: vec![header.to_owned()] }),
    }
    if !first {
        return;
    }
    for key in table.keys {
        let Some(inner) = key.shape.table else { continue };
        let path = below(path, key.name);
        let path = if key.shape.header == Header::Named { format!("{path}.NAME") } else { path };
        let header = if key.shape.header == Header::Several { format!("[[{path}]]") } else { format!("[{path}]") };
        collect(inner, &header, &path, sections);
    }
}
