//! Causes of whole files.

use super::causes;

causes! {
    UNREADABLE_ENTRY: "unreadable-entry", LeftOut,
        "A file or a folder could not be opened.",
        "Its jobs are missing.",
        "Give yourself the right to read it, and ingest again.";
    LINK_OUT_OF_FOLDER: "link-out-of-folder", LeftOut,
        "A symbolic link leads out of the folder that you named, and is not followed.",
        "What it leads to is missing.",
        "Name the place that it leads to as well.";
    FILE_NOT_IN_MAP: "file-not-in-map", LeftOut,
        "A file of the folder is none of those that the map names under `files`.",
        "None, if it is no table of jobs.",
        "Add a pattern for it to `files`.";
    EMPTY_FILE: "empty-file", LeftOut,
        "A file has no bytes.",
        "Its jobs are missing, if it had any.",
        "Copy it from the cluster again.";
    CUT_FILE: "cut-file", Damaged,
        "A packed file ends too early. What stands before the end is read.",
        "The jobs behind the end are missing.",
        "Copy it from the cluster again.";
    UNRECOGNISED_FILE: "unrecognised-file", LeftOut,
        "The content of a file is in no known format. `trace.json` names the files.",
        "None, if the file is no log of jobs.",
        "If it is one, name it alone: the error then says what it looks like. A table needs a map.";
    FILE_WITHOUT_JOBS: "file-without-jobs", LeftOut,
        "A file is in a known format and has no job that can be read.",
        "Its jobs are missing, if it had any.",
        "Name it alone: the error then shows its first damage.";
    DAMAGED_FILE: "damaged-file", Damaged,
        "A file is so damaged that the reader stopped there. The jobs before that place are kept.",
        "The jobs behind it are missing.",
        "Name it alone: the error then says the place and the cause.";
    DUPLICATE_FILE: "duplicate-file", Merged,
        "A file of a table was named twice, or by a link to it.",
        "None.",
        "";
    USAGE_TABLE_LEFT_OUT: "usage-table-left-out", LeftOut,
        "A file is a table of measured usage or of constraints, for which a trace has no place.",
        "A replay places tasks by what they ask for, and not by what they use.",
        "";
    DAMAGED_CONF: "damaged-conf", Damaged,
        "A configuration of a job (`*_conf.xml`) could not be read to its end.",
        "The names, queues and totals that it would give may be missing.",
        "Copy it from the cluster again.";
    MISSING_PART_OF_LOG: "missing-part-of-log", LeftOut,
        "A log that rolls over lacks a part.",
        "The jobs, tasks and executors of that part are missing. The answer is *assumed*.",
        "Ingest all parts together.";
    PREFERRED_FILE_WITHOUT_HEADER: "preferred-file-without-header", LeftOut,
        "A `preferred.csv` beside a log does not begin with its header.",
        "The hosts that tasks prefer come from a rule.",
        "Write it again by the listener that comes with resched.";
    DAMAGED_PREFERRED_ROW: "damaged-preferred-row", Damaged,
        "A row of `preferred.csv` could not be read.",
        "The hosts that its task prefers come from a rule.",
        "Copy the file again.";
    TOO_MANY_PREFERRED_ROWS: "too-many-preferred-rows", LeftOut,
        "The file `preferred.csv` has more rows than are kept.",
        "The hosts that the other tasks prefer come from a rule.",
        "";
}
