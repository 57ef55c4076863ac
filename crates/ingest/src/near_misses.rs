//! Files that are almost a source: what they are, and what to do with them.
//!
//! The first file that somebody tries is often the output of a neighbouring command. It is in no format that is read, or in the form of one that
//! holds no job, and "content in none of the known formats" helps nobody. Each entry of [`NEAR_MISSES`] knows one such file by its first bytes.
//! To add one, add a line.

/// A file that is almost a source.
#[derive(Debug, Clone, Copy)]
pub(super) struct NearMiss {
    /// What it is.
    pub(super) found: &'static str,
    /// What to do.
    pub(super) remedy: &'static str,
    /// Whether a file that starts with these bytes is one.
    is: fn(&Head<'_>) -> bool,
}

/// The first bytes of a file.
struct Head<'h> {
    bytes: &'h [u8],
    /// The same as text, as far as they are text.
    text: &'h str,
}

impl Head<'_> {
    /// The first byte that is no blank.
    fn first(&self) -> u8 {
        self.text.bytes().find(|byte| !byte.is_ascii_whitespace()).unwrap_or(0)
    }

    fn has_key(&self, key: &str) -> bool {
        self.text.match_indices(key).any(|(at, _)| {
            let before = self.text.get(..at).unwrap_or_default();
            let after = self.text.get(at + key.len()..).unwrap_or_default();
            before.ends_with('"') && after.strip_prefix('"').is_some_and(|rest| rest.trim_start().starts_with(':'))
        })
    }

    fn is_json_with(&self, keys: &[&str]) -> bool {
        [b'{', b'['].contains(&self.first()) && keys.iter().all(|key| self.has_key(key))
    }

    /// The lines that are not empty.
    fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.lines().filter(|line| !line.trim().is_empty())
    }
}

/// What is known, in the order in which it is tried.
const NEAR_MISSES: &[NearMiss] = &[
    NearMiss {
        found: "text in UTF-16",
        remedy: "convert it, for example with `iconv -f UTF-16 -t UTF-8`",
        is: |head| head.bytes.starts_with(&[0xff, 0xfe]) || head.bytes.starts_with(&[0xfe, 0xff]),
    },
    NearMiss {
        found: "text in UTF-16 without a mark of its byte order",
        remedy: "convert it, for example with `iconv -f UTF-16LE -t UTF-8` (or UTF-16BE)",
        is: |head| {
            let is_letter = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
            match head.bytes {
                [0, one, 0, other, ..] | [one, 0, other, 0, ..] => is_letter(one) && is_letter(other),
                _ => false,
            }
        },
    },
    NearMiss { found: "a ZIP archive", remedy: "unpack it first", is: |head| head.bytes.starts_with(b"PK\x03\x04") },
    NearMiss {
        found: "a file that is packed by bzip2 or xz",
        remedy: "unpack it first; gzip, zstd, lz4 and snappy are read as they are",
        is: |head| head.bytes.starts_with(b"BZh") || head.bytes.starts_with(b"\xfd7zXZ"),
    },
    NearMiss {
        found: "a Parquet file",
        remedy: "say which column is what with --map; `resched ingest --suggest FILE` writes a first map",
        is: |head| head.bytes.starts_with(b"PAR1"),
    },
    NearMiss {
        found: "a web page",
        remedy: "save the file or the answer of the REST interface instead of the page that shows it; log in first if it asks you to",
        is: |head| {
            let start: String = head.text.trim_start().chars().take(14).collect::<String>().to_ascii_lowercase();
            start.starts_with("<!doctype html") || start.starts_with("<html")
        },
    },
    NearMiss {
        found: "the answer of YARN's ResourceManager as XML",
        remedy: "ask for JSON: `curl -H 'Accept: application/json' http://RM:8088/ws/v1/cluster/apps`",
        is: |head| head.first() == b'<' && (head.text.contains("<apps>") || head.text.contains("<app>")),
    },
    NearMiss {
        found: "the list of jobs of MapReduce's history server (REST)",
        remedy: "ingest the histories themselves (`*.jhist`, below `mapreduce.jobhistory.done-dir`): the list has no tasks",
        is: |head| head.is_json_with(&["jobs", "job", "mapsTotal"]),
    },
    NearMiss {
        found: "the list of applications of Spark's history server (REST)",
        remedy: "ingest the event logs themselves (below `spark.history.fs.logDirectory`, or `…/applications/ID/logs`): the list has no tasks",
        is: |head| head.is_json_with(&["id", "attempts", "completed"]),
    },
    NearMiss {
        found: "the answer of Spark's REST interface about jobs, stages or executors",
        remedy: "ingest the event log of the application itself (below `spark.eventLog.dir`)",
        is: |head| {
            let of_jobs = head.is_json_with(&["jobId", "stageIds"]);
            let of_stages = head.is_json_with(&["stageId", "attemptId", "numTasks"]);
            of_jobs || of_stages || head.is_json_with(&["executorLogs", "totalCores", "hostPort"])
        },
    },
    NearMiss {
        found: "an array of Spark's events",
        remedy: "write one event in each line, for example with `jq -c '.[]'`",
        is: |head| head.first() == b'[' && head.text.contains("SparkListener") && head.has_key("Event"),
    },
    NearMiss {
        found: "events of Spark that stretch over several lines",
        remedy: "write one event in each line, for example with `jq -c .`",
        is: |head| {
            let first = head.lines().next().unwrap_or_default();
            head.first() == b'{'
                && !first.contains("Event")
                && head.text.contains("SparkListener")
                && head.has_key("Event")
        },
    },
    NearMiss {
        found: "entities of YARN's timeline server",
        remedy: "ask the ResourceManager (`ws/v1/cluster/apps`) or the application history server (`ws/v1/applicationhistory/apps`)",
        is: |head| {
            head.is_json_with(&["entities", "entitytype"])
                || head.is_json_with(&["events", "info", "type", "createdtime"])
        },
    },
    NearMiss {
        found: "the table that `yarn application -list` prints, which has no times",
        remedy: "ask the ResourceManager: `curl http://RM:8088/ws/v1/cluster/apps`",
        is: |head| head.text.contains("Application-Id") && head.text.contains("Final-State"),
    },
    NearMiss {
        found: "a `sacct --json` list without a job",
        remedy: "list a time with jobs, and all users: `sacct -a -D -S 2026-01-01 -E 2026-02-01 --json`",
        is: |head| head.is_json_with(&["jobs", "meta"]) && squeezed(head.text).contains("\"jobs\":[]"),
    },
    NearMiss {
        found: "the jobs that Slurm has now (`squeue --json`, `scontrol show jobs --json` or slurmrestd's `/slurm/…/jobs`)",
        remedy: "list what has run: `sacct -a -D --json` (slurmrestd: `/slurmdb/…/jobs`)",
        is: |head| head.is_json_with(&["job_state"]) && (head.has_key("jobs") || head.has_key("job_id")),
    },
    NearMiss {
        found: "the jobs that Slurm has now (`squeue` or `scontrol show jobs`)",
        remedy: "list what has run: `sacct -a -P -D --format=ALL -S 2026-01-01 -E 2026-02-01`",
        is: |head| {
            let first = head.lines().next().unwrap_or_default();
            let is_table = first.contains("JOBID") && first.contains("PARTITION") && first.contains("USER");
            is_table || first.starts_with("JobId=") && head.text.contains("JobState=")
        },
    },
    NearMiss {
        found: "an answer of slurmrestd without jobs, but with errors",
        remedy: "see what it says under `errors`, and ask `/slurmdb/…/jobs` again",
        is: |head| head.is_json_with(&["errors", "meta"]) && !head.has_key("jobs"),
    },
    NearMiss {
        found: "an error of Hadoop's REST interface",
        remedy: "see what it says under `RemoteException`, and ask again",
        is: |head| head.is_json_with(&["RemoteException"]),
    },
    NearMiss {
        found: "objects of Kubernetes as YAML",
        remedy: "list them as JSON: `kubectl get workloads,jobs,pods,nodes -A -o json`; the site's own YAML is for --site-conf",
        is: |head| {
            let is_key = |line: &str| line.starts_with("apiVersion:") || line.starts_with("- apiVersion:");
            head.lines().any(is_key) && head.text.contains("kind:")
        },
    },
    NearMiss {
        found: "the table that `kubectl get` prints, which has no times",
        remedy: "list the objects: `kubectl get workloads,jobs,pods,nodes -A -o json`",
        is: |head| {
            let words: Vec<&str> = head.lines().next().unwrap_or_default().split_whitespace().collect();
            let of_kind = ["READY", "STATUS", "COMPLETIONS", "QUEUE", "ADMITTED", "COHORT", "CLUSTERQUEUE"];
            words.contains(&"NAME") && words.contains(&"AGE") && of_kind.iter().any(|word| words.contains(word))
        },
    },
    NearMiss {
        found: "what `kubectl describe` prints",
        remedy: "list the objects: `kubectl get workloads,jobs,pods,nodes -A -o json`",
        is: |head| {
            let mut lines = head.lines();
            let has_name = lines.next().is_some_and(|line| line.starts_with("Name:"));
            has_name && lines.take(3).any(|line| line.starts_with("Namespace:") || line.starts_with("Roles:"))
        },
    },
    NearMiss {
        found: "metrics of Kueue, which have no single workload",
        remedy: "list the workloads: `kubectl get workloads,jobs,pods,nodes -A -o json`; the metrics are good to check a replay",
        is: |head| head.lines().any(|line| line.starts_with("kueue_")),
    },
    NearMiss {
        found: "an answer of Prometheus",
        remedy: "write kube-state-metrics as text: `promtool tsdb dump-openmetrics --match='{__name__=~\"kube_(pod|job|node)_.+\"}' DIR`",
        is: |head| head.is_json_with(&["resultType", "result"]),
    },
    NearMiss {
        found: "a list of pods of the FGD paper without times",
        remedy: "take a list with the columns creation_time, deletion_time and scheduled_time, such as openb_pod_list_default.csv",
        is: |head| head.lines().next().is_some_and(|line| line.trim() == "name,cpu_milli,memory_mib,num_gpu,gpu_milli"),
    },
    NearMiss {
        found: "a list of `sacct` without its header",
        remedy: "name its columns with --fields, as `sacct --format` had them, or list again without -n (--noheader)",
        is: |head| head.lines().next().is_some_and(|first| DELIMITERS.iter().any(|between| is_row(first, *between))),
    },
    NearMiss {
        found: "columns of fixed width by `sacct -n`, which cut their values",
        remedy: "list again with -P: `sacct -a -P -D --format=ALL -S 2026-01-01 -E 2026-02-01`",
        is: |head| {
            let is_row = |line: &str| {
                let mut words = line.split_whitespace();
                let is_id = words.next().is_some_and(is_slurm_id);
                is_id && line.contains("  ") && words.any(is_state)
            };
            head.lines().next().is_some_and(is_row)
        },
    },
    NearMiss {
        found: "a log in the Standard Workload Format with commas or semicolons between its fields",
        remedy: "put blanks there, for example with `tr ',;' '  '`",
        is: |head| {
            let rows = || head.lines().filter(|line| !line.starts_with([';', '#'])).take(3);
            [',', ';'].iter().any(|&between| rows().any(|line| is_swf(line.split(between))))
        },
    },
    NearMiss {
        found: "a log with a header of the Standard Workload Format, but other fields",
        remedy: "write its jobs with the 18 fields of that format, with -1 for unknown",
        is: |head| {
            let is_comment = |line: &&str| line.starts_with([';', '#']);
            let keys = ["UnixStartTime:", "MaxProcs:", "MaxNodes:", "MaxJobs:", "Acknowledge:"];
            let is_header = |line: &str| keys.iter().any(|key| line.contains(key));
            head.lines().take_while(is_comment).any(is_header) && !head.lines().all(|line| is_comment(&line))
        },
    },
];

/// True if this is a time as Slurm writes it, such as `2026-05-01T08:00:00`.
fn is_slurm_time(text: &str) -> bool {
    let shape = text.bytes().map(|byte| if byte.is_ascii_digit() { b'0' } else { byte });
    shape.eq(*b"0000-00-00T00:00:00")
}

/// What stands between the columns of a list.
const DELIMITERS: [char; 5] = ['|', '^', ';', '\t', ','];

/// True if this is a job of a list by `sacct`: its id comes first, and it has a state and times.
fn is_row(line: &str, between: char) -> bool {
    let mut fields = line.split(between);
    let is_id = fields.next().is_some_and(is_slurm_id);
    let rest: Vec<&str> = fields.collect();
    let has_state = rest.iter().any(|field| is_state(field.split(' ').next().unwrap_or_default()));
    is_id && rest.len() >= 4 && has_state && rest.iter().any(|field| is_slurm_time(field) || is_epoch(field))
}

/// True if this may be a time of our days in seconds since 1970.
fn is_epoch(text: &str) -> bool {
    text.len() == 10 && text.starts_with('1') && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// True if this is the id of a job of Slurm.
fn is_slurm_id(text: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_.+[]-%".contains(letter);
    text.starts_with(|first: char| first.is_ascii_digit()) && text.chars().all(is_part)
}

/// True if this is a state of Slurm.
fn is_state(word: &str) -> bool {
    const STATES: [&str; 9] = [
        "COMPLETED",
        "FAILED",
        "CANCELLED",
        "TIMEOUT",
        "RUNNING",
        "PENDING",
        "NODE_FAIL",
        "PREEMPTED",
        "OUT_OF_MEMORY",
    ];
    STATES.contains(&word.trim_end_matches('+'))
}

/// True if these are the fields of a job in the Standard Workload Format: numbers, some of them unknown.
fn is_swf<'f>(fields: impl Iterator<Item = &'f str>) -> bool {
    let numbers: Option<Vec<f64>> = fields.take(18).map(|field| field.trim().parse().ok()).collect();
    numbers.is_some_and(|numbers| numbers.len() >= 17 && numbers.contains(&-1.0))
}

/// Without blanks.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The near miss that a file with these first bytes is.
pub(super) fn near_miss(head: &[u8]) -> Option<&'static NearMiss> {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => {
            head.get(..error.valid_up_to()).and_then(|head| std::str::from_utf8(head).ok()).unwrap_or_default()
        }
    };
    let head = Head { bytes: head, text: text.trim_start_matches('\u{feff}') };
    NEAR_MISSES.iter().find(|known| (known.is)(&head))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn found(head: &[u8]) -> Option<&'static str> {
        near_miss(head).map(|known| known.found)
    }

    #[test]
    fn each_near_miss_is_known_by_its_first_bytes() {
        let cases: [(&[u8], &str); 17] = [
            (b"\xff\xfeJ\0o\0b\0", "text in UTF-16"),
            (b"PK\x03\x04....", "a ZIP archive"),
            (b"BZh91AY", "a file that is packed by bzip2 or xz"),
            (b"PAR1....", "a Parquet file"),
            (b"\n<!DOCTYPE html><html>", "a web page"),
            (b"<?xml version=\"1.0\"?><apps><app><id>application_1_1</id></app></apps>", "as XML"),
            (b"{\"jobs\": {\"job\": [{\"id\": \"job_1_1\", \"mapsTotal\": 1}]}}", "MapReduce's history server"),
            (b"[{\"id\": \"app-1\", \"attempts\": [{\"completed\": true}]}]", "Spark's history server"),
            (b"[ {\n \"jobId\" : 0, \"stageIds\" : [0] } ]", "Spark's REST interface"),
            (b"[{\"Event\":\"SparkListenerLogStart\"},\n", "an array of Spark's events"),
            (b"{\n  \"Event\": \"SparkListenerLogStart\",\n", "over several lines"),
            (b"{\"entities\":[{\"entitytype\":\"YARN_APPLICATION\"}]}", "timeline server"),
            (
                b"Total number of applications:1\n Application-Id Application-Name State Final-State\n",
                "yarn application -list",
            ),
            (b"{\n \"jobs\": [\n ],\n \"meta\": {}}", "`sacct --json` list without a job"),
            (b"{\"jobs\": [{\"job_id\": 1, \"job_state\": [\"RUNNING\"]}]}", "the jobs that Slurm has now"),
            (b"1|a|u|a|p|2026-05-01T08:00:00|COMPLETED\n", "without its header"),
            ("\u{feff}[{\"Event\":\"SparkListenerLogStart\"}]".as_bytes(), "an array of Spark's events"),
        ];
        for (head, expected) in cases {
            let found = found(head).unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(head)));
            assert!(found.contains(expected), "{found}");
        }
    }

    #[test]
    fn lists_and_logs_that_are_nearly_right_are_known_by_their_first_lines() {
        let swf = "1 0 5 100 16 -1 -1 16 100 -1 1 1 1 -1 1 -1 -1 -1\n".replace(' ', ",");
        for (head, expected) in [
            ("J\0o\0b\0I\0", "without a mark"),
            ("\0J\0o\0b\0I", "without a mark"),
            ("{\"job_id\": 1, \"job_state\": [\"RUNNING\"]}\n", "the jobs that Slurm has now"),
            ("   JOBID PARTITION     NAME     USER ST  TIME NODES NODELIST(REASON)\n", "`squeue`"),
            ("apiVersion: v1\nitems:\n- apiVersion: kueue.x-k8s.io/v1beta2\n  kind: Workload\n", "as YAML"),
            ("---\napiVersion: v1\nkind: Pod\n", "as YAML"),
            ("NAMESPACE   NAME    QUEUE   RESERVED IN   ADMITTED   FINISHED   AGE\n", "`kubectl get`"),
            ("NAME   READY   STATUS    RESTARTS   AGE   IP   NODE\n", "`kubectl get`"),
            ("Name:         job-a\nNamespace:    red\n", "`kubectl describe`"),
            ("# HELP kueue_pending_workloads x\nkueue_pending_workloads{} 1\n", "metrics of Kueue"),
            ("{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[]}}", "Prometheus"),
            ("name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,0,0\n", "without times"),
            ("JobId=1 JobName=a\n   UserId=u(1) JobState=RUNNING Reason=None\n", "`scontrol show jobs`"),
            ("{\"meta\": {}, \"errors\": [{\"error\": \"Authentication failure\"}]}", "slurmrestd without jobs"),
            ("{\"RemoteException\": {\"exception\": \"NotFoundException\"}}", "Hadoop's REST"),
            ("1,a,u,a,p,2026-05-01T08:00:00,COMPLETED\n", "without its header"),
            ("1_[3-5]^a^u^a^p^2026-05-01T08:00:00^PENDING\n", "without its header"),
            ("12            name       part    acc    1  COMPLETED      0:0 \n", "fixed width by `sacct -n`"),
            (&swf, "with commas or semicolons"),
            ("; MaxProcs: 4\n;\n7[3] 1633039200 5 60 4 1,5 user queue 3600 -1\n", "but other fields"),
        ] {
            let found = found(head.as_bytes()).unwrap_or_else(|| panic!("{head}"));
            assert!(found.contains(expected), "{head}: {found}");
        }
    }

    /// What is wrong with the jobs of a list is for its reader to say.
    #[test]
    fn a_list_with_its_header_is_not_one_without() {
        let list = b"JobID|JobName|User|Account|State|Submit\n1|a|u|a|COMPLETED|2026-05-01T08:00:00\n";
        assert_eq!(found(list), None);
    }

    #[test]
    fn other_files_are_none() {
        let events = b"{\"Event\":\"SparkListenerLogStart\"}\n";
        for head in [&b""[..], events, b"hello\n", b"{\"a\": 1}", b"1 2 3\n", b"JobID|State\n1|COMPLETED\n"] {
            assert_eq!(found(head), None, "{}", String::from_utf8_lossy(head));
        }
    }
}
