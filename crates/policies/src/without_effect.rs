//! What has no effect on a policy, as facts of its answers.

use std::collections::BTreeSet;

use resched_tables::validity::{Fact, Grade};
use resched_tables::words::counted;

use crate::batch::slurm;
use crate::error::Error;
use crate::info::{Family, Idle, PolicyInfo};
use crate::input::Input;
use crate::registry::POLICIES;
use crate::spec::PolicySpec;
use crate::unread::Unread;

/// How many settings a fact lists.
const MOST_LISTED: usize = 3;

impl PolicySpec {
    /// The facts about what a site and a trace say (`present`) without an effect on this policy, and about parameters of its own that do
    /// nothing. Each is an assumption, but for a default that its known version has.
    ///
    /// # Errors
    /// Values that are not those of its parameters.
    pub fn without_effect(&self, present: &BTreeSet<Input>) -> Result<Vec<Fact>, Error> {
        let name = self.name();
        let idle = (self.info.idle)(self.values(), self.site())?;
        let idle = idle.into_iter().map(|Idle { says, remedy }| {
            Fact::new("settings", Grade::Assumed, format!("{name}: {says}.")).with_remedy(remedy)
        });
        let unread = self.unread(&name, present);
        Ok(dropped(&name, self.info, present).into_iter().chain(unread).chain(idle).chain(self.defaults()?).collect())
    }

    /// The facts about defaults of the site that depend on the version of its scheduler, where its files set nothing.
    fn defaults(&self) -> Result<Vec<Fact>, Error> {
        if self.info.name != slurm::INFO.name {
            return Ok(Vec::new());
        }
        let taken = slurm::defaults_taken(self.values(), self.site())?;
        let as_fact = |(grade, says)| Fact::new("settings", grade, format!("{}: {says}", self.name()));
        Ok(taken.into_iter().map(as_fact).collect())
    }

    /// The settings of the site that this policy would look at, if it could, and that bear on its schedule.
    fn unread(&self, name: &str, present: &BTreeSet<Input>) -> Option<Fact> {
        let of_priorities = |key: &String| key == "priority" || key.starts_with("weight_");
        let priority = self.info.parameters.iter().find(|parameter| parameter.key == "priority");
        let is_multifactor = priority.is_some_and(|parameter| self.text(parameter) == "multifactor");
        let acts = |of: Input| match of {
            Input::Hadoop
            | Input::Pools
            | Input::MapredQueues
            | Input::YarnQueues
            | Input::YarnFairQueues
            | Input::Spark
            | Input::SparkPools
            | Input::Slurm
            | Input::Partitions
            | Input::Kueue
            | Input::NodeLabels => true,
            Input::PriorityWeights => is_multifactor || self.set.keys().any(of_priorities),
            Input::AccountShares
            | Input::Limits
            | Input::Preemption
            | Input::Reservations
            | Input::NodeWeights
            | Input::Features
            | Input::MachineCounts
            | Input::Exclusive
            | Input::Cycles
            | Input::Offers => present.contains(&of),
            Input::Speculation => self.speculator.is_none(),
        };
        let matters = |unread: &&Unread| unread.bears && unread.of.is_understood_by(self.info) && acts(unread.of);
        let all: Vec<&Unread> = self.site().unread.iter().filter(matters).collect();
        if all.is_empty() {
            return None;
        }
        let listed = all
            .iter()
            .take(MOST_LISTED)
            .map(|Unread { file, line, setting, why, .. }| format!("`{setting}` ({file}, line {line}: {why})"));
        let more = all.len().saturating_sub(MOST_LISTED);
        let listed: Vec<String> = listed.chain((more > 0).then(|| format!("and {more} more"))).collect();
        let (what, have) = (counted(all.len() as u64, "setting"), if all.len() == 1 { "has" } else { "have" });
        let says =
            format!("{name}: {what} of the site {have} no effect and may change the schedule: {}.", listed.join(", "));
        let remedy = "`resched site show DIR` lists them all; remove the lines that do not hold, or read the answer without them.";
        Some(Fact::new("settings", Grade::Assumed, says).with_remedy(remedy))
    }
}

/// The fact about the rules that a policy leaves out.
fn dropped(name: &str, info: &PolicyInfo, present: &BTreeSet<Input>) -> Option<Fact> {
    let dropped: Vec<Input> = present.iter().copied().filter(|input| is_dropped(*input, info, present)).collect();
    if dropped.is_empty() {
        return None;
    }
    let nouns: Vec<&str> = dropped.iter().map(|input| input.noun()).collect();
    let says = format!(
        "{name} knows no {}, which the site or the trace has: a change against a policy that knows them is not the policy's alone.",
        or_list(&nouns)
    );
    let knows_all = |info: &&PolicyInfo| dropped.iter().all(|input| input.is_understood_by(info));
    let known_by: Vec<&str> = POLICIES.iter().filter(knows_all).map(|info| info.name).collect();
    let remedy = match known_by[..] {
        [] => "No policy knows all of them; compare with one that leaves out the same.".to_owned(),
        _ => format!("Compare only policies that know them: {}, with other parameters.", known_by.join(", ")),
    };
    Some(Fact::new("inputs", Grade::Assumed, says).with_remedy(remedy))
}

/// True if a policy leaves out a rule that is among these. The real schedulers of Hadoop replace each other with their own files: that a
/// first-in-first-out scheduler has no queues is the policy itself, but one that has queues and no file is not the site's.
fn is_dropped(input: Input, info: &PolicyInfo, present: &BTreeSet<Input>) -> bool {
    if !input.is_rule() || input.is_understood_by(info) {
        return false;
    }
    if !input.is_queues() {
        return true;
    }
    let other_system = info.system().is_some() && input.system() != info.system();
    let has_file = info.inputs.iter().any(|input| input.is_queues() && present.contains(input));
    match info.family {
        _ if other_system || has_file => false,
        Family::MapReduce1 | Family::Yarn => info.inputs.iter().any(|input| input.is_queues()),
        Family::Paper | Family::Reference | Family::Batch | Family::Own => true,
    }
}

fn or_list(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
