//! What readers say they read a column from is what they read: without the key, the values of the column are others.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use super::format::Format;
use super::golden::{Collected, Found as _, values};
use super::{
    gridengine, gwf, jhist, kubernetes, kueue_workloads, openb, pbs, rumen, sacct, sls, swf, swim, text_history,
    yarn_apps,
};
use resched_tables::Error;
use resched_tables::cause::Cause;
use resched_tables::model::{JobRecord, NodeRow};
use resched_tables::sink::Sink;

/// Notes what a reader says.
#[derive(Default)]
struct Said(BTreeSet<(&'static str, String)>);

impl Sink for Said {
    fn job(&mut self, _: JobRecord) -> Result<(), Error> {
        Ok(())
    }

    fn node(&mut self, _: NodeRow) {}

    fn skip(&mut self, _: Cause, _: u64) {}

    fn filled_from(&mut self, column: &'static str, name: &str) {
        self.0.insert((column, name.to_owned()));
    }
}

/// What is read from a source: each column, with each name that it is read from.
fn said(format: &Format, text: &str) -> BTreeSet<(&'static str, String)> {
    let mut said = Said::default();
    (format.read)(&mut text.as_bytes(), "source", &mut said).unwrap();
    for (column, names) in format.reads {
        names.iter().for_each(|name| _ = said.0.insert((column, (*name).to_owned())));
    }
    said.0
}

/// Checks that each column has other values, or none, once `without` took away a name that it is read from: by itself, or after the other
/// names of the column, which may hide it. `without` returns `None` for a name that the source does not have.
fn assert_read(format: &Format, text: &str, fewest: usize, without: impl Fn(&str, &str) -> Option<String>) {
    let whole = Collected::read(format, text.as_bytes()).unwrap();
    assert!(!whole.jobs.is_empty(), "{}: {:?}", format.name, whole.skipped);
    // Its values, or `None` if a job is gone: then the name was one that each job needs.
    let value = |text: &str, column: &str| -> Option<Option<String>> {
        let found = Collected::read(format, text.as_bytes()).ok()?;
        (found.jobs.len() == whole.jobs.len()).then(|| values(&found).remove(column))
    };
    let said = said(format, text);
    let (mut tried, mut stale) = (0, Vec::new());
    for (column, name) in &said {
        let Some(before) = value(text, column).flatten() else { continue };
        let Some(changed) = without(text, name) else { continue };
        tried += 1;
        if value(&changed, column) != Some(Some(before)) {
            continue;
        }
        let others = said.iter().filter(|(other, hidden)| other == column && hidden != name);
        let alone = others.fold(text.to_owned(), |text, (_, hidden)| without(&text, hidden).unwrap_or(text));
        let Some(Some(alone_value)) = value(&alone, column) else { continue };
        if without(&alone, name).is_some_and(|text| value(&text, column) == Some(Some(alone_value))) {
            stale.push(format!("{column} from {name}"));
        }
    }
    assert!(stale.is_empty(), "{}: these are not read: {stale:?}", format.name);
    assert!(tried >= fewest, "{}: only {tried} names were tried", format.name);
}

/// The text with another word in place of a key, which stands between these marks.
fn renamed(text: &str, name: &str, [before, after]: [&str; 2]) -> Option<String> {
    let key = [before, name, after].concat();
    text.contains(&key).then(|| text.replace(&key, &[before, "Other", name, after].concat()))
}

/// The text with `value` in place of a field of each line that is no header.
fn replaced(text: &str, mark: char, place: usize, value: &str) -> Option<String> {
    let line = |line: &str| {
        let mut fields: Vec<&str> = line.split(mark).collect();
        if let Some(field) = fields.get_mut(place) {
            *field = value;
        }
        fields.join(&mark.to_string())
    };
    Some(text.lines().map(|text| if text.starts_with(';') { text.to_owned() } else { line(text) } + "\n").collect())
}

/// The number in `field 3 (wait time)`.
fn number(name: &str) -> Option<usize> {
    name.split(' ').nth(1)?.parse().ok()
}

#[test]
fn fields_of_swf() {
    let text = "; MaxNodes: 4\n; MaxProcs: 16\n\
                1 10 5 100 4 90 2048 8 300 4096 1 7 8 9 2 1 -1 -1\n\
                2 20 6 200 2 80 1024 2 600 2048 1 6 5 4 3 1 1 -1\n";
    assert_read(&swf::FORMAT, text, 20, |text, name| match number(name) {
        Some(field) => replaced(text, ' ', field - 1, "-1"),
        None => renamed(text, name, ["; ", ":"]),
    });
}

#[test]
fn columns_of_swim() {
    let text = "job1\t100\t0\t1000\t200\t50\tin\tout\n";
    let other = |column| if column == 1 { "" } else { "7" };
    assert_read(&swim::FORMAT, text, 5, |text, name| {
        let column = number(name)?;
        replaced(text, '\t', column - 1, other(column))
    });
}

#[test]
fn columns_of_gwf() {
    let text = "WorkflowID,JobID,SubmitTime,RunTime,NProcs,ReqNProcs,Dependencies\n7,1,10,20,4,8,\n7,2,20,30,2,4,1\n";
    assert_read(&gwf::FORMAT, text, 6, |text, name| {
        let place = text.lines().next()?.split(',').position(|column| column == name)?;
        let (header, rows) = text.split_once('\n')?;
        Some(format!("{header}\n{}", replaced(rows, ',', place, "-1")?))
    });
}

#[test]
fn columns_of_workloads_of_kueue() {
    let header =
        "workload,namespace,queue,priority_class,submit,run,podset,count,cpu,memory,gpu,node_selector,tolerations";
    let text = format!("{header}\na,t,q,high,10,20,main,2,4,1Gi,1,x=y,z\n");
    assert_read(&kueue_workloads::FORMAT, &text, 10, |text, name| {
        let place = header.split(',').position(|column| column == name)?;
        let (header, rows) = text.split_once('\n')?;
        let other = match name {
            "count" => "3",
            "workload" | "podset" => "other",
            _ => "",
        };
        Some(format!("{header}\n{}", replaced(rows, ',', place, other)?))
    });
}

#[test]
fn columns_of_sacct() {
    let text = "JobID|JobName|User|Account|Partition|QOS|Constraints|Priority|Timelimit|Submit|Eligible|Start|End|Elapsed|State|ReqCPUS|ReqNodes|ReqTRES|AllocTRES|NodeList|Reason\n\
        1|a|ann|lab|p|high|knl|50|00:10:00|100|105|110|180|00:01:00|COMPLETED|8|2|cpu=8,mem=8G,node=2,gres/gpu=2|cpu=8,mem=8G,node=2,gres/gpu=2|n[1-2]|Priority\n";
    assert_read(&sacct::FORMAT, text, 15, |text, name| {
        let is_needed = ["JobID", "State", "Submit"].contains(&name);
        if is_needed { None } else { renamed(text, name, ["|", "|"]) }
    });
}

#[test]
fn fields_of_pbs() {
    let text = "11/28/2026 04:05:06;E;12.s;user=ann group=g account=lab jobname=j queue=q ctime=1795838000 etime=1795838100 \
                start=1795838200 end=1795838300 qos=high resvID=R1 exec_host=n1/0*8+n2/0*8 Exit_status=0 Resource_List.walltime=01:00:00 \
                Resource_List.select=2:ncpus=8:mem=4gb:ngpus=1 Resource_List.place=scatter:excl resources_used.cput=00:10:00 \
                resources_used.mem=1024kb\n";
    assert_read(&pbs::FORMAT, text, 25, |text, name| renamed(text, name, [" ", "="]));
}

#[test]
fn keys_of_grid_engine() {
    let text = r#"{"job_number":7,"task_number":0,"start_time":1795838200,"end_time":1795838300,"submission_time":1795838000,"owner":"ann","group":"g","project":"lab","department":"d","qname":"q","hostname":"n1","granted_pe":"smp","job_name":"j","category":"-l h_rt=3600,h_vmem=4G,gpu=1,exclusive=true -pe smp 4","priority":5,"slots":4,"failed":0,"exit_status":0,"usage":{"usage":{"cpu":12.5}}}"#;
    assert_read(&gridengine::FORMAT, &format!("{text}\n"), 20, |text, name| renamed(text, name, ["\"", "\":"]));
}

#[test]
fn keys_of_text_histories() {
    let text = "Meta VERSION=\"1\" .\n\
        Job JOBID=\"job_201003010800_0001\" JOBNAME=\"n\" USER=\"ann\" SUBMIT_TIME=\"1267430400000\" JOB_PRIORITY=\"HIGH\" JOB_QUEUE=\"q\" .\n\
        Job JOBID=\"job_201003010800_0001\" LAUNCH_TIME=\"1267430401000\" TOTAL_MAPS=\"1\" TOTAL_REDUCES=\"0\" JOB_STATUS=\"RUNNING\" .\n\
        Task TASKID=\"task_201003010800_0001_m_000000\" TASK_TYPE=\"MAP\" START_TIME=\"1267430402000\" SPLITS=\"/r/n1\" .\n\
        MapAttempt TASK_TYPE=\"MAP\" TASKID=\"task_201003010800_0001_m_000000\" TASK_ATTEMPT_ID=\"attempt_201003010800_0001_m_000000_0\" START_TIME=\"1267430402000\" TRACKER_NAME=\"tracker_n1:localhost/127.0.0.1:5\" LOCALITY=\"NODE_LOCAL\" AVATAAR=\"VIRGIN\" .\n\
        MapAttempt TASK_TYPE=\"MAP\" TASKID=\"task_201003010800_0001_m_000000\" TASK_ATTEMPT_ID=\"attempt_201003010800_0001_m_000000_0\" TASK_STATUS=\"FAILED\" FINISH_TIME=\"1267430409000\" ERROR=\"e\" COUNTERS=\"{(FileSystemCounters)(F)[(HDFS_BYTES_READ)(H)(9)]}\" .\n\
        Job JOBID=\"job_201003010800_0001\" FINISH_TIME=\"1267430410000\" JOB_STATUS=\"SUCCESS\" .\n";
    assert_read(&text_history::FORMAT, text, 15, |text, name| renamed(text, name, [" ", "=\""]));
}

#[test]
fn keys_of_job_histories() {
    let text = r#"Avro-Json
{"type":"record"}
{"type":"JOB_SUBMITTED","event":{"o.J":{"jobid":"job_1_0001","jobName":"n","userName":"ann","submitTime":1000,"jobQueueName":"q"}}}
{"type":"JOB_INITED","event":{"o.J":{"jobid":"job_1_0001","launchTime":2000,"totalMaps":1,"totalReduces":2,"jobStatus":"INITED"}}}
{"type":"JOB_PRIORITY_CHANGED","event":{"o.J":{"jobid":"job_1_0001","priority":"HIGH"}}}
{"type":"TASK_STARTED","event":{"o.T":{"taskid":"task_1_0001_m_000000","taskType":"MAP","startTime":3000,"splitLocations":"/r/n1"}}}
{"type":"MAP_ATTEMPT_STARTED","event":{"o.A":{"taskid":"task_1_0001_m_000000","taskType":"MAP","attemptId":"attempt_1_0001_m_000000_0","startTime":3000,"trackerName":"n0","locality":{"string":"NODE_LOCAL"},"avataar":{"string":"VIRGIN"}}}}
{"type":"MAP_ATTEMPT_FAILED","event":{"o.A":{"taskid":"task_1_0001_m_000000","taskType":"MAP","attemptId":"attempt_1_0001_m_000000_0","finishTime":9000,"hostname":"n1","rackname":"/r","status":"FAILED","error":"e","counters":{"groups":[{"name":"org.apache.hadoop.mapreduce.FileSystemCounter","counts":[{"name":"HDFS_BYTES_READ","value":9}]}]}}}}
{"type":"JOB_FINISHED","event":{"o.J":{"jobid":"job_1_0001","finishTime":10000}}}
"#;
    assert_read(&jhist::FORMAT, text, 15, |text, name| renamed(text, name, ["\"", "\":"]));
}

#[test]
fn keys_of_rumen() {
    let text = r#"{"jobID":"job_1_0001","jobName":"n","user":"ann","queue":"q","priority":"HIGH","submitTime":1000,"launchTime":2000,"finishTime":9000,"outcome":"SUCCESS","totalMaps":1,"totalReduces":0,"jobMapMB":512,
"mapTasks":[{"taskID":"task_1_0001_m_000000","taskType":"MAP","taskStatus":"SUCCESS","startTime":3000,"finishTime":8000,"inputBytes":5,"inputRecords":6,"outputBytes":7,"outputRecords":8,"preferredLocations":[{"layers":["r","n1"]}],
"attempts":[{"attemptID":"attempt_1_0001_m_000000_0","hostName":"/r/n1","startTime":3000,"finishTime":8000,"result":"SUCCESS","hdfsBytesRead":5,"fileBytesWritten":4,"spilledRecords":3,"mapOutputBytes":2,"resourceUsageMetrics":{"cumulativeCpuUsage":11,"physicalMemoryUsage":12}}]}],"reduceTasks":[],"otherTasks":[]}"#;
    assert_read(&rumen::FORMAT, text, 25, |text, name| renamed(text, name, ["\"", "\":"]));
}

#[test]
fn keys_of_yarn_applications() {
    let text = r#"{"apps":{"app":[{"id":"application_1_0001","name":"n","user":"ann","queue":"q","priority":3,"applicationType":"SPARK","startedTime":1000,"launchTime":2000,"finishedTime":9000,"finalStatus":"SUCCEEDED","state":"FINISHED"}]}}"#;
    assert_read(&yarn_apps::FORMAT, text, 7, |text, name| renamed(text, name, ["\"", "\":"]));
}

#[test]
fn keys_of_the_load_simulator() {
    let text = r#"{"am.type":"stream","job.start.ms":1000,"job.end.ms":9000,"job.queue.name":"q","job.id":"job_1","job.user":"ann","job.priority":2,"job.tasks":[{"container.host":"/r/n1","container.start.ms":2000,"container.end.ms":8000,"container.type":"map","container.memory-mb":1024,"container.vcores":1}]}"#;
    assert_read(&sls::FORMAT, text, 10, |text, name| renamed(text, name, ["\"", "\":"]));
}

#[test]
fn keys_of_kubernetes() {
    let text = r#"{"kind":"List","apiVersion":"v1","items":[
{"kind":"Workload","apiVersion":"kueue.x-k8s.io/v1beta2","metadata":{"namespace":"n","name":"w","uid":"u","creationTimestamp":"2026-03-02T09:00:00Z","ownerReferences":[{"kind":"Job","name":"j"}]},
"spec":{"queueName":"q","priority":5,"priorityClassRef":{"kind":"WorkloadPriorityClass","name":"low"},"podSets":[{"name":"main","count":2,"template":{"spec":{"nodeSelector":{"a":"b"},"tolerations":[{"key":"t","operator":"Exists"}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"Exists"}]}]}}},"containers":[{"resources":{"requests":{"cpu":"2","memory":"1Gi","x.y/z":"3"}}}]}}}]},
"status":{"conditions":[{"type":"Admitted","status":"True","lastTransitionTime":"2026-03-02T09:10:00Z"},{"type":"Evicted","status":"False","message":"Previously: x","lastTransitionTime":"2026-03-02T09:10:00Z"},{"type":"Requeued","status":"True","reason":"Preempted","lastTransitionTime":"2026-03-02T09:08:00Z"},{"type":"Finished","status":"True","reason":"Succeeded","lastTransitionTime":"2026-03-02T09:20:00Z"}],
"admission":{"clusterQueue":"c","podSetAssignments":[{"name":"main","flavors":{"cpu":"f"}}]},"schedulingStats":{"evictions":[{"count":1}]},"accumulatedPastExecutionTimeSeconds":60}},
{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"n","name":"p","creationTimestamp":"2026-03-02T09:01:00Z"},
"spec":{"nodeName":"n1","containers":[{"resources":{"requests":{"cpu":"1"}}}]},
"status":{"phase":"Failed","conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":"2026-03-02T09:02:00Z"}],"containerStatuses":[{"state":{"terminated":{"reason":"OOMKilled","finishedAt":"2026-03-02T09:30:00Z"}}}]}},
{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1","creationTimestamp":"2026-03-02T09:05:00Z","labels":{"a":"b"}},
"spec":{"taints":[{"key":"t","effect":"NoSchedule"}]},"status":{"allocatable":{"cpu":"4","memory":"2Gi","x.y/z":"8"}}}]}"#;
    assert_read(&kubernetes::FORMAT, text, 20, |text, name| {
        let last = name.rsplit('.').next().unwrap_or_default();
        let is_needed = ["name", "namespace"].contains(&last);
        let key = || renamed(text, last, ["\"", "\":"]).or_else(|| renamed(text, last, ["\"", "\""]));
        if is_needed { None } else { key() }
    });
}

#[test]
fn columns_of_openb() {
    let text = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n\
                a,6000,12288,2,1000,T4,LS,Failed,10,90,12\n";
    assert_read(&openb::FORMAT, text, 10, |text, name| {
        let (header, rows) = text.split_once('\n')?;
        let place = header.split(',').position(|column| column == name)?;
        let other = if ["qos", "gpu_spec", "pod_phase", "scheduled_time"].contains(&name) { "" } else { "7" };
        (name != "name").then(|| format!("{header}\n{}", replaced(rows, ',', place, other).unwrap_or_default()))
    });
}
