//! `[[outages]]`: when nodes are down.

use crate::keys;
use crate::reference::check_range;

use crate::model::LONGEST;
use crate::model::Ms;

keys! {
    /// A time in which a node is down. The attempts on it die. Hadoop's master notices it after `heartbeat.expiry` without a
    /// heartbeat, or when the node is back. The policies for production traces know it at once: what ran there waits again, and
    /// starts from its beginning.
    pub struct Outage: Eq {
        /// The host name of the node.
        host: String;
        /// When the node goes down, in simulated time.
        from: Ms, unit "ms", rule "from 0";
        /// When the node is back, in simulated time. If you leave it out, the node never comes back.
        to: Option<Ms> = None, unit "ms", rule "after `from`";
    }
}

impl Outage {
    /// What is wrong with its times, if anything.
    pub(super) fn check(&self) -> Result<(), String> {
        let Self { host, from, to } = self;
        check_range(from, &format!("outages: {host}: from"), 0..=LONGEST)?;
        check_range(to, &format!("outages: {host}: to"), from + 1..=LONGEST)
    }
}
