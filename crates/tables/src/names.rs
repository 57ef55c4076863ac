//! Names and racks of machines that resched makes up.

/// The name of generated machine `node`, counted from 0: `node-00000`.
pub fn host_name(node: u32) -> String {
    format!("node-{node:05}")
}

/// The name of generated rack `rack`, counted from 0: `/rack-000`.
pub fn rack_name(rack: u32) -> String {
    format!("/rack-{rack:03}")
}

/// The rack of machine `node`, if `nodes` machines fill `racks` racks in order and as evenly as possible.
///
/// Counts of 0 are taken as 1.
pub fn rack_of(node: u32, nodes: u32, racks: u32) -> u32 {
    let rack = u64::from(node) * u64::from(racks.max(1)) / u64::from(nodes.max(1));
    u32::try_from(rack).unwrap_or(u32::MAX)
}
