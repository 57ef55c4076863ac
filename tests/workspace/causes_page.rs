//! The page of causes is made from the code, and each cause on it is one that the code counts.

use std::fs;
use std::path::Path;

use super::facts::sources;
use super::fresh::assert_fresh;
use resched_tables::cause::{Cause, Kind, SECTIONS, Section};
use resched_tables::reference::Page;

#[test]
fn the_page_of_causes_is_fresh() {
    let about = "`resched ingest` counts whatever the tables of a trace do not have as the source has it. `resched inspect`, `trace.json` and \
                 reports show the counts under these codes, and so do `scale` and `export`. `resched ingest --explain` prints what each \
                 count means, and which column was read from what.";
    let kinds = "**What became of it.** *Could not be read*: damage, whose share may lower the grade of an answer. *Left out*: the tables lack it. \
                 *Mended*: the tables have another value. *Assumed*: the source leaves it open, and a rule decided. *Merged*: several records \
                 became one, or the same is in the source under another name.";
    let page = Page::new("Codes of what was left out", about, "--workspace --test workspace").paragraph(kinds);
    let page = SECTIONS.iter().fold(page, section);
    assert_fresh("reference/causes.md", &page.text());
}

fn section(page: Page, Section { title, causes }: &Section) -> Page {
    let row = |cause: &Cause| {
        let texts = [cause.kind().title(), cause.means(), cause.effect(), cause.remedy()].map(str::to_owned);
        [vec![format!("`{cause}`")], texts.to_vec()].concat()
    };
    let titles = ["code", "what became of it", "what it means", "what it does to an answer", "what you can do"];
    page.heading(title).rows(&titles, causes.iter().map(row))
}

/// A cause can only be counted if it is in the list, because [`Cause`] cannot be made elsewhere. This is the other way round.
#[test]
fn each_cause_is_counted_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
    let mut files = Vec::new();
    sources(&root, &mut files);
    files.retain(|file| !file.starts_with(root.join("tables/src/cause")));
    let code: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let constant = |cause: &Cause| format!("cause::{}", cause.name().replace('-', "_").to_uppercase());
    let is_used = |cause: &Cause| {
        let constant = constant(cause);
        let after = |at: usize| code[at + constant.len()..].chars().next();
        code.match_indices(&constant).any(|(at, _)| after(at).is_none_or(|next| next != '_' && !next.is_alphanumeric()))
    };
    let stale: Vec<&Cause> =
        SECTIONS.iter().flat_map(|section| section.causes).filter(|cause| !is_used(cause)).collect();
    assert!(stale.is_empty(), "nobody counts {stale:?}");
    assert!(
        Kind::ALL
            .iter()
            .all(|kind| SECTIONS.iter().flat_map(|section| section.causes).any(|cause| cause.kind() == *kind))
    );
}
