//! Chromium without a window, through its DevTools protocol.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket, client};

use super::watcher::get;

const PROGRAMS: [&str; 3] = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

pub(crate) struct Chromium {
    process: Child,
    socket: WebSocket<TcpStream>,
    number: u64,
    _profile: tempfile::TempDir,
}

impl Chromium {
    /// Opens a page; `None`, with a line that says so, where Chromium is missing.
    pub(crate) fn open(url: &str, width: u32, height: u32) -> Option<Self> {
        let Some(program) = PROGRAMS.iter().find(|program| Path::new(program).exists()) else {
            eprintln!("skipped: Chromium is missing (Debian: apt-get install chromium)");
            return None;
        };
        let profile = tempfile::tempdir().expect("a folder");
        let flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync \
                     --disable-background-networking --disable-component-update --remote-debugging-port=0";
        let process = Command::new(program)
            .args(flags.split_whitespace())
            .arg(format!("--window-size={width},{height}"))
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("Chromium starts");
        let port = debugging_port(&profile.path().join("DevToolsActivePort"));
        let targets = get(port, "/json/list", &format!("127.0.0.1:{port}"));
        let targets: Value =
            serde_json::from_str(targets.split("\r\n\r\n").nth(1).unwrap_or("[]")).expect("JSON");
        let page = targets.as_array().and_then(|all| all.iter().find(|target| target["type"] == "page"));
        let address =
            page.and_then(|page| page["webSocketDebuggerUrl"].as_str()).expect("a page").to_string();
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("DevTools");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket");
        let (socket, _) =
            client(address.into_client_request().expect("a request"), stream).expect("DevTools");
        let mut chromium = Chromium { process, socket, number: 0, _profile: profile };
        chromium.call("Page.enable", json!({}));
        chromium.call("Runtime.enable", json!({}));
        chromium.set_size(width, height);
        chromium.call("Page.navigate", json!({ "url": url }));
        chromium.until("window.quaver");
        Some(chromium)
    }

    pub(crate) fn set_size(&mut self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Calls a method and returns its result.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let number = self.number;
        let call = json!({ "id": number, "method": method, "params": parameters });
        self.socket.send(Message::text(call.to_string())).expect("DevTools");
        loop {
            let Message::Text(text) = self.socket.read().expect("DevTools") else { continue };
            let answer: Value = serde_json::from_str(&text).expect("JSON");
            if answer["id"] == number {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
        }
    }

    /// Value of an expression in the page.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let result = self.call("Runtime.evaluate", parameters);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].clone()
    }

    /// Waits until an expression in the page is true.
    pub(crate) fn until(&mut self, expression: &str) {
        let begun = Instant::now();
        while self.evaluate(&format!("Boolean({expression})")) != json!(true) {
            assert!(begun.elapsed() < Duration::from_secs(60), "waited in vain: {expression}");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// A picture of the page, written to a file.
    pub(crate) fn screenshot(&mut self, path: &Path) {
        let result = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let text = result["data"].as_str().expect("a picture");
        fs::write(path, from_base64(text)).expect("a file");
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn debugging_port(file: &Path) -> u16 {
    let begun = Instant::now();
    loop {
        let text = fs::read_to_string(file).unwrap_or_default();
        if let Some(port) =
            text.lines().next().and_then(|line| line.parse().ok()).filter(|_| text.contains('\n'))
        {
            return port;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "Chromium did not start");
        thread::sleep(Duration::from_millis(50));
    }
}

fn from_base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => u32::from(byte - b'A'),
        b'a'..=b'z' => u32::from(byte - b'a') + 26,
        b'0'..=b'9' => u32::from(byte - b'0') + 52,
        b'+' => 62,
        _ => 63,
    };
    let bytes: Vec<u8> = text.bytes().filter(|byte| *byte != b'=').collect();
    let group = |group: &[u8]| {
        let bits = group.iter().fold(0, |bits, byte| bits << 6 | digit(*byte)) << (6 * (4 - group.len()));
        bits.to_be_bytes()[1..group.len()].to_vec()
    };
    bytes.chunks(4).flat_map(group).collect()
}
