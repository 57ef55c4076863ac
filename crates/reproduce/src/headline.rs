//! The headline: how many claims of each paper agree, and beside them what is no evidence of a proposal.

use crate::experiment::Paper;
use crate::opening::papers;
use crate::runner::Reproduced;
use crate::{Role, Row, Verdict};

/// The rows of a paper or role, by verdict.
pub(crate) struct Line {
    /// The paper, or the role.
    pub(crate) name: String,
    /// Its rows.
    pub(crate) rows: usize,
    /// How many of them have each of [`Verdict::ALL`].
    pub(crate) counts: [usize; Verdict::ALL.len()],
}

/// The headline.
pub(crate) struct Headline {
    /// In one sentence.
    pub(crate) sentence: String,
    /// The claims of each paper, all claims, and the rows of every other role.
    pub(crate) lines: Vec<Line>,
}

fn line(name: String, rows: &[&Row]) -> Line {
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    Line { name, rows: rows.len(), counts: Verdict::ALL.map(count) }
}

/// The headline in one sentence: how many claims agree, and how many point the same way.
pub fn in_one_sentence(all: &[Reproduced]) -> String {
    headline(all).sentence
}

/// The headline of a reproduction.
pub(crate) fn headline(all: &[Reproduced]) -> Headline {
    let of = |role: Role, paper: Option<Paper>| -> Vec<&Row> {
        let of_paper = |reproduced: &&Reproduced| paper.is_none_or(|paper| reproduced.experiment.paper == paper);
        let rows = all.iter().filter(of_paper).flat_map(|reproduced| &reproduced.rows);
        rows.filter(|row| row.role == role).collect()
    };
    let claims = of(Role::Claim, None);
    let mut lines: Vec<Line> = papers(all)
        .into_iter()
        .map(|paper| line(format!("claims, {}", paper.name()), &of(Role::Claim, Some(paper))))
        .collect();
    lines.push(line("all claims".to_owned(), &claims));
    let others = Role::ALL.into_iter().filter(|&role| role != Role::Claim);
    lines.extend(others.map(|role| line(role.name().to_owned(), &of(role, None))));
    let agree = claims.iter().filter(|row| row.verdict.agrees()).count();
    let same = claims.iter().filter(|row| row.verdict == Verdict::SameDirection).count();
    let mut sentence = format!("Of {} claims {agree} agree and {same} point the same way.", claims.len());
    let apart: Vec<&&Row> = claims.iter().filter(|row| row.distinguishes).collect();
    if apart.len() < claims.len() {
        let alike = claims.len() - apart.len();
        let agree = apart.iter().filter(|row| row.verdict.agrees()).count();
        sentence += &format!(
            " In {alike} of them the paper has about the same number for its baseline; of the other {}, {agree} agree.",
            apart.len()
        );
    }
    Headline { sentence, lines }
}
