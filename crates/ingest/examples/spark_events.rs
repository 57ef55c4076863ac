//! Writes made-up event logs in the form of Spark 4.0, of any size, to measure ingest without real logs.
//!
//! `cargo run --release -p resched-ingest --example spark_events -- FOLDER APPLICATIONS TASKS [SEED]`
//!
//! `TASKS` is the number of tasks of each application. As Spark 4 does by default, each log rolls over in a folder
//! `eventlog_v2_<application>`, packed with zstd. With `PLAIN=1` in the environment, it is one file of text. An application has ten jobs
//! of two stages; tasks run on a hundred executors of four cores, with the metrics and accumulables of Spark. Some are run again,
//! speculatively or after a failure. One seed gives the same bytes. The bytes of the logs, unpacked, are printed at the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use rand::{Rng, RngExt};
use rand_distr::{Distribution, LogNormal};
use resched_tables::draws::{Purpose, stream};

const JOBS: u64 = 10;
const EXECUTORS: u64 = 100;
const CORES: u64 = 4;
/// The unpacked bytes after which a log rolls over: Spark's default of 128 MB.
const ROLL: u64 = 128 << 20;
/// When the first application starts (ms).
const EPOCH: u64 = 1_700_000_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (folder, applications, tasks, seed) = match args.as_slice() {
        [folder, applications, tasks] => (folder, applications.parse::<u64>()?, tasks.parse::<u64>()?, 1),
        [folder, applications, tasks, seed] => (folder, applications.parse()?, tasks.parse()?, seed.parse()?),
        _ => return Err("expected: spark_events FOLDER APPLICATIONS TASKS [SEED]".into()),
    };
    let is_plain = std::env::var_os("PLAIN").is_some();
    let mut bytes = 0;
    for number in 0..applications {
        let log = Log::new(Path::new(folder), &format!("app-{number:06}"), is_plain)?;
        bytes += Application::new(log, number, tasks, seed).run()?;
    }
    let mut out = std::io::stdout();
    Ok(writeln!(out, "{bytes}")?)
}

/// Where an application's events go.
struct Log {
    folder: PathBuf,
    application: String,
    is_plain: bool,
    part: u64,
    /// The unpacked bytes of this part, and of all.
    written: (u64, u64),
    out: Box<dyn Write>,
}

impl Log {
    fn new(folder: &Path, application: &str, is_plain: bool) -> Result<Self, Box<dyn Error>> {
        let folder = if is_plain { folder.to_path_buf() } else { folder.join(format!("eventlog_v2_{application}")) };
        fs::create_dir_all(&folder)?;
        if !is_plain {
            File::create(folder.join(format!("appstatus_{application}")))?;
        }
        let out = Box::new(std::io::sink());
        let mut log = Self { folder, application: application.to_owned(), is_plain, part: 0, written: (0, 0), out };
        log.roll()?;
        Ok(log)
    }

    fn roll(&mut self) -> Result<(), Box<dyn Error>> {
        self.out.flush()?;
        self.part += 1;
        self.written.0 = 0;
        self.out = if self.is_plain {
            Box::new(BufWriter::new(File::create(self.folder.join(&self.application))?))
        } else {
            let file = File::create(self.folder.join(format!("events_{}_{}.zstd", self.part, self.application)))?;
            Box::new(zstd::Encoder::new(file, 1)?.auto_finish())
        };
        Ok(())
    }

    fn line(&mut self, line: &str) -> Result<(), Box<dyn Error>> {
        writeln!(self.out, "{line}")?;
        let bytes = line.len() as u64 + 1;
        self.written = (self.written.0 + bytes, self.written.1 + bytes);
        if !self.is_plain && self.written.0 > ROLL { self.roll() } else { Ok(()) }
    }
}

/// An application that runs its jobs one after the other.
struct Application<R> {
    log: Log,
    number: u64,
    tasks: u64,
    random: R,
    time: u64,
    task: u64,
}

fn generator(seed: u64, number: u64) -> impl Rng {
    stream(seed, Purpose::JobChoice, &[number])
}

impl Application<()> {
    fn new(log: Log, number: u64, tasks: u64, seed: u64) -> Application<impl Rng> {
        Application { log, number, tasks, random: generator(seed, number), time: EPOCH + number * 30_000, task: 0 }
    }
}

impl<R: Rng> Application<R> {
    fn run(mut self) -> Result<u64, Box<dyn Error>> {
        self.begin()?;
        let stages = JOBS * 2;
        for job in 0..JOBS {
            self.job(job, (self.tasks / stages).max(1))?;
        }
        self.log.line(&format!(r#"{{"Event":"SparkListenerApplicationEnd","Timestamp":{}}}"#, self.time))?;
        self.log.out.flush()?;
        Ok(self.log.written.1)
    }

    fn begin(&mut self) -> Result<(), Box<dyn Error>> {
        let (application, time) = (self.log.application.clone(), self.time);
        self.log.line(r#"{"Event":"SparkListenerLogStart","Spark Version":"4.0.0"}"#)?;
        self.log.line(&format!(
            r#"{{"Event":"SparkListenerApplicationStart","App Name":"job {}","App ID":"{application}","Timestamp":{time},"User":"user{}"}}"#,
            self.number % 50,
            self.number % 7
        ))?;
        self.log.line(r#"{"Event":"SparkListenerEnvironmentUpdate","JVM Information":{},"Spark Properties":{"spark.executor.memory":"8g","spark.executor.cores":"4","spark.scheduler.mode":"FIFO","spark.speculation":"true"},"Hadoop Properties":{},"System Properties":{},"Metrics Properties":{},"Classpath Entries":{}}"#)?;
        for executor in 0..EXECUTORS {
            self.log.line(&format!(
                r#"{{"Event":"SparkListenerExecutorAdded","Timestamp":{time},"Executor ID":"{executor}","Executor Info":{{"Host":"{}","Total Cores":{CORES},"Log Urls":{{}},"Attributes":{{}},"Resources":{{}},"Resource Profile Id":0,"Registration Time":{time},"Request Time":{time}}}}}"#,
                host(executor)
            ))?;
        }
        Ok(())
    }

    /// A job of two stages, the second of which waits for the first.
    fn job(&mut self, job: u64, tasks: u64) -> Result<(), Box<dyn Error>> {
        let (first, second) = (job * 2, job * 2 + 1);
        let stage = |id: u64, parents: &str| {
            format!(
                r#"{{"Stage ID":{id},"Stage Attempt ID":0,"Stage Name":"count at Main.scala:{id}","Number of Tasks":{tasks},"RDD Info":[{{"RDD ID":{id},"Name":"MapPartitionsRDD","Scope":"{{\"id\":\"1\",\"name\":\"map\"}}","Callsite":"map at Main.scala:7","Parent IDs":[],"Storage Level":{{"Use Disk":false,"Use Memory":false,"Use Off Heap":false,"Deserialized":false,"Replication":1}},"Barrier":false,"DeterministicLevel":"DETERMINATE","Number of Partitions":{tasks},"Number of Cached Partitions":0,"Memory Size":0,"Disk Size":0}}],"Parent IDs":[{parents}],"Details":"org.apache.spark.rdd.RDD.count(RDD.scala:1296)\nMain.main(Main.scala)","Accumulables":[],"Resource Profile Id":0,"Shuffle Push Enabled":false,"Shuffle Push Mergers Count":0}}"#
            )
        };
        let (one, two) = (stage(first, ""), stage(second, &first.to_string()));
        self.log.line(&format!(
            r#"{{"Event":"SparkListenerJobStart","Job ID":{job},"Submission Time":{},"Stage Infos":[{one},{two}],"Stage IDs":[{first},{second}],"Properties":{{"spark.job.description":"query {job}","spark.app.id":"{}"}}}}"#,
            self.time, self.log.application
        ))?;
        for (id, info) in [(first, one), (second, two)] {
            let submit = self.time;
            let at = |name: &str, more: &str| {
                let info = info.strip_suffix('}').unwrap_or(&info);
                format!(
                    r#"{{"Event":"SparkListenerStage{name}","Stage Info":{info},"Submission Time":{submit}{more}}}}}"#
                )
            };
            self.log.line(&at("Submitted", ""))?;
            self.stage(id, tasks)?;
            self.log.line(&at("Completed", &format!(r#","Completion Time":{}"#, self.time)))?;
        }
        self.log.line(&format!(
            r#"{{"Event":"SparkListenerJobEnd","Job ID":{job},"Completion Time":{},"Job Result":{{"Result":"JobSucceeded"}}}}"#,
            self.time
        ))?;
        Ok(())
    }

    /// The tasks of a stage, each on the core that is free first.
    fn stage(&mut self, stage: u64, tasks: u64) -> Result<(), Box<dyn Error>> {
        let runs: LogNormal<f64> = LogNormal::new(8.0, 0.7)?;
        let mut cores: BinaryHeap<_> = (0..EXECUTORS * CORES).map(|core| Reverse((self.time, core))).collect();
        let mut running: BinaryHeap<Reverse<(u64, String)>> = BinaryHeap::new();
        let mut last = self.time;
        for index in 0..tasks {
            let mut attempt = 0;
            loop {
                let Some(Reverse((launch, core))) = cores.pop() else { return Ok(()) };
                while let Some(Reverse((_, line))) = running.pop_if_before(launch) {
                    self.log.line(&line)?;
                }
                let finish = launch + runs.sample(&mut self.random).min(1e7) as u64 + 1;
                let has_failed = self.random.random_bool(0.005);
                let task = Task { id: self.task, index, attempt, launch, executor: core / CORES };
                self.log.line(&task.start(stage))?;
                running.push(Reverse((finish, task.end(stage, finish, has_failed, &mut self.random))));
                self.task += 1;
                cores.push(Reverse((finish, core)));
                last = last.max(finish);
                if !has_failed || attempt == 3 {
                    break;
                }
                attempt += 1;
            }
        }
        while let Some(Reverse((_, line))) = running.pop() {
            self.log.line(&line)?;
        }
        self.time = last + 1;
        Ok(())
    }
}

/// Takes what ends before a time.
trait Before {
    fn pop_if_before(&mut self, time: u64) -> Option<Reverse<(u64, String)>>;
}

impl Before for BinaryHeap<Reverse<(u64, String)>> {
    fn pop_if_before(&mut self, time: u64) -> Option<Reverse<(u64, String)>> {
        if self.peek().is_some_and(|Reverse((end, _))| *end <= time) { self.pop() } else { None }
    }
}

fn host(executor: u64) -> String {
    format!("node{:03}.cluster.example", executor / 2)
}

struct Task {
    id: u64,
    index: u64,
    attempt: u64,
    launch: u64,
    executor: u64,
}

impl Task {
    fn info(&self, finish: u64, has_failed: bool, accumulables: &str) -> String {
        let Self { id, index, attempt, launch, executor } = self;
        let level = ["PROCESS_LOCAL", "NODE_LOCAL", "ANY"][(id % 3) as usize];
        format!(
            r#"{{"Task ID":{id},"Index":{index},"Attempt":{attempt},"Partition ID":{index},"Launch Time":{launch},"Executor ID":"{executor}","Host":"{}","Locality":"{level}","Speculative":false,"Getting Result Time":0,"Finish Time":{finish},"Failed":{has_failed},"Killed":false,"Accumulables":[{accumulables}]}}"#,
            host(*executor)
        )
    }

    fn start(&self, stage: u64) -> String {
        let info = self.info(0, false, "");
        format!(r#"{{"Event":"SparkListenerTaskStart","Stage ID":{stage},"Stage Attempt ID":0,"Task Info":{info}}}"#)
    }

    fn end(&self, stage: u64, finish: u64, has_failed: bool, random: &mut impl Rng) -> String {
        let mut amount = |most: u64| random.random_range(0..most);
        let (run, cpu, read, written) = (finish - self.launch, amount(9_000_000_000), amount(1 << 27), amount(1 << 25));
        let accumulables = [
            ("internal.metrics.executorRunTime", run),
            ("internal.metrics.executorCpuTime", cpu),
            ("internal.metrics.resultSize", 1_900 + amount(100)),
            ("internal.metrics.jvmGCTime", amount(200)),
            ("internal.metrics.input.bytesRead", read),
            ("internal.metrics.shuffle.write.bytesWritten", written),
            ("number of output rows", amount(100_000)),
        ];
        let accumulables: Vec<String> = accumulables
            .iter()
            .zip(10..)
            .map(|((name, value), id)| {
                format!(r#"{{"ID":{id},"Name":"{name}","Update":{value},"Value":{},"Internal":true,"Count Failed Values":true}}"#, value * (self.index + 1))
            })
            .collect();
        let info = self.info(finish, has_failed, &accumulables.join(","));
        let kind = if stage.is_multiple_of(2) { "ShuffleMapTask" } else { "ResultTask" };
        let reason = if has_failed {
            r#"{"Reason":"ExceptionFailure","Class Name":"java.io.IOException","Description":"No space left on device","Stack Trace":[],"Full Stack Trace":"java.io.IOException: No space left on device","Accumulator Updates":[]}"#
        } else {
            r#"{"Reason":"Success"}"#
        };
        format!(
            r#"{{"Event":"SparkListenerTaskEnd","Stage ID":{stage},"Stage Attempt ID":0,"Task Type":"{kind}","Task End Reason":{reason},"Task Info":{info},"Task Executor Metrics":{{"JVMHeapMemory":0,"JVMOffHeapMemory":0,"OnHeapExecutionMemory":0,"OffHeapExecutionMemory":0,"OnHeapStorageMemory":0,"OffHeapStorageMemory":0,"OnHeapUnifiedMemory":0,"OffHeapUnifiedMemory":0,"DirectPoolMemory":0,"MappedPoolMemory":0,"ProcessTreeJVMVMemory":0,"ProcessTreeJVMRSSMemory":0,"MinorGCCount":0,"MinorGCTime":0,"MajorGCCount":0,"MajorGCTime":0,"TotalGCTime":0}},"Task Metrics":{{"Executor Deserialize Time":{},"Executor Deserialize CPU Time":{},"Executor Run Time":{run},"Executor CPU Time":{cpu},"Peak Execution Memory":0,"Result Size":2010,"JVM GC Time":{},"Result Serialization Time":0,"Memory Bytes Spilled":0,"Disk Bytes Spilled":0,"Shuffle Read Metrics":{{"Remote Blocks Fetched":3,"Local Blocks Fetched":1,"Fetch Wait Time":0,"Remote Bytes Read":{},"Remote Bytes Read To Disk":0,"Local Bytes Read":{},"Total Records Read":{},"Remote Requests Duration":0,"Push Based Shuffle":{{"Corrupt Merged Block Chunks":0,"Merged Fetch Fallback Count":0,"Merged Remote Blocks Fetched":0,"Merged Local Blocks Fetched":0,"Merged Remote Chunks Fetched":0,"Merged Local Chunks Fetched":0,"Merged Remote Bytes Read":0,"Merged Local Bytes Read":0,"Merged Remote Requests Duration":0}}}},"Shuffle Write Metrics":{{"Shuffle Bytes Written":{written},"Shuffle Write Time":{},"Shuffle Records Written":{}}},"Input Metrics":{{"Bytes Read":{read},"Records Read":{}}},"Output Metrics":{{"Bytes Written":0,"Records Written":0}},"Updated Blocks":[]}}}}"#,
            amount(90),
            amount(90_000_000),
            amount(200),
            amount(1 << 24),
            amount(1 << 22),
            amount(100_000),
            amount(1_000_000),
            amount(100_000),
            amount(1_000_000),
        )
    }
}
