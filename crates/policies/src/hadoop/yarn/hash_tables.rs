//! The orders in which Hadoop goes through its hash tables: nodes, containers of a node, and places of a job.
//!
//! They look drawn by lot, and yet decide which reserved node is given up and whose containers are killed. They depend on the port of the
//! node managers and on the time stamp of the cluster: 1234 and 0 here, and others in a real cluster.

/// The hash of a text (`String.hashCode`).
fn of_text(text: &str) -> u32 {
    text.encode_utf16().fold(0, |hash: u32, unit| hash.wrapping_mul(31).wrapping_add(unit.into()))
}

/// Where a hash stands in a table of so many places, a power of 2.
pub(super) fn place(hash: u32, places: usize) -> usize {
    ((hash ^ hash >> 16) as usize) & (places - 1)
}

/// How many places a table of so many entries has: more than four thirds of them, and 16 at least (`HashMap`).
pub(super) fn places(entries: usize) -> usize {
    let mut places = 16;
    while entries > places / 4 * 3 {
        places *= 2;
    }
    places
}

/// As [`places`], of a `ConcurrentHashMap`, which grows one entry earlier.
fn places_of_concurrent(entries: usize) -> usize {
    places(entries + 1)
}

/// The hash of a node of this name (`NodeId.hashCode`).
pub(super) fn hash_of_node(name: &str) -> u32 {
    const FACTOR: u32 = 493_217;
    FACTOR.wrapping_mul(FACTOR.wrapping_mul(8501).wrapping_add(of_text(name))).wrapping_add(1234)
}

fn hash_of_application(application: u32) -> u32 {
    const FACTOR: u32 = 371_237;
    FACTOR.wrapping_mul(FACTOR.wrapping_mul(6521)).wrapping_add(application)
}

/// The place of an application in a table of few (`ApplicationId.hashCode`).
pub(super) fn of_application(application: u32) -> usize {
    place(hash_of_application(application), 16)
}

/// The place of a container in the table of its node (`ContainerId.hashCode`). Applications, their attempts and the containers of an
/// attempt are numbered from 1; the time stamp of the cluster is 0.
pub(super) fn of_container(application: u32, attempt: u32, container: u32, places: usize) -> usize {
    const FACTOR: u32 = 347_671;
    let of_application = hash_of_application(application);
    let of_attempt = FACTOR.wrapping_mul(FACTOR.wrapping_mul(5501).wrapping_add(of_application));
    let hash = container.wrapping_mul(31).wrapping_add(of_attempt.wrapping_add(attempt));
    place(hash, places)
}

/// The place of a name in the table of the places that a job names, which has so many entries.
pub(super) fn of_place(name: &str, entries: usize) -> usize {
    place(of_text(name), places_of_concurrent(entries))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_hashes_of_java() {
        // Known values of `String.hashCode`.
        assert_eq!((of_text(""), of_text("*"), of_text("hello")), (0, 42, 99_162_322));
        // In Python: `(h ^ h >> 16) & 31`.
        assert_eq!((places(12), places(13), places(20), places(25)), (16, 32, 32, 64));
        assert_eq!(place(685_004_415, 32), 11);
        assert_eq!((of_place("*", 11), of_place("*", 30)), (10, 42));
    }

    #[test]
    fn nodes_stand_in_hadoops_table() {
        // Computed by Java's rules in Python.
        let at = |host: &str| place(hash_of_node(host), 32);
        assert_eq!(["rack00-n00", "rack00-n01", "rack00-n02"].map(at), [11, 27, 2]);
        assert_eq!([1, 12, 13, 24, 25].map(places), [16, 16, 32, 32, 64]);
    }
}
