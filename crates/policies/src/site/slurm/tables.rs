//! `qos.txt` and `associations.txt`: what `sacctmgr -P show qos` and `sacctmgr -P show assoc` print, by their header.

use super::super::xml::{Notes, Place};
use super::Slurm;
use super::associations::{ROOT, holder, set};
use super::fields::Field;
use super::limits::{Took, plain};
use super::units::is_nothing;
use crate::error::Error;
use crate::input::Input;
use crate::queues::slurm::Association;
use crate::unread::Why;

/// The rows of a file; each cell that holds something is a field under the name of its column. What stands above the header, and rows of
/// another length, are left out with a note.
pub(super) fn rows(bytes: &[u8], file: &'static str, notes: &mut Notes<'_>) -> Result<Vec<(Place, Vec<Field>)>, Error> {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()).peekable();
    let Some(&(first, above)) = lines.peek() else {
        return Err(notes.wrong(Place::of(file, 1), "the file", "a header and rows (`sacctmgr -P`)", "nothing"));
    };
    let header = lines.by_ref().find(|(line, text)| {
        let is_header = text.contains('|');
        if !is_header {
            notes.unsupported(Place::of(file, *line), text.trim(), Why::harmless("it stands above the header"));
        }
        is_header
    });
    let Some((_, header)) = header else {
        return Err(notes.wrong(
            Place::of(file, first),
            "the header",
            "columns with `|` between them (`sacctmgr -P`)",
            above,
        ));
    };
    // `-p` in place of `-P` ends each line with another `|`.
    let columns: Vec<&str> = header.strip_suffix('|').unwrap_or(header).split('|').collect();
    let mut all = Vec::new();
    for (line, text) in lines {
        let place = Place::of(file, line);
        let mut cells: Vec<&str> = text.split('|').collect();
        if cells.len() == columns.len() + 1 && cells.last().is_some_and(|last| last.is_empty()) {
            cells.pop();
        }
        if cells.len() != columns.len() {
            let expected = format!("{} cells, as the header has", columns.len());
            notes.odd(place, "the row", expected, &format!("{} cells", cells.len()));
            continue;
        }
        let field = |(name, value): (&&str, &&str)| {
            (!is_nothing(value.trim())).then(|| Field {
                name: (*name).to_owned(),
                value: (*value).to_owned(),
                place: place.clone(),
            })
        };
        let fields = columns.iter().zip(&cells).filter_map(field).collect();
        all.push((place, fields));
    }
    Ok(all)
}

/// Reads the qualities of service.
pub(super) fn qos(bytes: &[u8], file: &'static str, slurm: &mut Slurm, notes: &mut Notes<'_>) -> Result<(), Error> {
    for (place, fields) in rows(bytes, file, notes)? {
        let name = fields.iter().find(|field| plain(&field.name) == "name").map(|field| field.value.trim().to_owned());
        match name {
            Some(name) => super::qos::add(slurm, name, &fields, notes),
            None => notes.odd(place, "the row", "a column `Name`", "none"),
        }
    }
    Ok(())
}

/// Reads the associations.
pub(super) fn associations(
    bytes: &[u8],
    file: &'static str,
    slurm: &mut Slurm,
    notes: &mut Notes<'_>,
) -> Result<(), Error> {
    let rows = rows(bytes, file, notes)?;
    let mut knows_parents = false;
    // The accounts above the next row, of which `sacctmgr show assoc tree` shows the depth by blanks.
    let mut above: Vec<(usize, String)> = Vec::new();
    for (place, fields) in &rows {
        let mut association = Association::default();
        let mut limits = Vec::new();
        for field in fields {
            let took = set(&mut association, field, notes);
            match notes.lenient(&field.place, &field.name, took) {
                None | Some(Took::Known) => {}
                Some(Took::Limit(keys)) => limits.push((keys, field)),
                Some(Took::Unknown) => notes.unsupported(&field.place, &field.name, "resched does not know it"),
            }
        }
        if association.account.is_empty() {
            notes.odd(place, "the row", "a column `Account`", "none");
            continue;
        }
        let account = fields.iter().find(|field| plain(&field.name) == "account");
        let depth = account.map_or(0, |field| field.value.len() - field.value.trim_start().len());
        knows_parents |= association.parent.is_some() || depth > 0;
        if association.user.is_some() {
            association.parent = Some(association.account.clone());
        } else if association.account != ROOT {
            super::check_name(&association.account, place, notes)?;
            above.retain(|(other, _)| *other < depth);
            let by_depth = above.last().map(|(_, account)| account.clone());
            association.parent = association.parent.or(by_depth).or(Some(ROOT.to_owned()));
            above.push((depth, association.account.clone()));
        }
        slurm.note_limits(holder(&association), limits);
        slurm.add(association, place, notes)?;
    }
    let accounts = slurm
        .conf
        .associations
        .iter()
        .filter(|association| association.user.is_none() && association.account != ROOT)
        .count();
    if !knows_parents && accounts > 1 {
        let why = "without parents, each account lies below root; add the column `ParentName`, or give sacctmgr.cfg \
                   (`sacctmgr dump CLUSTER file=sacctmgr.cfg`)";
        notes.unsupported(Place::of(file, 1), "the tree of accounts", Why::on(Input::AccountShares, why));
    }
    Ok(())
}
