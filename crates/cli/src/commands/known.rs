//! Settings of a site in a fitted cluster file: what the site says is known, and needs no estimate.

use resched_policies::{SettingOrigin, SiteConf};
use toml::Value;

/// A setting of the cluster that a site knows.
pub(super) struct Known<'a> {
    /// Its key in a cluster file, from the section down.
    pub(super) key: &'a str,
    pub(super) value: &'a Value,
    pub(super) origin: &'a SettingOrigin,
}

impl Known<'_> {
    /// Where it is set, for people.
    pub(super) fn place(&self) -> String {
        let SettingOrigin { property, file, line } = self.origin;
        format!("{property} ({file}, line {line})")
    }
}

/// The settings of the cluster that a site knows, by key.
pub(super) fn known(conf: &SiteConf) -> Vec<Known<'_>> {
    let value = |path: &str| {
        let (section, rest) = path.split_once('.')?;
        rest.split('.').try_fold(conf.cluster.get(section)?, |at, part| at.get(part))
    };
    let of_cluster = conf.origins.iter().filter(|((policy, _), _)| policy.is_none());
    of_cluster.filter_map(|((_, key), origin)| Some(Known { key, value: value(key)?, origin })).collect()
}

/// The text of a cluster file with these settings in place of its own, which stay as comments.
pub(super) fn with_known(text: &str, known: &[Known<'_>]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for setting in known {
        let (section, key) = setting.key.rsplit_once('.').unwrap_or(("", setting.key));
        let line = format!("{key} = {} # known: {}", setting.value, setting.place());
        let header = format!("[{section}]");
        let Some(begin) = lines.iter().position(|line| *line == header) else {
            lines.extend([String::new(), header, line]);
            continue;
        };
        let inside = lines.iter().skip(begin + 1).position(|line| line.starts_with('['));
        let end = inside.map_or(lines.len(), |inside| begin + 1 + inside);
        let is = |line: &str, key| line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='));
        let replaces = replaced_by(setting.key).iter().chain([&key]);
        for key in replaces {
            let fitted = lines.get_mut(begin + 1..end).and_then(|lines| lines.iter_mut().find(|line| is(line, key)));
            if let Some(fitted) = fitted {
                *fitted = format!("# fitted: {fitted}");
            }
        }
        lines.insert(begin + 1, line);
    }
    lines.retain(|line| !known.iter().any(|setting| is_error_of(line, setting.key)));
    lines.join("\n") + "\n"
}

/// The keys beside another one that say nothing if that one is set.
fn replaced_by(key: &str) -> &'static [&'static str] {
    if key == "machines.named" { &["cores", "memory"] } else { &[] }
}

/// Whether a line gives the standard error of the value of a key, or of a part of it.
fn is_error_of(line: &str, key: &str) -> bool {
    let rest = line.strip_prefix('"').and_then(|line| line.strip_prefix(key));
    rest.is_some_and(|rest| rest.starts_with(['"', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_takes_the_place_of_what_is_fitted() {
        let origin = SettingOrigin { property: "p".to_owned(), file: "f.xml".into(), line: 3 };
        let (four, half) = (Value::Integer(4), Value::Float(0.5));
        let known = [
            Known { key: "nodes.map_slots", value: &four, origin: &origin },
            Known { key: "jobs.slowstart", value: &half, origin: &origin },
        ];
        let text = "# Fitted\n[nodes]\nmap_slots = 2 # at most\nmap_slots_more = 1\n\n[cost]\nmap_slots = 9\n\n[fitted]\n\"jobs.slowstart\" = 0.1\n\"jobs.slowstarts\" = 0.2\n";
        let expected = "# Fitted\n[nodes]\nmap_slots = 4 # known: p (f.xml, line 3)\n# fitted: map_slots = 2 # at most\n\
                        map_slots_more = 1\n\n[cost]\nmap_slots = 9\n\n[fitted]\n\"jobs.slowstarts\" = 0.2\n\n[jobs]\nslowstart = 0.5 # known: p (f.xml, line 3)\n";
        assert_eq!(with_known(text, &known), expected);
        let named = Value::Array(Vec::new());
        let known = [Known { key: "machines.named", value: &named, origin: &origin }];
        let expected =
            "[machines]\nnamed = [] # known: p (f.xml, line 3)\n# fitted: cores = 8.0\n# fitted: memory = 9\n";
        assert_eq!(with_known("[machines]\ncores = 8.0\nmemory = 9\n", &known), expected);
    }
}
