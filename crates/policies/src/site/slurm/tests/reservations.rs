//! Reservations of nodes.

use super::super::*;
use super::read;
use crate::queues::slurm::Reservation;

fn reservation(name: &str, times: [i64; 2], nodes: &[&str]) -> Reservation {
    let nodes = nodes.iter().map(|&node| node.to_owned()).collect();
    Reservation { name: name.to_owned(), start: times[0], end: times[1], nodes }
}

/// What the controller prints, in one line for each or in several.
#[test]
fn what_scontrol_prints_is_read() {
    let text = "ReservationName=maint StartTime=2026-11-22T04:00:00 EndTime=2026-11-22T06:00:00 Duration=02:00:00\n   \
                Nodes=n[0-1,5] NodeCnt=3 CoreCnt=48 Features=(null) PartitionName=(null) Flags=MAINT,SPEC_NODES,DAILY\n   \
                TRES=cpu=48\n   Users=root Groups=(null) Accounts=(null) Licenses=(null) State=INACTIVE BurstBuffer=(null) \
                Watts=n/a\n   MaxStartDelay=(null)\n\n\
                ReservationName=all StartTime=1795320000 EndTime=1795323600 Nodes=ALL Flags=MAINT,FLEX\n\
                ReservationName=half StartTime=1795320000 EndTime=1795323600 Nodes=n1\n  NodeName=n1 CoreIDs=0-3\n\
                ReservationName=lic StartTime=1795320000 EndTime=1795323600 Nodes= Licenses=matlab:2 Flags=ANY_NODES\n";
    let conf = read(&[("reservations.txt", text)]).unwrap();
    let epoch = [1_795_320_000_000, 1_795_323_600_000];
    let expected = [
        reservation("maint", [epoch[0], epoch[0] + 7_200_000], &["n0", "n1", "n5"]),
        reservation("all", epoch, &[]),
        reservation("half", epoch, &["n1"]),
    ];
    assert_eq!(conf.site.slurm.as_ref().unwrap().reservations, expected);
    let line =
        |line: usize, what: &str, why: &str| format!("reservations.txt: line {line}: `{what}` is not supported: {why}");
    assert_eq!(
        conf.warnings,
        [
            line(1, "Flags=DAILY", "a reservation that comes again has one line here for each time"),
            line(7, "Flags=FLEX", "jobs of a reservation have its nodes alone"),
            line(8, "CoreIDs", "nodes are reserved as a whole"),
            line(8, "NodeName", "nodes are reserved as a whole"),
            line(10, "Licenses", "licences are not reserved"),
            line(10, "lic", "it reserves no nodes"),
        ]
    );
    conf.explain().unwrap().parse::<Table>().unwrap();
}

/// What the database prints, also about reservations that are over.
#[test]
fn what_sacctmgr_prints_is_read() {
    let text = "Cluster|Name|TRES|TimeStart|TimeEnd|UnusedWall|NodeNames|Flags\n\
                c|class|cpu=32|1795320000|1795323600|0.000000|n[1-2]|SPEC_NODES\n\
                c|class|cpu=16|2026-11-22T06:00:00|2026-11-22T07:00:00|0.000000|n1|\n";
    let conf = read(&[("reservations.txt", text)]).unwrap();
    let first = 1_795_320_000_000;
    let expected = [
        reservation("class", [first, first + 3_600_000], &["n1", "n2"]),
        reservation("class", [first + 7_200_000, first + 10_800_000], &["n1"]),
    ];
    assert_eq!((conf.site.slurm.unwrap().reservations, conf.warnings), (expected.to_vec(), Vec::new()));
}

#[test]
fn what_is_no_reservation_is_said_with_its_place() {
    for (text, expected) in [
        ("ReservationName=a EndTime=5 Nodes=n1\n", "line 1: the reservation: expected a start time, found `none`"),
        ("ReservationName=a StartTime=soon EndTime=5\n", "line 1: StartTime: expected a time such as"),
        ("StartTime=5\n", "line 1: the line: expected `ReservationName=` at first"),
        ("Name|TimeStart\na|1|2\n", "line 2: the row: expected 2 cells"),
        ("Name|TimeStart|TimeEnd|NodeNames\na|1|2|n[1\n", "line 2: NodeNames: expected a list of hosts"),
    ] {
        super::refused_or_said(&[("reservations.txt", text)], expected);
    }
}
