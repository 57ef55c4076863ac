//! Trackable resources (TRES): `billing=4,cpu=4,gres/gpu=1,license/lic=1,mem=8G,node=1`.

use resched_tables::named::as_text;

use super::values::{count, memory};

/// What a job asked for, or got.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Tres {
    pub(super) cpus: Option<u32>,
    pub(super) nodes: Option<u32>,
    /// Bytes.
    pub(super) memory: Option<i64>,
    /// Generic resources, by name: `gres/gpu=1`.
    pub(super) gres: Option<String>,
    /// Licences, by name: `license/lic=1`.
    pub(super) licenses: Option<String>,
}

impl Tres {
    pub(super) fn parse(text: &str) -> Self {
        let mut found = Self::default();
        let (mut gres, mut licenses) = (Vec::new(), Vec::new());
        for (name, amount) in text.split(',').filter_map(|part| part.split_once('=')) {
            match name {
                "cpu" => found.cpus = count(amount),
                "node" => found.nodes = count(amount),
                "mem" => found.memory = memory(amount),
                name => sort(name, amount.parse().ok(), &mut gres, &mut licenses),
            }
        }
        (found.gres, found.licenses) = (as_text(gres), as_text(licenses));
        found
    }
}

/// Adds an amount to those of generic resources or of licences, if it is one.
pub(super) fn sort<'n>(
    name: &'n str,
    amount: Option<u64>,
    gres: &mut Vec<(&'n str, u64)>,
    licenses: &mut Vec<(&'n str, u64)>,
) {
    let Some(amount) = amount.filter(|&amount| amount > 0) else { return };
    if name.starts_with("gres/") {
        gres.push((name, amount));
    } else if name.starts_with("license/") {
        licenses.push((name, amount));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_sorted_by_kind() {
        let all = Tres::parse("billing=4,cpu=4,energy=12,gres/gpu:a100=2,gres/gpu=2,license/lic=1,mem=8G,node=2");
        let expected = Tres {
            cpus: Some(4),
            nodes: Some(2),
            memory: Some(8 << 30),
            gres: Some("gres/gpu=2,gres/gpu:a100=2".to_owned()),
            licenses: Some("license/lic=1".to_owned()),
        };
        assert_eq!(all, expected);
        assert_eq!(Tres::parse("cpu=x,=,gres/gpu=-1,node=0,,mem=1e9"), Tres::default());
    }
}
