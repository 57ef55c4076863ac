//! Generated pages.

use std::path::Path;

/// Compares a generated page with the file in `docs/`, after writing it anew if `UPDATE_DOCS` is set.
pub(crate) fn assert_fresh(name: &str, page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, page).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == page, "docs/{name} is stale; its first lines name the command that writes it");
}
