//! Qualities of service and associations.

use super::super::*;
use super::read;
use crate::queues::slurm::{JobLimits, Limits, Qos, Shares};
use crate::site::SiteConf;

#[test]
fn qualities_of_service_are_read_by_their_header() {
    let text = "Name|Priority|GraceTime|Preempt|PreemptMode|Flags|UsageFactor|GrpTRES|GrpTRESMins|GrpJobs|MaxTRES|MaxWall|MaxTRESPU|\
                MaxJobsPU|MaxSubmitPU|MaxTRESPA\n\
                normal|0|00:00:00||cluster||1.000000||||||||\n\
                high|100|00:00:10|normal,low|requeue|DenyOnLimit,OverPartQOS|2.5|cpu=24,mem=1G|cpu=100|7|node=2|1-00:00:00|\
                gres/gpu=2,license/lic=1|3|4|cpu=8\n";
    let text = text.replacen("0|00:00:00||cluster||1.000000||||||||", "0|00:00:00||cluster||1.000000|||||||||", 1);
    let conf = read(&[("qos.txt", &text)]).unwrap();
    let qos = &conf.site.slurm.as_ref().unwrap().qos;
    assert_eq!(qos["normal"], Qos::default());
    let resources = |all: &[(&str, u64)]| all.iter().map(|&(name, count)| (name.to_owned(), count)).collect();
    let limits = JobLimits {
        group: Limits { cpus: Some(24), jobs: Some(7), resources: resources(&[("mem", 1 << 30)]), ..Limits::default() },
        per_user: Limits {
            jobs: Some(3),
            submitted: Some(4),
            resources: resources(&[("gres/gpu", 2), ("license/lic", 1)]),
            ..Limits::default()
        },
        per_account: Limits { cpus: Some(8), ..Limits::default() },
        per_job: Limits { nodes: Some(2), ..Limits::default() },
        max_wall: Some(86_400_000),
    };
    let high = Qos {
        priority: 100,
        usage_factor: 2.5,
        preempt: vec!["normal".to_owned(), "low".to_owned()],
        preempt_mode: Some("requeue".to_owned()),
        grace_time: 10_000,
        preempt_exempt_time: None,
        flags: vec!["DenyOnLimit".to_owned(), "OverPartQOS".to_owned()],
        limits,
    };
    assert_eq!(qos["high"], high);
    assert_eq!(
        conf.warnings,
        [
            "qos.txt: line 3: `Flags=OverPartQOS` is not supported: no policy looks at this flag",
            "qos.txt: line 3: `GrpTRESMins` is not supported: limits on what is used over time are not replayed",
            "qos.txt: line 3: `MaxSubmitPU` is not supported: the log holds the jobs that were accepted",
        ]
    );
    conf.explain().unwrap().parse::<Table>().unwrap();
}

/// A QOS may have no time of its own (-1, or nothing), or none at all (0).
#[test]
fn a_quality_of_service_may_say_how_long_jobs_keep_their_place() {
    let text = "Name|PreemptExemptTime|PreemptMode\na|00:10:00|cancel,within\nb||suspend\nc|-1|cluster\nd|00:00:00|\n";
    let conf = read(&[("qos.txt", text)]).unwrap();
    let qos = &conf.site.slurm.as_ref().unwrap().qos;
    let times = ["a", "b", "c", "d"].map(|name| qos[name].preempt_exempt_time);
    assert_eq!(times, [Some(600_000), None, None, Some(0)]);
    assert_eq!(qos["a"].preempt_mode.as_deref(), Some("cancel"));
    assert_eq!(conf.warnings.len(), 2, "{:?}", conf.warnings);
    assert!(conf.warnings[0].contains("line 2: `PreemptMode` is not supported: only the first word counts"));
    assert!(conf.warnings[1].contains("line 3: `PreemptMode` is not supported: its jobs are not suspended"));
}

/// Account, parent, user and shares of each association.
fn tree(conf: &SiteConf) -> Vec<String> {
    let line = |association: &Association| {
        let shares = match association.shares {
            Shares::Own(shares) => shares.to_string(),
            Shares::Parent => "parent".to_owned(),
        };
        format!(
            "{}<{} {} {shares}",
            association.parent.as_deref().unwrap_or("-"),
            association.account,
            association.user.as_deref().unwrap_or("-")
        )
    };
    conf.site.slurm.as_ref().unwrap().associations.iter().map(line).collect()
}

#[test]
fn associations_are_read_by_their_header_or_from_a_dump() {
    let expected = ["-<root - 1", "root<root root 1", "root<a - 5", "a<b - parent", "b<b ann 2"];
    let dump = "# To edit this file\nCluster - 'c':Fairshare=1:QOS='normal'\nParent - 'root'\n\
                User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1\n\
                Account - 'a':Description='x:y':Organization='o':Fairshare=5:GrpTRES=cpu=10,gres/gpu:a100=2:MaxJobs=3\n\
                Parent - 'a'\nAccount - 'b':Fairshare=parent:MaxWallDurationPerJob=60\nParent - 'b'\n\
                User - 'ann':DefaultAccount='b':Fairshare=2:Partition='p':DefaultQOS='high'\n";
    let conf = read(&[("sacctmgr.cfg", dump)]).unwrap();
    assert_eq!((tree(&conf), &conf.warnings[..]), (expected.map(str::to_owned).to_vec(), &[][..]));
    let all = &conf.site.slurm.as_ref().unwrap().associations;
    assert_eq!((all[2].limits.group.cpus, all[2].limits.per_user.jobs), (Some(10), Some(3)));
    assert_eq!(all[2].limits.group.resources["gres/gpu:a100"], 2);
    assert_eq!((all[3].limits.max_wall, all[0].qos[0].as_str()), (Some(3_600_000), "normal"));
    assert_eq!((all[4].partition.as_deref(), all[4].default_qos.as_deref()), (Some("p"), Some("high")));
    let with_parents = "Cluster|Account|Par Name|User|Share|Def QOS|GrpCPUs|\nc|root||||||\nc|root||root|1|||\nc|a|root||5||10|\n\
                        c|b|a||parent|||\nc|b||ann|2|high||\nother|z|root||1|||\n";
    let enforced = "ClusterName=C\nAccountingStorageEnforce=limits\n";
    let qos = "Name|Priority\nhigh|1\n";
    let conf = read(&[("associations.txt", with_parents), ("slurm.conf", enforced), ("qos.txt", qos)]).unwrap();
    assert_eq!((tree(&conf), &conf.warnings[..]), (expected.map(str::to_owned).to_vec(), &[][..]));
    let by_depth = "Cluster|Account|User|Share\nc|root||1\nc| root|root|1\nc| a||5\nc|  b||2147483647\nc|   b|ann|2\n";
    assert_eq!(tree(&read(&[("associations.txt", by_depth)]).unwrap()), expected);
    let flat = "Cluster|Account|User|Share\nc|root||1\nc|root|root|1\nc|a||5\nc|b||parent\nc|b|ann|2\n";
    let conf = read(&[("associations.txt", flat)]).unwrap();
    assert_eq!(tree(&conf)[3], "root<b - parent");
    assert!(conf.warnings[0].starts_with("associations.txt: line 1: `the tree of accounts` is not supported"));
    let both = read(&[("associations.txt", flat), ("sacctmgr.cfg", dump)]).unwrap();
    assert_eq!(tree(&both), expected);
    assert!(both.warnings[0].ends_with("sacctmgr.cfg says what the associations are"));
}

#[test]
fn limits_count_only_if_slurm_enforces_them() {
    let qos = "Name|MaxTRESPU\nhigh|cpu=8\n";
    let limit = |conf: &SiteConf| conf.site.slurm.as_ref().unwrap().qos["high"].limits.per_user.cpus;
    for (text, expected) in
        [("AccountingStorageEnforce=safe\n", Some(8)), ("AccountingStorageEnforce=all\n", Some(8)), ("", None)]
    {
        let conf = read(&[("qos.txt", qos), ("slurm.conf", text)]).unwrap();
        assert_eq!(limit(&conf), expected, "{text}");
        assert_eq!(
            conf.warnings.iter().any(|warning| warning.contains("Slurm does not enforce them")),
            expected.is_none()
        );
    }
    assert_eq!(limit(&read(&[("qos.txt", qos)]).unwrap()), Some(8), "what is enforced is not known");
}
