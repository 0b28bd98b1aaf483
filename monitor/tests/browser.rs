//! The page in Chromium: the numbers on it are those that were sent. Skipped, with a line, without Chromium.

mod support;

use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::json;
use support::chromium::Chromium;
use support::device::{INPUTS, OUTPUTS, TcpBoard, sample};
use support::{Monitor, settings};

/// FNV-1a over the bits of all values of the store, in the page and here.
const DIGEST: &str = "(() => {
  const { store } = window.quaver;
  let hash = 0x811c9dc5;
  const word = new DataView(new ArrayBuffer(4));
  for (let row = 0; row < store.received; row++) {
    for (const column of [...store.columns, store.surprise]) {
      word.setFloat32(0, column[row], true);
      for (let byte = 0; byte < 4; byte++) hash = Math.imul(hash ^ word.getUint8(byte), 0x01000193) >>> 0;
    }
  }
  return hash;
})()";

fn digest(rows: u64) -> u32 {
    let hash = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    (0..rows).fold(0x811c_9dc5, |sum, number| {
        let sent = sample(number);
        let surprise = sent.surprise.unwrap_or(f32::NAN);
        let values = [&sent.row[..], &sent.mean, &sent.epistemic, &sent.aleatoric, &[surprise]].concat();
        values.iter().flat_map(|value| value.to_le_bytes()).fold(sum, hash)
    })
}

#[test]
fn the_page_shows_what_was_sent() {
    let mut device = TcpBoard::new();
    let monitor = Monitor::start(settings(device.source()));
    let Some(mut page) = Chromium::open(monitor.server.url(), 1400, 1000) else { return };
    device.hello();
    for _ in 0..60 {
        device.rows(100);
        thread::sleep(Duration::from_millis(20));
    }
    page.until("window.quaver.store?.received === 6000");
    assert_eq!(page.evaluate(DIGEST), json!(digest(6000)), "bit for bit");
    page.until("document.querySelectorAll('#inputs canvas').length === 16");
    assert_eq!(page.evaluate("document.querySelectorAll('#outputs .card').length"), json!(2 * OUTPUTS));
    page.until("document.querySelector('#tiles')?.innerText.includes('1000 Hz')");
    assert_eq!(
        page.evaluate("document.querySelectorAll('#inputs .badge:not([hidden])').length"),
        json!(missing(5999))
    );
    let last = sample(5999);
    let std_dev = (last.epistemic[0] + last.aleatoric[0]).sqrt();
    let shown = format!("{:.2} ± {std_dev:.3} N", last.mean[0]);
    page.until(&format!("document.querySelector('#outputs .value').textContent === '{shown}'"));

    // Paused, the picture stays while rows go on; zoomed, all plots show the same stretch.
    page.evaluate("document.getElementById('pause').click()");
    device.rows(100);
    page.until("window.quaver.store.received === 6100");
    assert_eq!(page.evaluate("window.quaver.shown.received"), json!(6000));
    page.evaluate("window.quaver.zoomTo(window.quaver.shown.lastTime - 2, window.quaver.shown.lastTime - 1)");
    let seconds = "window.quaver.charts.filter((chart) => chart.visible).every((chart) => \
                   Math.abs(chart.plot.scales.x.max - chart.plot.scales.x.min - 1) < 1e-9)";
    assert_eq!(page.evaluate(seconds), json!(true));
    page.evaluate("document.getElementById('live').click()");
    assert_eq!(page.evaluate("window.quaver.shown.received"), json!(6100));

    page.evaluate("document.getElementById('record-csv').click()");
    page.until("document.getElementById('record-csv').textContent === 'Stop CSV'");
    device.rows(200);
    page.until("document.getElementById('recordings').textContent.includes('200 rows')");
    page.evaluate("document.getElementById('record-csv').click()");
    page.until("document.getElementById('recordings').textContent.startsWith('Recorded ')");

    device.hang_up();
    drop(device);
    page.until("document.getElementById('connection').className === 'waiting'");
    if let Ok(folder) = std::env::var("QUAVER_SCREENSHOTS") {
        page.screenshot(&Path::new(&folder).join("lost.png"));
    }
}

fn missing(number: u64) -> usize {
    sample(number).row.iter().filter(|value| value.is_nan()).count()
}

/// Pictures for people: `QUAVER_SCREENSHOTS=DIR cargo test -p quaver-monitor --test browser`.
#[test]
fn pictures_are_taken_where_they_are_asked_for() {
    let Ok(folder) = std::env::var("QUAVER_SCREENSHOTS") else { return };
    let mut device = TcpBoard::new();
    let monitor = Monitor::start(settings(device.source()));
    let Some(mut page) = Chromium::open(monitor.server.url(), 1400, 1500) else { return };
    device.hello();
    for _ in 0..120 {
        device.rows(100);
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(INPUTS, 16);
    page.until("window.quaver.store.received === 12000");
    let mut take = |name: &str, width: u32, height: u32, scheme: &str| {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        page.call("Emulation.setEmulatedMedia", features);
        page.set_size(width, height);
        thread::sleep(Duration::from_millis(600));
        page.screenshot(&Path::new(&folder).join(name));
    };
    take("light.png", 1400, 1500, "light");
    take("dark.png", 1400, 1500, "dark");
    take("phone.png", 390, 1600, "light");
    take("whole.png", 1400, 2300, "light");
}
