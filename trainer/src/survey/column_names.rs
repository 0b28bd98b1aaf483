//! What people call columns.

use super::column::ColumnStatistics;
use super::unit::name_and_unit;

/// Names, in lower case, that people give to columns of each kind.
pub(super) const TIMES: &[&str] = &[
    "time",
    "t",
    "timestamp",
    "ts",
    "date",
    "datetime",
    "date_time",
    "epoch",
    "seconds",
    "millis",
    "clock",
    "time_s",
    "time_ms",
    "time_us",
    "time_ns",
    "timestamp_ms",
    "timestamp_us",
    "timestamp_ns",
    "sample_time",
    "elapsed",
];
pub(super) const RECORDINGS: &[&str] = &[
    "sequence",
    "recording",
    "session",
    "trial",
    "run",
    "series",
    "episode",
    "take",
    "file",
    "rep",
    "repetition",
    "segment",
    "subject",
    "participant",
    "person",
    "user",
    "patient",
    "id",
    "recording_id",
    "session_id",
    "trial_id",
    "series_id",
    "subject_id",
    "user_id",
    "participant_id",
    "run_id",
    "sequence_id",
];
pub(super) const LABELS: &[&str] = &[
    "label", "labels", "class", "classes", "gesture", "activity", "category", "state", "movement", "event",
    "fault",
];
pub(super) const TARGETS: &[&str] = &["target", "targets", "y", "output"];

/// Whether a column has one of these names, whatever its unit and case.
pub(super) fn is_named(column: &ColumnStatistics, names: &[&str]) -> bool {
    names.contains(&name_and_unit(&column.name).0.to_lowercase().as_str())
}
