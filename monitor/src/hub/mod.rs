//! Where rows meet those who want them: one writer, any number of readers, bounded memory.
//!
//! Readers have a [`Cursor`] each and copy what is new. The writer never waits for them: a reader that falls
//! behind skips rows, and learns how many.

mod ring;
mod timing;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use quaver_telemetry::Counts;
use serde::Serialize;

use crate::layout::{Layout, cleaned_line};
use crate::row::Meta;
use ring::Ring;
pub use timing::Timing;

/// Lines of text that are kept.
const MESSAGES: usize = 30;

/// State of the source.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(tag = "state", content = "text", rename_all = "snake_case")]
pub enum Connection {
    /// Not opened yet.
    #[default]
    Starting,
    /// Rows arrive from here.
    Connected(String),
    /// Gone, and tried again: why.
    Waiting(String),
    /// There will be no more rows: why.
    Ended(String),
    /// There will be no more rows, because something is wrong.
    Failed(String),
}

/// Everything about a stream but its rows.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// State of the source.
    pub connection: Connection,
    /// Rate and jitter.
    #[serde(flatten)]
    pub timing: Timing,
    /// Rows since the start.
    pub rows: u64,
    /// Frames or lines that arrived whole.
    pub frames: u64,
    /// Frames that never arrived whole.
    pub lost: u64,
    /// Pieces that were neither a frame nor text, and lines that were no row.
    pub damaged: u64,
    /// Whole frames of an unknown kind or version.
    pub unknown: u64,
    /// How often the sender began again.
    pub restarts: u64,
    /// How often the source was opened again.
    pub reconnects: u64,
    /// Steps that began late.
    pub late: u32,
    /// Rows that the sender dropped.
    pub dropped: u32,
    /// Values outside of their plausible ranges, of a model that runs here.
    pub implausible: u64,
    /// Programs that watch.
    pub viewers: usize,
    /// The last lines of text.
    pub messages: Vec<String>,
}

/// A reader's place in the stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    next: u64,
    layout: u64,
}

/// Rows that a reader has not had.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The layout, if it has changed since the last batch.
    pub new_layout: Option<Arc<Layout>>,
    /// Number of the first row.
    pub first: u64,
    /// Rows before it that this reader was too slow for.
    pub skipped: u64,
    /// Numbers per row.
    pub width: usize,
    /// One per row.
    pub metas: Vec<Meta>,
    /// `width` per row.
    pub values: Vec<f32>,
}

impl Batch {
    /// The rows with their values.
    pub fn rows(&self) -> impl Iterator<Item = (&Meta, &[f32])> {
        let width = self.width;
        self.metas.iter().enumerate().map(move |(index, meta)| (meta, &self.values[index * width..][..width]))
    }
}

#[derive(Debug)]
struct State {
    layout: Option<Arc<Layout>>,
    /// Changes with the layout.
    layout_number: u64,
    ring: Ring,
    connection: Connection,
    counts: Counts,
    /// How often the source was opened.
    opened: u64,
    implausible: u64,
    label: u8,
    viewers: usize,
    messages: VecDeque<String>,
}

/// Rows, and the state of the stream.
#[derive(Debug)]
pub struct Hub {
    begun: Instant,
    state: Mutex<State>,
}

impl Default for Hub {
    fn default() -> Self {
        let state = State {
            layout: None,
            layout_number: 0,
            ring: Ring::new(0, 0),
            connection: Connection::default(),
            counts: Counts::default(),
            opened: 0,
            implausible: 0,
            label: 0,
            viewers: 0,
            messages: VecDeque::new(),
        };
        Hub { begun: Instant::now(), state: Mutex::new(state) }
    }
}

impl Hub {
    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change leaves a valid state, so that one reader's panic is not the end of the others.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Declares the channels of the rows to come. Earlier rows are kept if they have as many.
    pub fn set_layout(&self, layout: Layout) {
        let mut state = self.state();
        if state.layout.as_deref() == Some(&layout) {
            return;
        }
        if !state.layout.as_deref().is_some_and(|old| old.has_shape_of(&layout)) {
            state.ring = Ring::new(layout.width(), state.ring.next());
        }
        state.layout = Some(Arc::new(layout));
        state.layout_number += 1;
    }

    /// Adds a row of the layout, with the label of the moment.
    ///
    /// # Panics
    /// In debug builds, if the row has another width than the layout.
    pub fn push(&self, meta: Meta, values: &[f32]) {
        let mut state = self.state();
        let label = state.label;
        state.ring.push(Meta { label, ..meta }, values);
    }

    /// Labels the rows to come; 0 for none.
    pub fn set_label(&self, label: u8) {
        self.state().label = label;
    }

    /// The label of the moment.
    pub fn label(&self) -> u8 {
        self.state().label
    }

    /// The layout, once there is one.
    pub fn layout(&self) -> Option<Arc<Layout>> {
        self.state().layout.clone()
    }

    /// Reports the state of the source.
    pub fn set_connection(&self, connection: Connection) {
        let mut state = self.state();
        if matches!(connection, Connection::Connected(_)) {
            state.opened += 1;
        }
        state.connection = connection;
    }

    /// The state of the source.
    pub fn status_of_connection(&self) -> Connection {
        self.state().connection.clone()
    }

    /// Reports the totals of the decoder.
    pub fn set_counts(&self, counts: Counts) {
        self.state().counts = counts;
    }

    /// Reports implausible values of a model that runs here.
    pub fn set_implausible(&self, count: u64) {
        self.state().implausible = count;
    }

    /// Keeps a line of text from the device.
    pub fn add_message(&self, line: &str) {
        let mut state = self.state();
        if state.messages.len() == MESSAGES {
            state.messages.pop_front();
        }
        state.messages.push_back(cleaned_line(line));
    }

    /// Counts those who watch.
    pub fn add_viewers(&self, change: isize) {
        let mut state = self.state();
        state.viewers = state.viewers.saturating_add_signed(change);
    }

    /// The state of the stream.
    pub fn status(&self) -> Status {
        let state = self.state();
        let last = state.ring.last().copied().unwrap_or_default();
        let Counts { frames, lost, damaged, unknown, restarts, .. } = state.counts;
        Status {
            connection: state.connection.clone(),
            timing: Timing::of(state.ring.newest()),
            rows: state.ring.next(),
            frames,
            lost,
            damaged,
            unknown,
            restarts,
            reconnects: state.opened.saturating_sub(1),
            late: last.late,
            dropped: last.dropped,
            implausible: state.implausible,
            viewers: state.viewers,
            messages: state.messages.iter().cloned().collect(),
        }
    }

    /// Rate and jitter of the newest rows.
    pub fn timing(&self) -> Timing {
        Timing::of(self.state().ring.newest())
    }

    /// A place that many seconds of rows back, for readers that want to begin with some.
    pub fn cursor_before(&self, seconds: f64) -> Cursor {
        let state = self.state();
        let since = state.ring.last().map_or(0.0, |last| last.time) - seconds;
        let rows = state.ring.newest().take_while(|meta| meta.time >= since).count();
        Cursor { next: state.ring.next() - rows as u64, layout: 0 }
    }

    /// A place after the newest row.
    pub fn cursor_at_end(&self) -> Cursor {
        Cursor { next: self.state().ring.next(), layout: 0 }
    }

    /// Copies new rows into `batch`, `count` at most. Of a reader that is more than `lag` rows behind, the
    /// rows before that are skipped.
    pub fn read(&self, cursor: &mut Cursor, lag: u64, count: usize, batch: &mut Batch) {
        let state = self.state();
        let changed = cursor.layout != state.layout_number;
        batch.new_layout = changed.then(|| state.layout.clone()).flatten();
        cursor.layout = state.layout_number;
        let ring = &state.ring;
        let from = cursor.next.max(ring.first()).max(ring.next().saturating_sub(lag));
        batch.skipped = from - cursor.next;
        batch.first = from;
        batch.width = ring.width();
        batch.metas.clear();
        batch.values.clear();
        ring.copy(from, count, &mut batch.metas, &mut batch.values);
        cursor.next = from + batch.metas.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(hub: &Hub, cursor: &mut Cursor, lag: u64) -> Batch {
        let mut batch = Batch::default();
        hub.read(cursor, lag, usize::MAX, &mut batch);
        batch
    }

    fn push(hub: &Hub, number: u16) {
        hub.push(Meta { time: f64::from(number), ..Meta::default() }, &[f32::from(number)]);
    }

    #[test]
    fn readers_get_every_row_once() {
        let hub = Hub::default();
        let mut cursor = hub.cursor_at_end();
        assert!(read(&hub, &mut cursor, 9).new_layout.is_none());
        hub.set_layout(Layout::numbered(1, 0));
        (0..3).for_each(|number| push(&hub, number));
        let batch = read(&hub, &mut cursor, 9);
        assert_eq!((batch.values, batch.first, batch.skipped), (vec![0.0, 1.0, 2.0], 0, 0));
        assert!(batch.new_layout.is_some_and(|layout| !layout.is_named));
        push(&hub, 3);
        let batch = read(&hub, &mut cursor, 9);
        assert_eq!((batch.rows().count(), batch.first, batch.new_layout.is_some()), (1, 3, false));
        assert!(read(&hub, &mut cursor, 9).metas.is_empty());
    }

    #[test]
    fn slow_readers_skip_and_learn_how_much() {
        let hub = Hub::default();
        hub.set_layout(Layout::numbered(1, 0));
        let mut cursor = hub.cursor_at_end();
        (0..10).for_each(|number| push(&hub, number));
        let batch = read(&hub, &mut cursor, 4);
        assert_eq!((batch.skipped, batch.first, batch.values), (6, 6, vec![6.0, 7.0, 8.0, 9.0]));
    }

    #[test]
    fn names_that_come_late_keep_the_rows_and_other_channels_do_not() {
        let hub = Hub::default();
        hub.set_layout(Layout::numbered(1, 0));
        let mut cursor = hub.cursor_at_end();
        push(&hub, 0);
        let named = Layout::new([("knee".to_string(), "°".to_string())], []);
        hub.set_layout(named.clone());
        hub.set_layout(named);
        let batch = read(&hub, &mut cursor, 9);
        assert_eq!(
            (batch.new_layout.expect("a layout").inputs[0].name.as_str(), batch.metas.len()),
            ("knee", 1)
        );
        push(&hub, 1);
        hub.set_layout(Layout::numbered(2, 1));
        let batch = read(&hub, &mut cursor, 9);
        assert_eq!((batch.skipped, batch.metas.len(), batch.width), (1, 0, 5));
    }

    #[test]
    fn a_new_reader_may_begin_in_the_past() {
        let hub = Hub::default();
        hub.set_layout(Layout::numbered(1, 0));
        (0..10).for_each(|number| push(&hub, number));
        let batch = read(&hub, &mut hub.cursor_before(2.5), 100);
        assert_eq!(batch.values, [7.0, 8.0, 9.0]);
    }

    #[test]
    fn labels_apply_from_the_moment_on() {
        let hub = Hub::default();
        hub.set_layout(Layout::numbered(1, 0));
        let mut cursor = hub.cursor_at_end();
        push(&hub, 0);
        hub.set_label(2);
        push(&hub, 1);
        let labels: Vec<u8> = read(&hub, &mut cursor, 9).metas.iter().map(|meta| meta.label).collect();
        assert_eq!(labels, [0, 2]);
    }

    #[test]
    fn messages_are_bounded_and_reconnects_counted() {
        let hub = Hub::default();
        (0..100).for_each(|number| hub.add_message(&format!("line {number}\u{1b}")));
        hub.set_connection(Connection::Waiting("not there yet".into()));
        hub.set_connection(Connection::Connected("a".into()));
        hub.set_connection(Connection::Waiting("gone".into()));
        hub.set_connection(Connection::Connected("a".into()));
        let status = hub.status();
        assert_eq!((status.messages.len(), status.reconnects), (MESSAGES, 1));
        assert_eq!(status.messages[MESSAGES - 1], "line 99 ");
        let json = serde_json::to_value(&status).expect("JSON");
        assert_eq!(json["connection"], serde_json::json!({"state": "connected", "text": "a"}));
    }
}
