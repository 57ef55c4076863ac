//! `sacctmgr.cfg`: the associations as `sacctmgr dump CLUSTER file=sacctmgr.cfg` writes them, and what both files of them share.
//!
//! **Source.** `file_functions.c` of 22.05.

use super::super::xml::{Notes, Place};
use super::fields::Field;
use super::limits::{Took, plain, take};
use super::units::words;
use super::{Slurm, check_name, qos};
use crate::error::Error;
use crate::queues::slurm::{Association, Holder, Shares};

/// The account above all others.
pub(super) const ROOT: &str = "root";
/// Slurm's number for `parent`.
const AS_PARENT: u32 = i32::MAX as u32;

/// Takes a setting of an association.
pub(super) fn set(association: &mut Association, field: &Field, notes: &mut Notes<'_>) -> Result<Took, Error> {
    let value = field.value.trim();
    let some = || Some(value.to_owned());
    match plain(&field.name).as_str() {
        "cluster" => association.cluster = some(),
        "account" | "acct" => association.account = value.to_owned(),
        "user" => association.user = some(),
        "partition" => association.partition = some(),
        "parname" | "parentname" | "parent" => association.parent = some(),
        "share" | "shares" | "fairshare" | "rawshares" => {
            association.shares = match value.parse() {
                _ if value.eq_ignore_ascii_case("parent") => Shares::Parent,
                Ok(AS_PARENT) => Shares::Parent,
                Ok(shares) => Shares::Own(shares),
                Err(_) => return Err(field.wrong(notes, "a number of shares or `parent`")),
            };
        }
        "priority" => association.priority = Some(field.number(notes, 0, u32::MAX)?),
        "qos" | "qoslevel" | "qosraw" => association.qos = words(value),
        "defqos" | "defaultqos" => association.default_qos = some(),
        "id" | "parid" | "lft" | "rgt" | "lineage" | "description" | "organization" | "adminlevel"
        | "defaultaccount" | "defaultwckey" | "wckeys" | "coordinator" | "flags" | "comment" | "classification"
        | "defaultcluster" => {}
        _ => return take(&mut association.limits, field, notes),
    }
    Ok(Took::Known)
}

/// Whom the limits of an association are for.
pub(super) fn holder(association: &Association) -> Holder<'_> {
    match &association.user {
        Some(user) => Holder::User { user, account: &association.account },
        None => Holder::Account(&association.account),
    }
}

/// Reads a dump.
pub(super) fn read(bytes: &[u8], file: &'static str, slurm: &mut Slurm, notes: &mut Notes<'_>) -> Result<(), Error> {
    let mut parent = ROOT.to_owned();
    let mut cluster = None;
    for (line, text) in (1..).zip(String::from_utf8_lossy(bytes).lines()) {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let place = Place::of(file, line);
        let expected = "`Cluster`, `Parent`, `Account`, `User` or `QOS`, then ` - 'NAME'` and settings";
        let (kind, rest) = text.split_once(" - ").unwrap_or((text, ""));
        let mut parts = settings(rest).into_iter();
        let name = parts.next().map(|name| unquoted(&name)).unwrap_or_default();
        if name.is_empty() {
            notes.odd(place, "the line", expected, text);
            continue;
        }
        check_name(&name, &place, notes)?;
        let mut association = Association { cluster: cluster.clone(), ..Association::default() };
        match kind.trim().to_lowercase().as_str() {
            "cluster" => {
                cluster = Some(name.clone());
                association.cluster = Some(name);
                association.account = ROOT.to_owned();
            }
            "parent" => {
                if name != ROOT && !slurm.has_account(&name) {
                    notes.odd(&place, "Parent", "an account of a line before", &name);
                }
                parent = name;
                continue;
            }
            "account" | "project" => {
                association.account = name;
                association.parent = Some(parent.clone());
            }
            "user" => {
                association.account = parent.clone();
                association.parent = Some(parent.clone());
                association.user = Some(name);
            }
            "qos" => {
                let field = |part: String| {
                    let (name, value) = part.split_once('=')?;
                    Some(Field { name: name.trim().to_owned(), value: unquoted(value), place: place.clone() })
                };
                let fields: Vec<Field> = parts.filter_map(field).filter(|field| !field.value.is_empty()).collect();
                qos::add(slurm, name, &fields, notes);
                continue;
            }
            _ => {
                notes.odd(place, "the line", expected, text);
                continue;
            }
        }
        let mut limits = Vec::new();
        for part in parts.filter(|part| !part.trim().is_empty()) {
            let Some((name, value)) = part.split_once('=') else {
                notes.odd(&place, "the line", "settings such as `Fairshare=5`", &part);
                continue;
            };
            let field = Field { name: name.trim().to_owned(), value: unquoted(value), place: place.clone() };
            // The line itself says where its association stands.
            let is_place = ["account", "parent", "user", "cluster"].contains(&plain(name).as_str());
            if is_place || field.value.is_empty() {
                continue;
            }
            let took = set(&mut association, &field, notes);
            match notes.lenient(&place, &field.name, took) {
                None | Some(Took::Known) => {}
                Some(Took::Limit(keys)) => limits.push((keys, field)),
                Some(Took::Unknown) => notes.unsupported(&place, &field.name, "resched does not know it"),
            }
        }
        slurm.note_limits(holder(&association), limits.iter().map(|(keys, field)| (keys.clone(), field)));
        slurm.add(association, &place, notes)?;
    }
    Ok(())
}

/// The settings of a line: the parts between the colons outside of quotes. The colon of `gres/gpu:a100` is none of those.
fn settings(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = vec![String::new()];
    let mut quote = None;
    for c in text.chars() {
        let last = parts.last_mut();
        match (quote, c) {
            (None, ':') if !last.as_ref().is_some_and(|part| is_within_gres(part)) => parts.push(String::new()),
            (None, '\'' | '"') => {
                quote = Some(c);
                last.into_iter().for_each(|part| part.push(c));
            }
            _ => {
                quote = quote.filter(|&open| open != c);
                last.into_iter().for_each(|part| part.push(c));
            }
        }
    }
    parts
}

/// True if a part ends in the name of a generic resource that has no amount yet.
fn is_within_gres(part: &str) -> bool {
    let last = part.rsplit_once([',', '=']).map_or("", |(_, last)| last);
    last.trim().starts_with("gres/")
}

/// A text without quotes around it.
fn unquoted(text: &str) -> String {
    let text = text.trim();
    let inner = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inner('\'').or_else(|| inner('"')).unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_at_its_colons() {
        let parts = settings("'a':Description='x:y':GrpTRES=cpu=10,gres/gpu:a100=2:MaxJobs=3");
        assert_eq!(parts, ["'a'", "Description='x:y'", "GrpTRES=cpu=10,gres/gpu:a100=2", "MaxJobs=3"]);
        assert_eq!(unquoted(" 'a b' "), "a b");
        assert_eq!(unquoted("'"), "'");
    }
}
