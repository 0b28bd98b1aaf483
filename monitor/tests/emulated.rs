//! A board in QEMU, watched: every row on the page has the bits that the runtime computes here.
//!
//! ```sh
//! (cd firmware-examples/netduinoplus2 && cargo build --release)
//! QUAVER_BOARD_IMAGE=…/thumbv7em-none-eabihf/release/replay cargo test -p quaver-monitor --test emulated
//! ```
//! Skipped, with a line, without an image or QEMU.

mod support;

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use quaver::Model;
use quaver_monitor::source::Source;
use serde_json::Value;
use support::chromium::Chromium;
use support::watcher::Watcher;
use support::{Monitor, settings};

const MODEL: &[u8] = include_bytes!("../../runtime/examples/grip_force.qvr");
const ROWS: usize = 200;

/// The emulator, ended when this is dropped.
struct Emulator(Child);

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn emulator(serial: &str) -> Option<Command> {
    let Some(image) = std::env::var_os("QUAVER_BOARD_IMAGE").map(PathBuf::from) else {
        eprintln!("skipped: QUAVER_BOARD_IMAGE names no image of firmware-examples/netduinoplus2");
        return None;
    };
    if Command::new("qemu-system-arm").arg("--version").output().is_err() {
        eprintln!("skipped: QEMU is missing (`cargo xtask setup`)");
        return None;
    }
    let mut command = Command::new("qemu-system-arm");
    command.args([
        "-nographic",
        "-monitor",
        "none",
        "-machine",
        "netduinoplus2",
        "-serial",
        serial,
        "-kernel",
    ]);
    command.arg(image).stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::piped());
    Some(command)
}

/// Steps the model on the inputs that arrived, from the first row on, and compares all predictions.
fn assert_predictions(rows: &[Vec<f32>]) {
    let model = Model::load(MODEL).expect("the example");
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut state = model.start_in(&mut words).expect("enough words");
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    for (number, row) in rows.iter().enumerate() {
        let (inputs, predicted) = row.split_at(model.spec().inputs.into());
        let expected = model.step(&mut state, inputs);
        let expected = [expected.mean(), expected.epistemic(), expected.aleatoric()].concat();
        assert_eq!(bits(predicted), bits(&expected), "row {number}");
    }
}

#[test]
fn a_board_behind_tcp_shows_the_bits_of_this_machine() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    // The board waits for the monitor, so that its first row is the first that arrives.
    let Some(mut command) = emulator(&format!("tcp:127.0.0.1:{free},server=on,wait=on")) else { return };
    let _emulator = Emulator(command.spawn().expect("QEMU starts"));
    let monitor = Monitor::start(settings(Source::Tcp(format!("127.0.0.1:{free}"))));
    let mut watcher = Watcher::connect(monitor.port());
    watcher.until("rows of the board", |watcher| watcher.rows.len() >= ROWS);
    let rows: Vec<Vec<f32>> = watcher.rows.iter().map(|row| row.values.clone()).collect();
    assert_predictions(&rows);
    let status = monitor.hub.status();
    assert_eq!((status.lost, status.damaged), (0, 0));

    let Some(mut page) = Chromium::open(monitor.server.url(), 1180, 760) else { return };
    page.until(&format!("window.quaver.store?.received >= {ROWS}"));
    let store = "(() => { const { store } = window.quaver; const word = new DataView(new ArrayBuffer(4));
        const bits = (value) => { word.setFloat32(0, value); return word.getUint32(0); };
        return Array.from({ length: store.received }, (_, row) => store.columns.map((column) => bits(column[row]))); })()";
    let shown: Value = page.evaluate(store);
    let number = |value: &Value| f32::from_bits(value.as_u64().expect("bits") as u32);
    let row = |row: &Value| row.as_array().expect("a row").iter().map(number).collect();
    let shown: Vec<Vec<f32>> = shown.as_array().expect("rows").iter().map(row).collect();
    assert!(shown.len() >= ROWS);
    assert_predictions(&shown);
    if let Ok(folder) = std::env::var("QUAVER_SCREENSHOTS") {
        std::thread::sleep(std::time::Duration::from_secs(8));
        page.screenshot(&PathBuf::from(folder).join("board.png"));
    }
}

#[cfg(unix)]
#[test]
fn a_board_behind_a_pseudo_terminal_is_a_serial_port() {
    let Some(mut command) = emulator("pty") else { return };
    let mut emulator = Emulator(command.spawn().expect("QEMU starts"));
    let mut lines = BufReader::new(emulator.0.stdout.take().expect("a pipe")).lines();
    let line = lines.find_map(|line| line.ok().filter(|line| line.contains("/dev/"))).expect("a terminal");
    let port =
        line.split_whitespace().find(|word| word.starts_with("/dev/")).expect("a terminal").to_string();
    let monitor = Monitor::start(settings(Source::Serial(port, 115_200)));
    let mut watcher = Watcher::connect(monitor.port());
    watcher.until("rows of the board", |watcher| watcher.rows.len() >= ROWS);
    let layout = watcher.layout.clone().expect("a layout");
    assert_eq!(
        (layout["device"].as_str(), layout["rate_hz"].as_f64()),
        (Some("netduinoplus2 replay"), Some(50.0))
    );
    let status = monitor.hub.status();
    assert_eq!((status.lost, status.damaged), (0, 0));
}
