//! Ten minutes at 1 kHz × 16 channels, watched by Chromium, by a program and by one that never reads: no row
//! lost, memory flat.
//!
//! ```sh
//! cargo test --release -p quaver-monitor --test soak -- --ignored --nocapture
//! ```
//! `QUAVER_SOAK_MINUTES` sets another duration.

mod support;

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use support::chromium::Chromium;
use support::device::{INPUTS, TcpBoard};
use support::watcher::Watcher;
use support::{Monitor, eventually, settings};

const RATE_HZ: u64 = 1000;
/// Minutes until the rows that are kept fill their memory: 120,000 of them.
const FILLED: u64 = 3;
/// Growth after that which is not a leak: the allocator, and the messages that are on their way.
const SLACK_KB: u64 = 4096;

/// Memory of this process in use, in KB.
fn resident_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.and_then(|line| line.split_whitespace().nth(1)).and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn send(mut device: TcpBoard, seconds: u64) -> u64 {
    let begun = Instant::now();
    for second in 0..seconds {
        device.hello();
        for step in 0..100 {
            device.rows(RATE_HZ / 100);
            let due = Duration::from_millis(1000 * second + 10 * (step + 1));
            thread::sleep(due.saturating_sub(begun.elapsed()));
        }
    }
    let rows = device.board.rows();
    device.hang_up();
    rows
}

#[test]
#[ignore = "takes ten minutes"]
fn ten_minutes_lose_nothing_and_keep_their_memory() {
    let minutes = std::env::var("QUAVER_SOAK_MINUTES").ok().and_then(|text| text.parse().ok()).unwrap_or(10);
    let seconds = 60 * minutes;
    let device = TcpBoard::new();
    let monitor = Monitor::start(settings(device.source()));
    let (port, total) = (monitor.port(), seconds * RATE_HZ);
    let lazy = Watcher::connect(port);
    let watcher = thread::spawn(move || {
        let mut watcher = Watcher::connect(port);
        watcher.keeps = false;
        while watcher.next != Some(total) && watcher.read() {}
        (watcher.counted, watcher.skipped)
    });
    let mut page = Chromium::open(monitor.server.url(), 1400, 2300);
    let sender = thread::spawn(move || send(device, seconds));
    eventually("rows", || monitor.hub.status().rows > 0);
    println!(
        "{INPUTS} inputs at {RATE_HZ} Hz for {minutes} minutes\n\nmin  rows     lost  monitor RSS KB  page heap KB"
    );
    let mut measured = Vec::new();
    for minute in 1..=minutes {
        let due = Instant::now() + Duration::from_secs(60);
        while Instant::now() < due && !sender.is_finished() {
            thread::sleep(Duration::from_millis(200));
        }
        let heap = page.as_mut().map_or(0, |page| {
            page.call("HeapProfiler.collectGarbage", serde_json::json!({}));
            page.call("Runtime.getHeapUsage", serde_json::json!({}))["usedSize"].as_f64().unwrap_or(0.0)
                as u64
                / 1024
        });
        let status = monitor.hub.status();
        println!("{minute:3}  {:7}  {:4}  {:14}  {heap:12}", status.rows, status.lost, resident_kb());
        measured.push((resident_kb(), heap));
    }
    assert_eq!(sender.join().expect("a device"), total);
    eventually("all rows", || monitor.hub.status().rows == total);
    thread::sleep(Duration::from_secs(2));
    let status = monitor.hub.status();
    assert_eq!((status.lost, status.damaged), (0, 0));
    assert_eq!(watcher.join().expect("a watcher"), (total, 0), "the program that watches got every row");
    if let Some(page) = &mut page {
        let shown = "JSON.stringify([window.quaver.store.first, window.quaver.store.received, \
                     window.quaver.store.skipped])";
        println!("the page: number of its first row, rows, rows skipped: {}", page.evaluate(shown));
        page.until(&format!("window.quaver.store.received === {total} && window.quaver.store.skipped === 0"));
    }
    if let [.., (last, last_heap)] = measured[..]
        && minutes > FILLED
    {
        let (filled, filled_heap) = measured[FILLED as usize - 1];
        assert!(last <= filled + SLACK_KB, "the monitor grew from {filled} to {last} KB");
        assert!(last_heap <= filled_heap + SLACK_KB, "the page grew from {filled_heap} to {last_heap} KB");
    }
    drop(lazy);
}
