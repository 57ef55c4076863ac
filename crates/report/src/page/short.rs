//! Short names of policies whose labels are long, such as those with paths of files. A page has the full ones once.

use std::path::Path;

use crate::answer::Answer;
use crate::page::frame::escaped;

/// Labels with more characters than this have short names.
const LONG: usize = 40;

/// Before this, a page has short names; the commands after it need the full ones.
const PROVENANCE: &str = "<h2 id=\"provenance\">";

/// The labels of a report that are long, each with its short name.
#[derive(Debug, Clone, Default)]
pub(crate) struct ShortNames(Vec<(String, String)>);

impl ShortNames {
    /// The short names of the policies and runs of an answer.
    pub(crate) fn of(answer: &Answer) -> Self {
        Self::of_labels(answer.policies.iter().map(|policy| policy.label.as_str()))
    }

    fn of_labels<'a>(labels: impl Iterator<Item = &'a str> + Clone) -> Self {
        let mut taken: Vec<String> = labels.clone().map(str::to_owned).collect();
        let mut names: Vec<(String, String)> = Vec::new();
        for label in labels.filter(|label| label.chars().count() > LONG) {
            let short = shortened(label);
            let mut name = short.clone();
            let mut number = 2;
            while taken.contains(&name) {
                name = format!("{short} ({number})");
                number += 1;
            }
            taken.push(name.clone());
            names.push((label.to_owned(), name));
        }
        // A label may begin like a longer one.
        names.sort_by_key(|(label, _)| std::cmp::Reverse(label.len()));
        Self(names)
    }

    /// The short name of a label, or the label itself.
    pub(crate) fn of_label<'a>(&'a self, label: &'a str) -> &'a str {
        self.0.iter().find(|(long, _)| long == label).map_or(label, |(_, short)| short)
    }

    /// A text with short names.
    pub(crate) fn in_text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (long, short)| text.replace(long.as_str(), short))
    }

    /// A title with short names, as HTML.
    pub(crate) fn on_title(&self, title: &str) -> String {
        escaped(&self.in_text(title))
    }

    /// The page with short names up to its provenance, and a note with the full ones.
    pub(crate) fn on_page(&self, page: &str) -> String {
        if self.0.is_empty() {
            return page.to_owned();
        }
        let (before, after) = page.split_at_checked(page.find(PROVENANCE).unwrap_or(page.len())).unwrap_or((page, ""));
        let mut before = before.to_owned();
        for (long, short) in &self.0 {
            before = before.replace(&escaped(long), &escaped(short));
        }
        let list: String = self
            .0
            .iter()
            .map(|(long, short)| {
                format!("<li><strong>{}</strong>: <code>{}</code></li>", escaped(short), escaped(long))
            })
            .collect();
        let note = format!(
            "<details class=\"short\" open><summary>Short names of policies</summary><ul>{list}</ul></details>\n"
        );
        // It stands below the answer.
        match before.find("<h2>How far to trust this</h2>") {
            Some(at) => before.insert_str(at, &note),
            None => before.push_str(&note),
        }
        before + after
    }
}

/// A label without the folders of its paths, and without its end if it is long even so.
fn shortened(label: &str) -> String {
    let part = |part: &str| match part.split_once('=') {
        Some((key, path)) if path.contains('/') => {
            let file =
                Path::new(path).file_name().map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned());
            format!("{key}={file}")
        }
        _ => part.to_owned(),
    };
    let short: String = label.split(',').map(part).collect::<Vec<_>>().join(",");
    if short.chars().count() <= LONG { short } else { short.chars().take(LONG - 1).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_labels_have_short_names_of_their_own() {
        let long = [
            "capacity:queues=/etc/hadoop/site-a/capacity-scheduler.xml",
            "capacity:queues=/etc/hadoop/site-b/capacity-scheduler.xml",
        ];
        let names = ShortNames::of_labels(["fifo", long[0], long[1]].into_iter());
        let short = long.map(|label| names.of_label(label));
        assert_eq!(short, ["capacity:queues=capacity-scheduler.xml", "capacity:queues=capacity-scheduler.xml (2)"]);
        assert_eq!(names.of_label("fifo"), "fifo");
        let page = format!(
            "<p>{0} beats {1}</p><h2>How far to trust this</h2><h2 id=\"provenance\">--policy {0}",
            long[0], long[1]
        );
        let page = names.on_page(&page);
        assert!(
            page.starts_with(
                "<p>capacity:queues=capacity-scheduler.xml beats capacity:queues=capacity-scheduler.xml (2)</p>"
            ),
            "{page}"
        );
        assert!(page.ends_with(&format!("--policy {}", long[0])), "commands stay as they are: {page}");
        assert_eq!(page.matches(long[1]).count(), 1, "the full one stands once: {page}");
    }
}
