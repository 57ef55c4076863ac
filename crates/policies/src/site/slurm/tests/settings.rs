//! Single settings of `slurm.conf`: their units, and that each of them counts or is named.

use std::path::Path;

use super::super::*;
use super::conf;

/// The single settings of a `slurm.conf`, by name, as parameters get them.
fn settings(text: &str) -> Result<Vec<String>, String> {
    let mut scalars = Scalars::default();
    let mut notes = Notes::new(Path::new("conf"));
    for (number, line) in (1..).zip(text.lines()) {
        for (name, value) in lines::pairs(line) {
            scalars
                .set(&Place::of("slurm.conf", number), &name, &value, &mut notes)
                .map_err(|error| error.to_string())?;
        }
    }
    let mut properties = Properties::default();
    scalars.put(&mut properties);
    Ok(properties.unknown().map(|property| format!("{}={}", property.name, property.value)).collect())
}

#[test]
fn settings_are_in_our_units() {
    let found = settings(
        "SchedulerType=sched/builtin\nPriorityType=priority/multifactor\nprioritymaxage=7-0\nPriorityDecayHalfLife=30\n\
         KillWait = 30 sec\nOverTimeLimit=0 min\nPriorityWeightFairShare=1000\nPriorityFavorSmall=No\nPreemptMode=SUSPEND,GANG\n\
         PriorityFlags=NO_FAIR_TREE,MAX_TRES\nPriorityWeightTRES=CPU=1000,GRES/gpu=30\nSelectType=select/linear\n\
         SelectTypeParameters=CR_Core_Memory,CR_LLN\nAccountingStorageEnforce=safe,qos\nSuspendTime=INFINITE\n\
         SchedulerParameters=bf_interval=5,bf_window=2880,defer,bf_continue,sched_min_interval=2000000,bf_hetjob_prio=min\n",
    );
    assert_eq!(
        found.unwrap(),
        [
            "AccountingStorageEnforce.limits=true",
            "AccountingStorageEnforce.qos=true",
            "AccountingStorageEnforce.safe=true",
            "KillWait=30000",
            "OverTimeLimit=0",
            "PreemptMode.gang=true",
            "PreemptMode.suspend=true",
            "PriorityDecayHalfLife=1800000",
            "PriorityFavorSmall=false",
            "PriorityFlags.fair_tree=false",
            "PriorityFlags.max_tres=true",
            "PriorityMaxAge=604800000",
            "PriorityType=multifactor",
            "PriorityWeightFairShare=1000",
            "PriorityWeightTRES.cpu=1000",
            "PriorityWeightTRES.gres/gpu=30",
            "SchedulerParameters.bf_continue=true",
            "SchedulerParameters.bf_hetjob_prio=min",
            "SchedulerParameters.bf_interval=5000",
            "SchedulerParameters.bf_window=172800000",
            "SchedulerParameters.defer=true",
            "SchedulerParameters.sched_min_interval=2000000",
            "SchedulerType=builtin",
            "SelectType=linear",
            "SelectTypeParameters=cr_core_memory",
            "SelectTypeParameters.cr_lln=true",
            "SuspendTime=-1",
        ]
    );
}

#[test]
fn the_last_line_of_a_setting_wins() {
    let lines = "SchedulerParameters = bf_interval=5,defer\nPriorityWeightAge = 1\nschedulerparameters=bf_interval=10\nPriorityWeightAge=(null)\n";
    assert_eq!(settings(lines).unwrap(), ["SchedulerParameters.bf_interval=10000"]);
}

/// All options of slurm.conf(5) of 22.05 and 23.11.
const SCHEDULER_PARAMETERS: &str = "allow_zero_lic assoc_limit_stop batch_sched_delay=7 bb_array_stage_cnt=7 \
    bf_allow_magnetic_slot bf_busy_nodes bf_continue bf_hetjob_immediate bf_hetjob_prio=avg bf_interval=7 \
    bf_job_part_count_reserve=7 bf_licenses bf_max_job_array_resv=7 bf_max_job_assoc=7 bf_max_job_part=7 bf_max_job_start=7 \
    bf_max_job_test=7 bf_max_job_user=7 bf_max_job_user_part=7 bf_max_time=7 bf_min_age_reserve=7 bf_min_prio_reserve=7 \
    bf_node_space_size=7 bf_one_resv_per_job bf_resolution=7 bf_running_job_reserve bf_topopt_enable bf_topopt_iterations=7 \
    bf_window=7 bf_window_linear=7 bf_yield_interval=7 bf_yield_sleep=7 build_queue_timeout=7 correspond_after_task_cnt=7 \
    default_queue_depth=7 defer defer_batch delay_boot=7 disable_job_shrink disable_hetjob_steps enable_hetjob_steps \
    enable_user_top extra_constraints Ignore_NUMA ignore_prefer_validation max_array_tasks=7 max_rpc_cnt=7 max_sched_time=7 \
    max_script_size=7 max_submit_line_size=7 max_switch_wait=7 no_backup_scheduling nohold_on_prolog_fail pack_serial_at_end \
    partition_job_depth=7 preempt_reorder_count=7 preempt_strict_order preempt_youngest_first reduce_completing_frag \
    requeue_setup_env_fail salloc_wait_nodes sbatch_wait_nodes sched_interval=7 sched_max_job_start=7 sched_min_interval=7 \
    spec_cores_first step_retry_count=7 step_retry_time=7 whole_hetjob";

/// All settings of slurm.conf(5) about priorities, preemption and selection, and others that bear on scheduling.
const SETTINGS: &str = "AccountingStorageEnforce=limits BurstBufferType=burst_buffer/lua CompleteWait=7 DefCpuPerGPU=7 \
    DefMemPerCPU=7 DefMemPerGPU=7 DefMemPerNode=7 DependencyParameters=kill_invalid_depend EnforcePartLimits=ALL \
    Epilog=/x FairShareDampeningFactor=7 InactiveLimit=7 JobRequeue=0 JobSubmitPlugins=lua KillWait=7 MaxJobCount=7 MaxMemPerCPU=7 \
    MaxMemPerNode=7 MaxTasksPerNode=7 MCSPlugin=mcs/user NodeFeaturesPlugins=node_features/knl_generic OverTimeLimit=7 \
    PreemptExemptTime=7 PreemptMode=CANCEL PreemptType=preempt/qos PreemptParameters=youngest_first PriorityCalcPeriod=7 \
    PriorityDecayHalfLife=7 PriorityFavorSmall=YES PriorityFlags=MAX_TRES PriorityMaxAge=7 PriorityParameters=7 \
    PrioritySiteFactorParameters=7 PrioritySiteFactorPlugin=site_factor/x PriorityType=priority/multifactor \
    PriorityUsageResetPeriod=DAILY PriorityWeightAge=7 PriorityWeightAssoc=7 PriorityWeightFairShare=7 PriorityWeightJobSize=7 \
    PriorityWeightPartition=7 PriorityWeightQOS=7 PriorityWeightTRES=CPU=7 PrologFlags=X11 RequeueExit=7 RequeueExitHold=7 ResumeProgram=/x \
    ResumeRate=7 ResumeTimeout=7 ResvOverRun=7 SchedulerTimeSlice=7 SchedulerType=sched/builtin SelectType=select/linear \
    SelectTypeParameters=CR_Socket SlurmctldParameters=preempt_send_user_signal,enable_configless SuspendExcNodes=n1 SuspendExcParts=p SuspendProgram=/x \
    SuspendRate=7 SuspendTime=7 SuspendTimeout=7 TopologyParam=SwitchAsNodeRank TopologyPlugin=topology/tree \
    PriorityMadeUp=7";

/// Settings that are as the policy is, or that the reader itself looks at.
const COUNTING: [&str; 3] =
    ["AccountingStorageEnforce.limits", "SchedulerParameters.defer", "SchedulerParameters.defer_batch"];

/// Flags of slurm.conf(5), each of which changes something.
const FLAGS: [(&str, &str); 3] = [
    (
        "PriorityFlags",
        "ACCRUE_ALWAYS CALCULATE_RUNNING DEPTH_OBLIVIOUS NO_FAIR_TREE INCR_ONLY MAX_TRES NO_NORMAL_ALL NO_NORMAL_ASSOC \
         NO_NORMAL_PART NO_NORMAL_QOS NO_NORMAL_TRES SMALL_RELATIVE_TO_TIME",
    ),
    (
        "SelectTypeParameters",
        "OTHER_CONS_RES OTHER_CONS_TRES CR_ONE_TASK_PER_CORE CR_CORE_DEFAULT_DIST_BLOCK CR_LLN CR_Pack_Nodes",
    ),
    ("DependencyParameters", "kill_invalid_depend max_depend_depth=7"),
];

#[test]
fn every_setting_about_scheduling_counts_or_is_named_with_its_line() {
    let mut lines: Vec<String> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for option in SCHEDULER_PARAMETERS.split_whitespace() {
        let name = option.split('=').next().unwrap().to_lowercase();
        names.push(format!("SchedulerParameters.{name}"));
        lines.push(format!("SchedulerParameters={option}"));
    }
    for setting in SETTINGS.split_whitespace() {
        let name = setting.split('=').next().unwrap();
        let option = match name {
            "AccountingStorageEnforce" => ".limits",
            "DependencyParameters" => ".kill_invalid_depend",
            "PreemptParameters" => ".youngest_first",
            "PriorityFlags" => ".max_tres",
            "PriorityWeightTRES" => ".cpu",
            "PrologFlags" => ".x11",
            "SlurmctldParameters" => ".preempt_send_user_signal",
            "TopologyParam" => ".switchasnoderank",
            _ => "",
        };
        names.push(format!("{name}{option}"));
        lines.push(setting.to_owned());
    }
    for (key, options) in FLAGS {
        for option in options.split_whitespace() {
            let name = option.split('=').next().unwrap().to_lowercase();
            names.push(format!(
                "{key}.{}",
                name.strip_prefix("no_").filter(|name| *name == "fair_tree").unwrap_or(&name)
            ));
            lines.push(format!("{key}={option}"));
        }
    }
    for (line, name) in lines.iter().zip(&names) {
        // Priorities of the QOS are there, so that their weight can count.
        let files = [
            ("slurm.conf", format!("# first\n{line}\n")),
            ("qos.txt", "Name|Priority\nnormal|5\n".to_owned()),
            ("sacctmgr.cfg", "Cluster - 'c'\n".to_owned()),
        ];
        let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
        let conf = super::read(&files).unwrap_or_else(|error| panic!("{line}: {error}"));
        if COUNTING.contains(&name.as_str()) {
            assert_eq!(conf.warnings, [""; 0], "{line}");
            continue;
        }
        let counts = conf.origins.values().any(|origin| origin.property == *name && origin.line == 2);
        let is_named = conf.warnings.iter().any(|warning| {
            warning.starts_with(&format!("slurm.conf: line 2: `{name}` is not supported: ")) && !warning.ends_with(": ")
        });
        assert!(counts != is_named, "{line}: {:?}", conf.warnings);
        let is_made_up = line.starts_with("PriorityMadeUp");
        assert_eq!(conf.warnings.iter().any(|warning| warning.contains("does not know")), is_made_up, "{line}");
        assert!(conf.warnings.len() <= 1, "{line}: {:?}", conf.warnings);
    }
}

#[test]
fn what_is_not_about_scheduling_is_passed_in_silence() {
    let conf = conf(
        "Configuration data as of 2026-11-24T00:00:00\nSlurmctldPort=6817\nStateSaveLocation=/var/spool\nAuthType=auth/munge\n\
         AccountingStorageType = accounting_storage/slurmdbd\nPriorityFlags           = \nPreemptMode = OFF\n\
         PreemptType = preempt/none\nSchedulerTimeSlice = 30 sec\nPriorityUsageResetPeriod = NONE\nSuspendTime = NONE\n\
         MaxMemPerNode = UNLIMITED\nTopologyPlugin = topology/none\nResumeRate = 300 nodes/min\nSlurmctldParameters = enable_configless\n\
         Cgroup Support Configuration:\nSlurmctld(primary) at host is UP\n",
    );
    assert_eq!(conf.unwrap().warnings, [""; 0]);
}

#[test]
fn options_that_nobody_knows_are_named() {
    let conf = conf("SchedulerParameters=bf_intervall=3\nPartit\n").unwrap();
    assert_eq!(
        conf.warnings,
        [
            "slurm.conf: line 1: `SchedulerParameters.bf_intervall` is not supported: resched does not know it; did you mean \
         `SchedulerParameters.bf_interval`?",
            "slurm.conf: line 2: `Partit` is not supported: it has no value",
        ]
    );
}

/// Suspension and gang scheduling are named with their line; what else a mode says counts.
#[test]
fn a_mode_of_preemption_may_have_several_words() {
    let line = |word: &str, why: &str| format!("slurm.conf: line 2: `PreemptMode.{word}` is not supported: {why}");
    let gang = line("gang", "jobs do not take turns on a machine (gang scheduling)");
    let suspend = line("suspend", "jobs are not suspended: they keep their place");
    let within = line("within", "jobs of one quality of service do not preempt each other");
    for (modes, value, warnings) in [
        ("SUSPEND,GANG", None, vec![gang.clone(), suspend]),
        ("REQUEUE,GANG", Some("requeue"), vec![gang]),
        ("CANCEL,WITHIN", Some("cancel"), vec![within]),
        ("OFF", Some("off"), Vec::new()),
    ] {
        let conf = conf(&format!("PreemptType=preempt/qos\nPreemptMode={modes}\n")).unwrap();
        assert_eq!(conf.site.parameters.get(&("slurm", "preempt_mode")).map(String::as_str), value, "{modes}");
        assert_eq!(conf.warnings, warnings, "{modes}");
    }
}

/// Nodes report ends by themselves if there is an epilog or an external step; `defer` lets the main loop wait all the same.
#[test]
fn the_main_loop_runs_at_ends_that_nodes_report() {
    for (text, value) in [
        ("Epilog=/etc/slurm/epilog.sh\n", Some("true")),
        ("PrologFlags=Alloc,Contain\n", Some("true")),
        ("PrologFlags=X11\n", Some("true")),
        ("PrologFlags=Alloc\nEpilog=(null)\n", None),
        ("PrologFlags=Contain\nSchedulerParameters=defer\n", None),
    ] {
        let conf = conf(text).unwrap();
        assert_eq!(conf.site.parameters.get(&("slurm", "run_at_ends")).map(String::as_str), value, "{text}");
        assert_eq!(conf.warnings, [""; 0], "{text}");
    }
}

#[test]
fn a_scheduler_may_be_switched_off() {
    let found =
        settings("SchedulerType=sched/backfill\nSchedulerParameters=bf_interval=-1,sched_interval=-1\n").unwrap();
    assert_eq!(
        found.iter().filter(|found| found.starts_with("SchedulerType")).collect::<Vec<_>>(),
        ["SchedulerType=builtin"]
    );
    let conf = conf("SchedulerParameters=bf_interval=-1,sched_interval=-1\n").unwrap();
    assert_eq!(conf.site.parameters[&("slurm", "scheduler")], "builtin");
    assert_eq!(
        conf.warnings,
        ["slurm.conf: line 1: `SchedulerParameters.sched_interval=-1` is not supported: the main loop always runs"]
    );
}
