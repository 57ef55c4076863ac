//! Folders of a Slurm site, good and bad.

mod reservations;
mod settings;
mod users;

use std::path::{Path, PathBuf};

use resched_tables::cluster_file::ClusterConfig;

use super::keys::{KEYS, Key, Kind};
use super::*;
use crate::queues::slurm::{NodeGroup, Partition};
use crate::site::SiteConf;

/// What a folder with these files says.
fn read(files: &[(&str, &str)]) -> Result<SiteConf, String> {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    SiteConf::read(dir.path()).map_err(|error| error.to_string().replace(&format!("{}/", dir.path().display()), ""))
}

/// What a `slurm.conf` says.
fn conf(text: &str) -> Result<SiteConf, String> {
    read(&[("slurm.conf", text)])
}

fn slurm(text: &str) -> SlurmConf {
    conf(text).unwrap().site.slurm.unwrap()
}

/// The cluster of a site, checked as a replay checks it.
fn cluster(conf: &SiteConf) -> resched_tables::cluster_file::Machines {
    ClusterConfig::of_settings(conf.cluster.clone()).unwrap().machines
}

#[test]
fn nodes_become_machines_with_names() {
    let conf = conf(
        "SelectType=select/cons_tres SelectTypeParameters=CR_CPU_Memory\n\
         Licenses=lic:2,foo\n\
         NodeName=DEFAULT RealMemory=64000 Weight=5\n\
         NodeName=n[0-1] CPUs=16 Gres=gpu:2,gpu:a100:1(S:0-1) Feature=fast,big State=UNKNOWN\n\
         NodeName=n2 CPUs=16 Gres=gpu:2,gpu:a100:1 Features=fast,big\n\
         NodeName=m1 Boards=1 SocketsPerBoard=2 CoresPerSocket=8 \\\n ThreadsPerCore=2 CoreSpecCount=1 MemSpecLimit=1000\n\
         NodeName=DEFAULT Weight=1\n\
         NodeName=m2\n\
         NodeName=f[0-9] State=FUTURE\n",
    )
    .unwrap();
    let machines = cluster(&conf);
    let of = |at: usize| {
        let one = &machines.named[at];
        (one.hosts.as_str(), one.cores, one.memory, one.resources.as_deref(), one.features.as_deref())
    };
    let memory = |megabytes: u64| Some(megabytes << 20);
    assert_eq!(of(0), ("n[0-2]", 16.0, memory(64_000), Some("gres/gpu=3,gres/gpu:a100=1"), Some("fast,big")));
    assert_eq!(of(1), ("m1", 30.0, memory(63_000), None, None));
    assert_eq!(of(2), ("m2", 1.0, memory(64_000), None, None));
    assert_eq!(machines.licenses.as_deref(), Some("license/foo=1,license/lic=2"));
    let group =
        |hosts: &[&str], weight| NodeGroup { hosts: hosts.iter().map(|&host| host.to_owned()).collect(), weight };
    let expected = [group(&["n0", "n1", "n2"], 5), group(&["m1"], 5), group(&["m2"], 1)];
    assert_eq!(conf.site.slurm.as_ref().unwrap().nodes, expected);
    assert_eq!(
        conf.warnings,
        ["slurm.conf: line 10: `NodeName=f[0-9]` is not supported: a node in state FUTURE does not exist yet"]
    );
    let origin = |key| &conf.origins[&(None, key)];
    assert_eq!((origin(NAMED).line, origin(LICENSES).line), (4, 2));
    let shown = conf.explain().unwrap();
    assert!(shown.contains("named = [{ cores = 16.0, features = \"fast,big\", hosts = \"n[0-2]\""), "{shown}");
    assert!(shown.contains("# NodeName (slurm.conf, line 4)"), "{shown}");
    shown.parse::<Table>().unwrap();
}

#[test]
fn a_weight_of_the_qos_is_named_if_nobody_says_what_each_counts() {
    let text = "PriorityType=priority/multifactor\nPriorityWeightQOS=1000\n";
    let without = conf(text).unwrap().warnings;
    assert_eq!(
        without,
        ["slurm.conf: line 2: `PriorityWeightQOS` is not supported: without qos.txt (`sacctmgr -P show qos`), the \
          priorities of the log stand"]
    );
    let with = read(&[("slurm.conf", text), ("qos.txt", "Name|Priority\nnormal|5\n")]).unwrap().warnings;
    assert!(with.is_empty(), "{with:?}");
}

#[test]
fn memory_counts_only_if_jobs_use_it_up() {
    let memory = |select: &str, node: &str| {
        let conf = conf(&format!("{select}\nNodeName=n0 CPUs=4 {node}\nNodeName=n1 CPUs=4\n")).unwrap();
        cluster(&conf).named.iter().map(|one| one.memory).collect::<Vec<_>>()
    };
    let some = "RealMemory=100";
    assert_eq!(memory("SelectTypeParameters=CR_Core", some), [None]);
    assert_eq!(memory("SelectType=select/linear", some), [None]);
    let counted = [Some(100 << 20), Some(1 << 20)];
    assert_eq!([memory("", some), memory("SelectType=select/cons_tres", some)], [counted.to_vec(), counted.to_vec()]);
    assert_eq!(
        memory("SelectTypeParameters=CR_CPU_MEMORY,CR_LLN", some),
        [Some(100 << 20), Some(1 << 20)],
        "Slurm's default is 1 MB"
    );
    assert_eq!(memory("SelectTypeParameters=CR_Memory", some), [Some(100 << 20), Some(1 << 20)]);
    assert_eq!(memory("SelectTypeParameters=CR_Memory", ""), [None], "no node says its memory");
}

#[test]
fn partitions_have_defaults_and_sets_of_nodes() {
    let found = slurm(
        "NodeName=n[0-3] CPUs=1 Feature=fast\nNodeName=m[0-1] CPUs=1\nNodeSet=quick Feature=fast\nNodeSet=rest Nodes=m[0-1]\n\
         PartitionName=DEFAULT MaxTime=30 DefaultTime=2 QOS=normal\n\
         PartitionName=main Nodes=ALL Default=YES PriorityTier=10 OverSubscribe=EXCLUSIVE\n\
         PartitionName=low Nodes=quick,m1 MaxTime=INFINITE MaxNodes=4 MinNodes=2 GraceTime=60 PreemptMode=REQUEUE LLN=yes\n\
         PartitionName=down Nodes=rest State=DOWN OverTimeLimit=5 MaxNodes=UNLIMITED Priority=7\n\
         PartitionName=empty OverTimeLimit=UNLIMITED\n",
    );
    let usual = Partition {
        max_time: Some(1_800_000),
        default_time: Some(120_000),
        qos: Some("normal".to_owned()),
        ..Partition::default()
    };
    let names = |names: &str| names.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let expected = [
        Partition { name: "main".to_owned(), is_default: true, tier: 10, exclusive: true, ..usual.clone() },
        Partition {
            name: "low".to_owned(),
            nodes: names("n0 n1 n2 n3 m1"),
            max_time: None,
            max_nodes: Some(4),
            min_nodes: 2,
            grace_time: 60_000,
            preempt_mode: Some("requeue".to_owned()),
            least_loaded: true,
            ..usual.clone()
        },
        Partition {
            name: "down".to_owned(),
            nodes: names("m0 m1"),
            is_up: false,
            over_time_limit: Some(300_000),
            tier: 7,
            job_factor: 7,
            ..usual.clone()
        },
        Partition { name: "empty".to_owned(), is_up: false, over_time_limit: Some(i64::MAX), ..usual },
    ];
    assert_eq!(found.partitions, expected);
}

#[test]
fn what_scontrol_prints_completes_the_files() {
    let partitions = "PartitionName=main\n   AllowGroups=ALL Default=YES QoS=N/A\n   DefaultTime=NONE MaxTime=00:30:00 \
                      MaxNodes=UNLIMITED LLN=NO\n   Nodes=n[0-1]\n   PriorityTier=3 OverTimeLimit=NONE State=UP \
                      TotalCPUs=4\n\nPartitionName=new Nodes=n1 MaxTime=UNLIMITED AllowAccounts=a,b\n";
    let nodes = "NodeName=n0 Arch=x86_64 CoresPerSocket=1 \n   CPUAlloc=0 CPUEfctv=7 CPUTot=8 CPULoad=0.1\n   \
                 AvailableFeatures=fast\n   ActiveFeatures=fast\n   Gres=gpu:1(S:0)\n   OS=Linux 6.1 #1 SMP\n   \
                 RealMemory=10 AllocMem=0 Weight=3\n   Reason=Not responding [root@2026-11-24T00:00:00]\n\n\
                 NodeName=n9 CPUTot=2 RealMemory=20 AvailableFeatures=(null) Gres=(null)\n";
    let files = [
        (
            "slurm.conf",
            "SelectTypeParameters=CR_CPU_Memory\nNodeName=n[0-1] CPUs=4\nPartitionName=main Nodes=ALL PriorityTier=1\n",
        ),
        ("partitions.txt", partitions),
        ("nodes.txt", nodes),
    ];
    let conf = read(&files).unwrap();
    let found = conf.site.slurm.as_ref().unwrap();
    let of: Vec<_> = found
        .partitions
        .iter()
        .map(|partition| (partition.name.as_str(), partition.tier, partition.max_time, partition.nodes.len()))
        .collect();
    assert_eq!(of, [("main", 3, Some(1_800_000), 2), ("new", 1, None, 1)]);
    let sizes: Vec<_> =
        cluster(&conf).named.into_iter().map(|one| (one.hosts, one.cores, one.memory, one.resources)).collect();
    assert_eq!(
        sizes,
        [
            ("n0".to_owned(), 7.0, Some(10 << 20), Some("gres/gpu=1".to_owned())),
            ("n1".to_owned(), 4.0, Some(1 << 20), None),
            ("n9".to_owned(), 2.0, Some(20 << 20), None),
        ]
    );
    assert_eq!(
        conf.warnings,
        ["partitions.txt: line 7: `AllowAccounts` is not supported: a replay does not check who may submit",]
    );
    let empty = read(&[("nodes.txt", "n1\nn2\n")]).unwrap();
    assert_eq!(
        empty.warnings,
        ["nodes.txt: line 1: `the file` is not supported: nothing in it begins with `NodeName=`"]
    );
    // Without a slurm.conf, what scontrol prints is all there is.
    let conf = read(&files[1..]).unwrap();
    assert_eq!(cluster(&conf).named.len(), 2);
}

#[test]
fn other_files_of_the_folder_are_included() {
    let conf = read(&[
        ("slurm.conf", "Include conf.d/nodes.conf\ninclude parts.conf # rest\nPreemptMode=REQUEUE\n"),
        ("conf.d/nodes.conf", "NodeName=n[0-1] CPUs=4\n"),
        ("parts.conf", "\nPartitionName=p Nodes=ALL Alternate=q\n"),
    ])
    .unwrap();
    assert_eq!(cluster(&conf).named.len(), 1);
    assert_eq!(conf.files.keys().collect::<Vec<_>>(), ["conf.d/nodes.conf", "parts.conf", "slurm.conf"]);
    assert_eq!(conf.origins[&(None, NAMED)].file, "conf.d/nodes.conf");
    assert_eq!(conf.warnings[0], "parts.conf: line 2: `Alternate` is not supported: jobs stay in their partition");
    for (text, expected) in [
        (
            "A=1\nInclude /etc/slurm/nodes.conf\n",
            "slurm.conf: line 2: Include: expected a file of this folder, or one that lies here under the same name (copy it \
             here), found `/etc/slurm/nodes.conf`; correct it",
        ),
        ("Include ../nodes.conf\n", "line 1: Include: expected a file of this folder"),
        ("Include gone.conf\n", "line 1: Include: expected a file of this folder (copy it here), found `gone.conf`"),
        ("Include slurm.conf\n", "line 1: Include: expected at most 100 of them"),
    ] {
        let error = read(&[("slurm.conf", text)]).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn as_many_files_as_the_limit_are_included_and_not_one_more() {
    let of = |files: usize| {
        let text = "Include nodes.conf\n".repeat(files) + "PartitionName=p Nodes=ALL\n";
        read(&[("slurm.conf", &text), ("nodes.conf", "NodeName=n1 CPUs=4\n")])
    };
    // Whether a node may be listed so often is for the reader of nodes.
    let refused = |files: usize| of(files).err().is_some_and(|error| error.contains("expected at most 100 of them"));
    assert!(!refused(MOST_INCLUDED) && refused(MOST_INCLUDED + 1));
}

#[test]
fn files_have_as_many_bytes_in_all_as_the_limit_and_not_one_more() {
    const MIB: usize = 1 << 20;
    let of = |last: usize| {
        let comment = |bytes: usize| format!("#{}", "x".repeat(bytes - 1));
        let head = "Include a.conf\nInclude b.conf\nInclude c.conf\nInclude d.conf\nPartitionName=p Nodes=ALL\n";
        let files = ["a.conf", "b.conf", "c.conf"].map(|name| (name, comment(MIB)));
        let rest = comment(MOST_BYTES - 3 * MIB - head.len() + last);
        let mut all: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        all.extend([("slurm.conf", head), ("d.conf", &rest)]);
        read(&all).map(|conf| conf.site.slurm.map(|conf| conf.partitions.len()))
    };
    assert_eq!(of(0), Ok(Some(1)));
    let problem = of(1).unwrap_err();
    assert!(problem.contains("line 4: Include: expected at most 4194304 bytes in all"), "{problem}");
}

#[test]
fn as_many_partitions_as_the_limit_and_not_one_more() {
    let of = |partitions: usize| {
        let names: Vec<String> = (0..partitions).map(|n| format!("p{n}")).collect();
        read(&[("slurm.conf", &format!("PartitionName={}\n", names.join(",")))])
    };
    assert_eq!(of(MOST_PARTITIONS).unwrap().site.slurm.unwrap().partitions.len(), MOST_PARTITIONS);
    let problem = of(MOST_PARTITIONS + 1).unwrap_err();
    assert!(problem.contains("line 1: PartitionName: expected at most 10000 partitions"), "{problem}");
}

#[test]
fn as_many_reservations_as_the_limit_and_not_one_more() {
    let of = |reservations: usize| {
        let line = "ReservationName=r StartTime=1 EndTime=2 Nodes=n1\n";
        read(&[("reservations.txt", &line.repeat(reservations))])
    };
    assert_eq!(of(MOST_RESERVATIONS).unwrap().site.slurm.unwrap().reservations.len(), MOST_RESERVATIONS);
    let problem = of(MOST_RESERVATIONS + 1).unwrap_err();
    assert!(problem.contains("line 1001: the file: expected at most 1000 reservations"), "{problem}");
}

#[test]
fn lists_have_as_many_hosts_as_the_limit_and_not_one_more() {
    let notes = Notes::new(Path::new("conf"));
    let lists = |hosts: &[usize]| -> Result<usize, String> {
        let mut budget = Budget::default();
        hosts.iter().try_fold(0, |all, hosts| {
            let pairs = [("nodes".to_owned(), format!("n[1-{hosts}]"))];
            let fields = fields::Fields::of(
                &Place::of("slurm.conf", 1),
                &pairs,
                &fields::Fields::default(),
                |name| (name == "nodes").then_some("nodes"),
                |_| {},
            );
            let field = fields.get(&["nodes"]).unwrap();
            budget.expand(field, &notes).map(|found| all + found.len()).map_err(|error| error.to_string())
        })
    };
    let half = MOST_HOSTS / 2;
    assert_eq!(lists(&[half, half]), Ok(MOST_HOSTS));
    let problem = lists(&[half, half + 1]).unwrap_err();
    assert!(problem.contains("at most 2000000 in all"), "{problem}");
}

/// A file is refused with this message, or what is wrong in it is said to have no effect, as the daemon does it.
fn refused_or_said(files: &[(&str, &str)], expected: &str) {
    let message = match read(files) {
        Err(error) => error,
        Ok(conf) => {
            assert!(conf.site.unread.iter().any(|setting| setting.bears), "{expected}: {:?}", conf.warnings);
            conf.warnings.join("\n")
        }
    };
    let (place, rest) = expected.split_once(": ").unwrap();
    let (_, why) = rest.split_once(": ").unwrap();
    assert!(message.contains(place) && message.contains(why), "{expected}: {message}");
}

#[test]
fn wrong_values_are_refused_or_said_with_their_line() {
    let many = format!("PartitionName=p Nodes={}\n", "n[0-999999],".repeat(5) + "m");
    for (file, text, expected) in [
        (
            "slurm.conf",
            "\nSchedulerParameters=bf_interval=soon\n",
            "line 2: SchedulerParameters.bf_interval: expected a time in seconds, found `soon`",
        ),
        (
            "slurm.conf",
            "SchedulerParameters=bf_interval\n",
            "line 1: SchedulerParameters.bf_interval: expected a time in seconds, found ``",
        ),
        ("slurm.conf", "PriorityWeightAge=much\n", "line 1: PriorityWeightAge: expected a number, found `much`"),
        ("slurm.conf", "PriorityMaxAge=1:2:3:4\n", "line 1: PriorityMaxAge: expected a time such as"),
        ("slurm.conf", "PriorityWeightTRES=cpu\n", "line 1: PriorityWeightTRES.cpu: expected numbers by name"),
        ("slurm.conf", "PriorityFavorSmall=maybe\n", "line 1: PriorityFavorSmall: expected yes or no, found `maybe`"),
        ("slurm.conf", "Licenses=lic:many\n", "line 1: Licenses: expected licences such as `matlab:4,foo`"),
        ("slurm.conf", "NodeName=n[0-\n", "line 1: NodeName: expected a list of hosts such as `n[0-7],m1`"),
        ("slurm.conf", "NodeName=n[0-9999999]\n", "line 1: NodeName: expected a list of hosts"),
        ("slurm.conf", "NodeName=n1\nNodeName=n[0-2]\n", "line 2: NodeName: expected each node once, found `n1`"),
        ("slurm.conf", "NodeName=n1 CPUs=-1\n", "line 1: CPUs: expected a number from 1 to 1000000, found `-1`"),
        (
            "slurm.conf",
            "NodeName=n1 RealMemory=99999999999\n",
            "line 1: RealMemory: expected a number from 1 to 67108864",
        ),
        (
            "slurm.conf",
            "PartitionName=p MaxTime=long\n",
            "line 1: MaxTime: expected a time such as `30` or `D-HH:MM:SS`",
        ),
        ("slurm.conf", "PartitionName=p PriorityTier=-2\n", "line 1: PriorityTier: expected a number from 0"),
        ("slurm.conf", &many, "line 1: Nodes: expected a list of hosts"),
        ("partitions.txt", "TotalCPUs=1\n", "line 1: the file: expected `PartitionName=` at first, found `TotalCPUs`"),
        ("nodes.txt", "NodeName=n[0-1] CPUTot=1\n", "line 1: NodeName: expected"),
        ("nodes.txt", "NodeName=n0\nNodeName=n0\n", "line 2: NodeName: expected the name of a node, each once"),
        ("qos.txt", "", "line 1: the file: expected a header and rows (`sacctmgr -P`), found `nothing`"),
        ("qos.txt", "      Name   Priority\n", "line 1: the header: expected columns with `|`"),
        ("qos.txt", "Name|Priority\nhigh\n", "line 2: the row: expected 2 cells, as the header has, found `1 cells`"),
        ("qos.txt", "Name|Priority\nhigh|x\n", "line 2: Priority: expected a number from 0"),
        ("qos.txt", "Name|MaxTRES\nhigh|cpu=x\n", "line 2: MaxTRES: expected amounts such as"),
        ("qos.txt", "Priority|Flags\n1|x\n", "line 2: the row: expected a column `Name`"),
        ("associations.txt", "User|Share\nann|1\n", "line 2: the row: expected a column `Account`"),
        ("associations.txt", "Account|Share\na|some\n", "line 2: Share: expected a number of shares or `parent`"),
        (
            "associations.txt",
            "Account|Par Name\na|b\nb|a\n",
            "line 2: the account: expected one that lies below root, found `a`",
        ),
        ("associations.txt", "Account|Par Name\na|gone\n", "line 2: the account: expected one that lies below root"),
        ("associations.txt", "Account|User\na|ann\n", "line 2: the account: expected one that lies below root"),
        ("sacctmgr.cfg", "Cluster\n", "line 1: the line: expected `Cluster`, `Parent`"),
        ("sacctmgr.cfg", "Thing - 'x'\n", "line 1: the line: expected `Cluster`, `Parent`"),
        ("sacctmgr.cfg", "Parent - 'gone'\n", "line 1: Parent: expected an account of a line before, found `gone`"),
        ("sacctmgr.cfg", "Account - 'a':Fairshare\n", "line 1: the line: expected settings such as `Fairshare=5`"),
    ] {
        refused_or_said(&[(file, text)], expected);
    }
    let long = "x".repeat(5_000);
    let names: String = (0..10_001).map(|number| format!("p{number},")).collect();
    for (file, text, expected) in [
        (
            "slurm.conf",
            format!("NodeName=DEFAULT Feature={long}\nNodeName=n1\n"),
            "line 1: Feature: expected at most 4096 bytes",
        ),
        (
            "slurm.conf",
            format!("PartitionName=DEFAULT QOS={long}\nPartitionName=p\n"),
            "line 1: QOS: expected at most 4096 bytes",
        ),
        ("slurm.conf", format!("PartitionName={names}\n"), "line 1: PartitionName: expected at most 10000 partitions"),
        ("sacctmgr.cfg", format!("Cluster - '{long}'\n"), "line 1: the name: expected at most 256 bytes"),
        ("associations.txt", format!("Account|User\n{long}|\n"), "line 2: the name: expected at most 256 bytes"),
    ] {
        let error = read(&[(file, &text)]).map(|conf| conf.warnings).expect_err(expected);
        assert!(error.starts_with(&format!("{file}: ")) && error.contains(expected), "{error}");
    }
    let found_none = read(&[("readme.txt", "x")]).unwrap_err();
    assert!(FILES.iter().all(|file| found_none.contains(file)), "{found_none}");
    let huge = "#".repeat((1 << 20) + 1);
    assert!(conf(&huge).unwrap_err().contains("expected at most 1048576 bytes"));
}

/// Every start of each file is read or refused, and so is each file without its end of a line.
#[test]
fn cut_files_make_no_panic() {
    let dump = "Cluster - 'c':Fairshare=1\nParent - 'root'\nAccount - 'a':GrpTRES=cpu=1,gres/gpu:x=2\n";
    for (file, text) in [
        (
            "slurm.conf",
            "NodeName=n[0-3] CPUs=4 Gres=gpu:a:2(S:0-1)\nPartitionName=p Nodes=n[1-2] MaxTime=1-0\nSchedulerParameters=bf_interval=5 \\\n",
        ),
        ("partitions.txt", "PartitionName=p\n  Nodes=n[0-1]\n MaxTime=1-00:00:00\n"),
        ("nodes.txt", "NodeName=n0 CPUTot=4\n   Gres=gpu:2\n"),
        ("qos.txt", "Name|Priority|MaxTRES|\nhigh|7|cpu=4,mem=1.5G|\n"),
        ("associations.txt", "Cluster|Account|User|Share\nc|root||1\nc| a||5\n"),
        ("sacctmgr.cfg", dump),
    ] {
        for end in 0..text.len() {
            let _ = read(&[(file, &text[..end])]);
        }
    }
}

/// The folder of a run of Slurm.
fn truth(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let path = std::env::var_os("RESCHED_SHARED").map_or_else(beside, PathBuf::from).join("truth/slurm").join(name);
    if path.is_dir() {
        return Some(path);
    }
    assert!(
        std::env::var_os("RESCHED_REQUIRE_SHARED").is_none_or(|value| value.is_empty()),
        "{} not found",
        path.display()
    );
    #[allow(clippy::print_stderr, reason = "a test that is skipped says so")]
    {
        eprintln!("skipped: {} not found", path.display());
    }
    None
}

#[test]
fn the_runs_of_slurm_are_read() {
    for (name, hosts, cores, memory) in [
        ("fifo", "n[0-7]", 16.0, None),
        ("backfill", "n[0-7]", 16.0, None),
        ("easy", "n[0-7]", 16.0, None),
        ("nodes", "n[0-7]", 16.0, Some(32_000 << 20)),
        ("mixed", "n[0-5]", 16.0, Some(64_000 << 20)),
    ] {
        let Some(path) = truth(name) else { return };
        let conf = SiteConf::read(&path).unwrap();
        let machines = cluster(&conf);
        let [all] = &machines.named[..] else { panic!("{name}: one size of nodes") };
        assert_eq!((all.hosts.as_str(), all.cores, all.memory), (hosts, cores, memory), "{name}");
        assert_eq!(conf.files.keys().collect::<Vec<_>>(), ["partitions.txt", "slurm.conf.scheduling"]);
        conf.explain().unwrap().parse::<Table>().unwrap();
        let slurm = conf.site.slurm.unwrap();
        if name == "mixed" {
            let of: Vec<_> = slurm
                .partitions
                .iter()
                .map(|partition| (partition.name.as_str(), partition.tier, partition.max_time, partition.default_time))
                .collect();
            let (half_an_hour, two_minutes) = (Some(1_800_000), Some(120_000));
            assert_eq!(
                of,
                [
                    ("main", 10, half_an_hour, two_minutes),
                    ("low", 1, half_an_hour, two_minutes),
                    ("open", 10, None, None)
                ]
            );
            assert_eq!((all.resources.as_deref(), all.features.as_deref()), (Some("gres/gpu=2"), Some("fast")));
            assert_eq!(machines.licenses.as_deref(), Some("license/lic=2"));
        } else {
            assert_eq!(slurm.partitions.len(), 1);
            assert!(slurm.partitions[0].is_default && slurm.partitions[0].is_up);
        }
    }
}

/// By construction: each setting and each option changes what is read, is refused, or is said to have no effect.
#[test]
fn each_setting_of_slurm_is_applied_or_said() {
    fn other(key: &Key) -> &'static str {
        match key.kind {
            Kind::Seconds | Kind::Minutes | Kind::Number => "77",
            Kind::Flag if key.neutral() == "true" => "no",
            Kind::Flag => "yes",
            Kind::Word | Kind::Plugin | Kind::Text | Kind::Given => "other",
            Kind::Numbers => "cpu=77",
            Kind::Options(_) | Kind::Beside(_) => "",
        }
    }
    let said = |line: &str| {
        let Ok(conf) = read(&[("slurm.conf", &format!("{line}\n"))]) else { return };
        let is_applied = !conf.site.parameters.is_empty() || !conf.cluster.is_empty();
        assert!(is_applied || !conf.site.unread.is_empty() || !conf.beside.is_empty(), "{line}");
    };
    let mut tried = 0;
    for key in KEYS {
        match key.kind {
            Kind::Options(options) => {
                for option in options {
                    said(&format!("{}={}={}", key.name, option.name, other(option)));
                    tried += 1;
                }
            }
            _ => said(&format!("{}={}", key.name, other(key))),
        }
    }
    assert!(tried > 100);
}

/// What no list has is reported, and bears on the schedule, whatever it is called.
#[test]
fn a_setting_that_no_list_has_is_reported() {
    for (line, name) in [
        ("PriorityOfTomorrow=5", "PriorityOfTomorrow"),
        ("BackpressureMode=strict", "BackpressureMode"),
        ("SchedulerParameters=bf_of_tomorrow", "SchedulerParameters.bf_of_tomorrow"),
        ("SlurmctldParameters=share_nodes", "SlurmctldParameters.share_nodes"),
        ("PrologFlags=Alloc,Linger", "PrologFlags.linger"),
        ("NodeName=n1 CPUs=4 Speed=2", "Speed"),
        ("PartitionName=p Nodes=ALL Speed=2", "Speed"),
    ] {
        let conf = read(&[("slurm.conf", &format!("# first\n{line}\n"))]).unwrap();
        let [setting] = &conf.site.unread[..] else { panic!("{line}: {:?}", conf.warnings) };
        assert_eq!((setting.setting.as_str(), setting.line, setting.bears), (name, 2, true), "{line}");
        assert!(setting.why.starts_with("resched does not know it"), "{line}: {}", setting.why);
    }
    let near = read(&[("slurm.conf", "FairShareDampeningFactr=2\n")]).unwrap().warnings;
    assert!(near[0].contains("did you mean `FairShareDampeningFactor`?"), "{near:?}");
}

/// The settings of a usual site, as its file and `scontrol show config` give them.
#[test]
fn a_usual_slurm_conf_reports_nothing_needless() {
    let text = "ClusterName=c\nSlurmctldHost=head(10.0.0.1)\nSlurmUser=slurm\nSlurmctldPort=6817\nSlurmdPort=6818\nAuthType=auth/munge\n\
        StateSaveLocation=/var/spool/slurmctld\nSlurmdSpoolDir=/var/spool/slurmd\nSwitchType=switch/none\nMpiDefault=pmix\n\
        SlurmctldPidFile=/run/slurmctld.pid\nProctrackType=proctrack/cgroup\nReturnToService=1\nMaxArraySize=10000\n\
        TaskPlugin=task/affinity,task/cgroup\nTreeWidth=50\nMailProg=/bin/mail\nTmpFS=/tmp\nPropagateResourceLimits=NONE\n\
        SlurmctldTimeout=300\nSlurmdTimeout=300\nInactiveLimit=0\nMinJobAge=300\nKillWait=30\nWaitTime=0\nMessageTimeout=20\n\
        SchedulerType=sched/backfill\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\nGresTypes=gpu\n\
        SlurmctldDebug=info\nSlurmctldLogFile=/var/log/slurmctld.log\nSlurmdDebug=info\nSlurmdLogFile=/var/log/slurmd.log\n\
        JobCompType=jobcomp/none\nJobAcctGatherType=jobacct_gather/cgroup\nJobAcctGatherFrequency=30\nPrivateData=jobs,usage\n\
        AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=db\nAccountingStorageTRES=gres/gpu\n\
        HealthCheckProgram=/usr/sbin/nhc\nHealthCheckInterval=300\nPrologFlags=Alloc,Contain\nX11Parameters=home_xauthority\n\
        LaunchParameters=use_interactive_step\nSlurmctldParameters=enable_configless,cloud_dns\nRebootProgram=/sbin/reboot\n\
        BOOT_TIME = 2026-11-20T10:00:00\nSLURM_VERSION = 23.11.4\nHASH_VAL = Match\nSlurmctldHost[0] = head\nNEXT_JOB_ID = 17\n\
        NodeName=n[1-4] NodeAddr=10.0.0.[1-4] CPUs=64 RealMemory=256000 Gres=gpu:4 Feature=a State=UNKNOWN\n\
        PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n";
    let conf = read(&[("slurm.conf", text)]).unwrap();
    assert_eq!(conf.warnings, [""; 0]);
    assert!(conf.beside.values().sum::<usize>() > 40, "{:?}", conf.beside);
}
