//! Causes of single records.

use super::causes;

causes! {
    DAMAGED_LINE: "damaged-line", Damaged,
        "A line could not be read: too few fields, or a value that its field cannot have.",
        "Its job or event is missing. From 5 % of all records on, the answer is *assumed*.",
        "Copy or list the source again. If no line can be read, the error shows the first one with its column.";
    WORKLOAD_WITH_DAMAGED_LINE: "workload-with-damaged-line", Damaged,
        "A workload of several lines has one that could not be read.",
        "The workload is missing: without a pod set, it would ask for less than it did.",
        "Correct the line that the message shows.";
    UNKNOWN_COLUMN: "unknown-column", LeftOut,
        "A table has a column that its format does not know.",
        "None, unless the name of the column is misspelt.",
        "Rename the column as the page of the format has it.";
    DAMAGED_RECORD: "damaged-record", Damaged,
        "A record could not be read, or only in part. The keys that are whole are kept.",
        "Values or whole records are missing. From 5 % of all records on, the answer is *assumed*.",
        "Copy the source again.";
    DAMAGED_EVENT: "damaged-event", Damaged,
        "An event of a history could not be read, or lacks the id of its job, task or attempt.",
        "What it says is missing: mostly the start or the end of an attempt.",
        "Copy the history again.";
    DAMAGED_JOB: "damaged-job", Damaged,
        "The object of a job could not be read, or has no id.",
        "The job is missing.",
        "List or copy the source again.";
    DAMAGED_TASK: "damaged-task", Damaged,
        "The object of a task could not be read, or has no id.",
        "The task and its attempts are missing.",
        "Copy the source again.";
    DAMAGED_ATTEMPT: "damaged-attempt", Damaged,
        "The object of an attempt could not be read, or has no id.",
        "The attempt is missing.",
        "Copy the source again.";
    DAMAGED_ROW: "damaged-row", Damaged,
        "A row of a table has no id or no submission that can be read as the map says.",
        "Its job is missing. From 5 % of all rows on, the answer is *assumed*.",
        "Correct the column or the unit in the map, or leave such rows out by a filter.";
    DAMAGED_APPLICATION: "damaged-application", Damaged,
        "An application of a list could not be read, or has no id.",
        "The job is missing.",
        "List the applications again.";
    DAMAGED_COUNTERS: "damaged-counters", Damaged,
        "The counters of a job, a task or an attempt could not be read to their end.",
        "Amounts of data may be missing, and with them the costs of distance.",
        "";
    DAMAGED_FACT: "damaged-fact", Damaged,
        "A record that an ingest had put down on disk could not be read again.",
        "What it says is missing.",
        "Remove the working folder beside the trace, and ingest again.";
    DAMAGED_FURTHER_FIELD: "damaged-further-field", Damaged,
        "A field after the 18th does not hold what its name in the header says.",
        "The field is unknown for this job.",
        "Correct the name in the header.";
    OVERSIZED_LINE: "oversized-line", Damaged,
        "A line is longer than the limit of its format.",
        "Its job or event is missing.",
        "See the page of limits. A line that long is mostly a file in another format.";
    OVERSIZED_RECORD: "oversized-record", Damaged,
        "A record is longer than the limit of its format.",
        "What it says is missing.",
        "See the page of limits.";
    OVERSIZED_ROW: "oversized-row", Damaged,
        "A row of a table is longer than the limit.",
        "Its job is missing.",
        "Leave columns with long texts or curves out of the table.";
    OVERSIZED_ID: "oversized-id", Damaged,
        "The id of a job or a task is longer than the limit. A cut one might be that of another.",
        "The job is missing.",
        "See the page of limits.";
    UNTERMINATED_RECORD: "unterminated-record", Damaged,
        "A record has no end. The keys that are whole are kept.",
        "Values are missing.",
        "Copy the history again.";
    CUT_EVENT: "cut-event", Damaged,
        "The end of the file cuts an event.",
        "The job may have no end in the tables. Such a job is not replayed as one that ended.",
        "Copy the history again, after the job has ended.";
    PREFIX_BYTES: "prefix-bytes", LeftOut,
        "Bytes stand before the first line of a history.",
        "None.",
        "";
    UNKNOWN_RECORD: "unknown-record", Damaged,
        "A record is of a type that no version of Hadoop writes.",
        "What it says is missing.",
        "";
    UNKNOWN_EVENT: "unknown-event", LeftOut,
        "An event is of a type that is not known here.",
        "None for types that say nothing about tasks.",
        "";
    OTHER_RECORD: "other-record", LeftOut,
        "A record is about something other than a job: licences, reservations, moves.",
        "None.",
        "";
    FOREIGN_EVENT: "foreign-event", LeftOut,
        "An event in the history of a job is of another job.",
        "What it says is missing.",
        "Copy the histories again: two were mixed.";
    ORPHAN_RECORD: "orphan-record", Damaged,
        "A record in the history of a job is of another job, or stands before any job.",
        "What it says is missing.",
        "Copy the histories again: two were mixed, or one lacks its beginning.";
    RECORD_WITHOUT_ID: "record-without-id", LeftOut,
        "A record has no id of a job.",
        "What it says is missing.",
        "";
    AMBIGUOUS_LINE: "ambiguous-line", Damaged,
        "A line has too many fields, because a value holds the delimiter, and several ways to join them are as good.",
        "Its job is missing.",
        "List again with a rare text as `--delimiter`, or with `--json`.";
    LINE_WITHOUT_LAST_FIELD: "line-without-last-field", Assumed,
        "A line of SWF has 17 fields. The last, the think time, is taken to be unknown.",
        "None: think times are not replayed.",
        "";
    LINE_WITH_FURTHER_FIELDS: "line-with-further-fields", LeftOut,
        "A line of SWF has fields after the 18th that no column of the tables has a place for.",
        "None.",
        "Keep numbers as counters with `--counters`.";
    SHORTENED_TEXT: "shortened-text", Mended,
        "A name, a host or an error is longer than the limit, and was cut.",
        "None, unless two names differ only behind the limit.",
        "";
    TOO_MANY_NAMES: "too-many-names", LeftOut,
        "The header names more queues or partitions than are kept.",
        "The others are shown by their numbers.",
        "";
    ROW_FILTERED_OUT: "row-filtered-out", LeftOut,
        "A filter of the map says that a row is no job.",
        "As you want it: the load is smaller by these rows.",
        "";
    SETTING_LEFT_OUT: "setting-left-out", LeftOut,
        "A setting of an application is longer than the limit, or there are too many.",
        "The replay takes the default of that setting.",
        "See the page of limits.";
    ALLOC_SET_LEFT_OUT: "alloc-set-left-out", LeftOut,
        "A collection or an instance is a reservation (alloc set), and no job.",
        "What reservations hold is free in a replay.",
        "";
}
