//! From the bytes of a board to the numbers of a viewer.

mod support;

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use quaver_monitor::Stop;
use quaver_monitor::hub::{Connection, Cursor, Hub};
use quaver_monitor::reader::{self, Format};
use quaver_monitor::record::Recording;
use quaver_monitor::source::Source;
use quaver_telemetry::Sample;
use support::device::{Board, INPUTS, OUTPUTS, TcpBoard, sample};
use support::watcher::{Row, Watcher, get};
use support::{Monitor, eventually, settings};

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// A row must have the bits that the board sent, NaN included.
fn assert_is(row: &Row, sent: &Sample<Vec<f32>>) {
    let values = [&sent.row[..], &sent.mean, &sent.epistemic, &sent.aleatoric].concat();
    assert_eq!(bits(&row.values), bits(&values), "row {}", row.number);
    assert_eq!(row.surprise.to_bits(), sent.surprise.unwrap_or(f32::NAN).to_bits());
    assert_eq!((row.late, row.flags & 2 != 0), (sent.late, sent.anomalous));
    assert_eq!(row.step_us, sent.step_ns as f32 / 1e3);
}

#[test]
fn a_viewer_gets_the_bits_that_were_sent() {
    let mut device = TcpBoard::new();
    let monitor = Monitor::start(settings(device.source()));
    let mut watcher = Watcher::connect(monitor.port());
    device.hello();
    device.rows(3000);
    watcher.until("3000 rows", |watcher| watcher.rows.len() == 3000);
    for (number, row) in (0..).zip(&watcher.rows) {
        assert_eq!(row.number, number);
        assert_is(row, &sample(number));
        assert_eq!(row.flags & 1 != 0, number == 0);
    }
    let layout = watcher.layout.clone().expect("a layout");
    assert_eq!(
        (layout["device"].as_str(), layout["inputs"][3]["name"].as_str()),
        (Some("emulated board"), Some("emg3"))
    );
    assert_eq!(
        (layout["outputs"][3]["unit"].as_str(), layout["rate_hz"].as_f64()),
        (Some("N"), Some(1000.0))
    );
    watcher.until("a status", |watcher| {
        watcher.status.as_ref().is_some_and(|status| status["rows"] == 3000 && status["frames"] == 3001)
    });
    let status = watcher.status.expect("a status");
    assert_eq!((status["lost"].as_u64(), status["damaged"].as_u64()), (Some(0), Some(0)));
    // Times are those of the board: 1 ms apart, to the microsecond.
    assert!((status["rate_hz"].as_f64().expect("a rate") - 1000.0).abs() < 1e-3, "{status}");
    assert!(status["jitter_ms"].as_f64().expect("a jitter") < 1e-3, "{status}");
}

#[cfg(unix)]
#[test]
fn a_serial_port_is_read_and_opened_again() {
    use serialport::SerialPort;
    let (mut port, far_end) = serialport::TTYPort::pair().expect("a pseudo terminal");
    let name = far_end.name().expect("a name");
    let monitor = Monitor::start(settings(Source::Serial(name, 115_200)));
    eventually("the port is open", || matches!(monitor.hub.status().connection, Connection::Connected(_)));
    let mut board = Board::default();
    port.write_all(&board.hello()).expect("a terminal");
    for _ in 0..200 {
        port.write_all(&board.frame()).expect("a terminal");
    }
    let mut watcher = Watcher::connect(monitor.port());
    watcher.until("200 rows", |watcher| watcher.rows.len() == 200);
    (0..).zip(&watcher.rows).for_each(|(number, row)| assert_is(row, &sample(number)));
    drop((port, far_end));
    eventually("the port is gone", || matches!(monitor.hub.status().connection, Connection::Waiting(_)));
    watcher.until("the viewer learns it", |watcher| {
        watcher.status.as_ref().is_some_and(|status| status["connection"]["state"] == "waiting")
    });
}

#[test]
fn a_connection_that_ends_is_opened_again() {
    let mut device = TcpBoard::new();
    let monitor = Monitor::start(settings(device.source()));
    let mut watcher = Watcher::connect(monitor.port());
    device.hello();
    device.rows(10);
    device.hang_up();
    device.board = Board::default();
    device.hello();
    device.rows(10);
    watcher.until("20 rows", |watcher| watcher.rows.len() == 20);
    let begins: Vec<u64> =
        watcher.rows.iter().filter(|row| row.flags & 1 != 0).map(|row| row.number).collect();
    assert_eq!(begins, [0, 10], "a sequence begins with each connection");
    let status = monitor.hub.status();
    assert_eq!((status.reconnects, status.lost, status.frames), (1, 0, 22));
}

#[test]
fn damage_and_loss_are_counted_and_survived() {
    let mut device = TcpBoard::new();
    let monitor = Monitor::start(settings(device.source()));
    let mut watcher = Watcher::connect(monitor.port());
    device.hello();
    device.rows(5);
    device.board.lose(3);
    device.rows(5);
    let mut frame = device.board.frame();
    frame[20] ^= 0x55;
    device.send(&frame);
    device.send(b"a message of the board\n>> no value\n");
    device.rows(5);
    watcher.until("15 rows", |watcher| watcher.rows.len() == 15);
    let sent: Vec<u64> = (0..5).chain(8..13).chain(14..19).collect();
    sent.iter().zip(&watcher.rows).for_each(|(number, row)| assert_is(row, &sample(*number)));
    let begins: Vec<usize> = (0..15).filter(|index| watcher.rows[*index].flags & 1 != 0).collect();
    assert_eq!(begins, [0, 5, 10]);
    let status = monitor.hub.status();
    assert_eq!(status.lost, 4, "three that were never sent, and one that was damaged");
    assert!(status.damaged >= 1);
    assert_eq!(status.messages, ["a message of the board"]);
}

#[test]
fn lines_of_text_become_rows() {
    let mut device = TcpBoard::new();
    let monitor = Monitor::start(settings(device.source()));
    let mut watcher = Watcher::connect(monitor.port());
    for row in 0..20 {
        device.send(
            format!(">x:{row}.5§mV\n>force:{row}\n>force.low:{}\n>force.high:{}\n", row - 1, row + 1)
                .as_bytes(),
        );
    }
    // The last row ends where the next begins.
    watcher.until("19 rows", |watcher| watcher.rows.len() == 19);
    assert_eq!(watcher.rows[7].values[..2], [7.5, 7.0]);
    assert_eq!(watcher.layout.expect("a layout")["has_parts"], false);
}

#[test]
fn many_viewers_get_every_row_and_one_that_never_reads_slows_nobody() {
    const ROWS: u64 = 20_000;
    let mut device = TcpBoard::new();
    let monitor = Monitor::start(settings(device.source()));
    // Opens a WebSocket and never reads again.
    let lazy = Watcher::connect(monitor.port());
    let port = monitor.port();
    let watch = move || {
        let mut watcher = Watcher::connect(port);
        watcher.until("all rows", |watcher| watcher.next == Some(ROWS));
        (watcher.counted, watcher.skipped)
    };
    let watchers: Vec<_> = (0..8).map(|_| thread::spawn(watch)).collect();
    eventually("nine viewers", || monitor.hub.status().viewers == 9);
    device.hello();
    let begun = Instant::now();
    for _ in 0..ROWS / 100 {
        device.rows(100);
        thread::sleep(Duration::from_millis(10));
    }
    let seconds = begun.elapsed().as_secs_f64();
    for watcher in watchers {
        assert_eq!(watcher.join().expect("a watcher"), (ROWS, 0), "every row, none skipped");
    }
    let status = monitor.hub.status();
    assert_eq!((status.rows, status.lost), (ROWS, 0));
    assert!(seconds < 10.0, "the device was slowed: {seconds} s");
    drop(lazy);
    eventually("no viewers", || monitor.hub.status().viewers == 0);
}

#[test]
fn a_viewer_that_comes_late_begins_in_the_past() {
    let mut device = TcpBoard::new();
    let monitor = Monitor::start(settings(device.source()));
    device.hello();
    device.rows(500);
    eventually("rows", || monitor.hub.status().rows == 500);
    let mut watcher = Watcher::connect(monitor.port());
    watcher.until("the rows before", |watcher| watcher.rows.len() == 500);
    assert_is(&watcher.rows[0], &sample(0));
}

#[test]
fn only_this_machine_and_this_origin_may_watch() {
    let device = TcpBoard::new();
    let monitor = Monitor::start(settings(device.source()));
    let port = monitor.port();
    let own = format!("127.0.0.1:{port}");
    let page = get(port, "/", &own);
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("Content-Security-Policy: default-src 'none'"));
    assert!(get(port, "/status", "localhost").contains("\"rows\":0"));
    assert!(get(port, "/etc/passwd", &own).starts_with("HTTP/1.1 404"));
    assert!(get(port, "/", "evil.example").starts_with("HTTP/1.1 403"), "DNS rebinding");
    assert!(get(port, "/status", &format!("evil.example:{port}")).starts_with("HTTP/1.1 403"));
    let origin = |origin: &str| Watcher::try_connect(port, &[("Origin", origin)], "/ws").err();
    assert!(origin(&format!("http://{own}")).is_none());
    assert!(origin("http://evil.example").expect("refused").contains("403"));
    assert!(origin("null").expect("refused").contains("403"));
}

#[test]
fn beyond_loopback_a_token_is_required() {
    let device = TcpBoard::new();
    let monitor = Monitor::listening(settings(device.source()), "0.0.0.0:0".parse().expect("an address"));
    let (port, url) = (monitor.port(), monitor.server.url().to_string());
    let query = url.split_once('?').expect("a token").1;
    assert!(get(port, "/", &format!("127.0.0.1:{port}")).starts_with("HTTP/1.1 403"));
    assert!(get(port, &format!("/?{query}"), &format!("127.0.0.1:{port}")).starts_with("HTTP/1.1 200"));
    assert!(Watcher::try_connect(port, &[], "/ws").is_err());
    assert!(Watcher::try_connect(port, &[], "/ws?token=0123456789abcdef").is_err());
    assert!(Watcher::try_connect(port, &[], &format!("/ws?{query}")).is_ok());
}

#[test]
fn strange_requests_are_survived() {
    let device = TcpBoard::new();
    let monitor = Monitor::start(settings(device.source()));
    for bytes in [
        &b"\x16\x03\x01\x02\x00"[..],
        b"GET / HTTP/1.1\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        &[b'a'; 40_000],
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", monitor.port())).expect("a server");
        let _ = stream.write_all(bytes);
    }
    let mut watcher = Watcher::connect(monitor.port());
    watcher.send("no JSON");
    watcher.send("{\"do\": \"record\", \"format\": \"../../etc/passwd\"}");
    watcher.until("two refusals", |watcher| watcher.errors.len() == 2);
}

#[test]
fn viewers_record_to_csv_and_mcap() {
    let mut device = TcpBoard::new();
    let monitor = Monitor::start(settings(device.source()));
    let mut watcher = Watcher::connect(monitor.port());
    device.hello();
    device.rows(10);
    watcher.until("rows", |watcher| watcher.rows.len() == 10);
    for format in ["csv", "mcap"] {
        watcher.send(&format!("{{\"do\": \"record\", \"format\": \"{format}\"}}"));
    }
    let running = |watcher: &Watcher, count: usize, running: bool| {
        let recordings = watcher.status.as_ref().and_then(|status| status["recordings"].as_array().cloned());
        recordings.is_some_and(|all| all.iter().filter(|one| one["is_running"] == running).count() == count)
    };
    watcher.until("both run", |watcher| running(watcher, 2, true));
    thread::sleep(Duration::from_millis(100));
    device.rows(50);
    watcher.until("rows", |watcher| watcher.rows.len() == 60);
    for format in ["csv", "mcap"] {
        watcher.send(&format!("{{\"do\": \"stop\", \"format\": \"{format}\"}}"));
    }
    watcher.until("both ended", |watcher| running(watcher, 2, false));
    let mut ends = Vec::new();
    for file in fs::read_dir(monitor.folder.path()).expect("the folder") {
        let path = file.expect("a file").path();
        let end = path.extension().expect("an end").to_string_lossy().into_owned();
        let bytes = fs::read(&path).expect("a file");
        match end.as_str() {
            "csv" => {
                let text = String::from_utf8(bytes).expect("text");
                let first =
                    text.lines().nth(1).expect("a row").split(',').nth(2).expect("a cell").to_string();
                assert_eq!(first.parse::<f32>().expect("a number").to_bits(), sample(10).row[0].to_bits());
                assert_eq!(text.lines().count(), 51);
            }
            _ => assert_eq!(mcap::MessageStream::new(&bytes).expect("MCAP").count(), 150),
        }
        ends.push(end);
    }
    ends.sort();
    assert_eq!(ends, ["csv", "mcap"]);
}

#[test]
fn a_model_runs_on_rows_that_arrive_as_csv() {
    let model_bytes = include_bytes!("../../runtime/examples/grip_force.qvr");
    let model = quaver::Model::load(model_bytes).expect("the example");
    let names: Vec<&str> = model.checkpoint().input_names().collect();
    let row =
        |number: u32| -> Vec<f32> { (0..8).map(|channel| 5.0 + (number + channel) as f32 % 13.0).collect() };
    let mut device = TcpBoard::new();
    let csv = reader::Settings {
        format: Format::Csv,
        model: Some(model_bytes.to_vec()),
        ..settings(device.source())
    };
    let monitor = Monitor::start(csv);
    let mut watcher = Watcher::connect(monitor.port());
    device.send(format!("{}\n", names.join(",")).as_bytes());
    for number in 0..100 {
        let cells: Vec<String> = row(number).iter().map(f32::to_string).collect();
        device.send(format!("{}\n", cells.join(",")).as_bytes());
        if number == 50 {
            device.send(b"noise on the line\n");
        }
    }
    watcher.until("100 rows", |watcher| watcher.rows.len() == 100);
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut state = model.start_in(&mut words).expect("enough words");
    for (number, shown) in (0..).zip(&watcher.rows) {
        let prediction = model.step(&mut state, &row(number));
        let parts = [&row(number)[..], prediction.mean(), prediction.epistemic(), prediction.aleatoric()];
        assert_eq!(bits(&shown.values), bits(&parts.concat()), "row {number}");
    }
    assert_eq!(monitor.hub.status().damaged, 1);
}

#[test]
fn a_recorded_session_replays_with_its_numbers_and_times() {
    let mut device = TcpBoard::new();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("session.csv");
    let (hub, stop) = (Arc::new(Hub::default()), Stop::default());
    reader::start(settings(device.source()), Arc::clone(&hub), stop.clone()).expect("a reader");
    device.hello();
    device.rows(300);
    let recording = Recording { path: path.clone(), max_rows: Some(300), ..Recording::default() };
    let progress = recording.run(&hub, Cursor::default(), &stop, |_| {}).expect("recorded");
    assert_eq!((progress.rows, progress.sequences), (300, 1));
    stop.set();

    let replay = reader::Settings {
        format: Format::Csv,
        speed: None,
        ..settings(Source::parse(path.to_str(), 0).expect("a file"))
    };
    let hub = Arc::new(Hub::default());
    reader::start(replay, Arc::clone(&hub), Stop::default()).expect("a reader");
    eventually("the end", || matches!(hub.status().connection, Connection::Ended(_)));
    let mut batch = Default::default();
    hub.read(&mut Cursor::default(), u64::MAX, usize::MAX, &mut batch);
    assert_eq!(batch.metas.len(), 300);
    let sequence_and_inputs = 1 + INPUTS;
    for (number, (meta, values)) in (0..).zip(batch.rows()) {
        assert_eq!(bits(&values[sequence_and_inputs - INPUTS..]), bits(&sample(number).row));
        let time = meta.time - batch.metas[0].time;
        assert!((time - number as f64 / 1e3).abs() < 1e-4, "{time}");
    }
    assert_eq!(OUTPUTS, 4);
}

#[test]
fn a_source_that_is_not_there_is_an_error_unless_it_is_waited_for() {
    let gone = Source::Tcp("127.0.0.1:1".into());
    let strict = reader::Settings { wait: false, ..settings(gone.clone()) };
    let error = reader::start(strict, Arc::default(), Stop::default()).expect_err("nothing there");
    assert!(format!("{error:#}").contains("start what listens there"));
    let hub = Arc::new(Hub::default());
    reader::start(settings(gone), Arc::clone(&hub), Stop::default()).expect("a reader");
    eventually("it waits", || matches!(hub.status().connection, Connection::Waiting(_)));
}
