//! A board that is not there: frames as one would send them, over TCP or a pseudo terminal.

use std::io::Write;
use std::net::{TcpListener, TcpStream};

use quaver_monitor::source::Source;
use quaver_telemetry::{Channel, Encoder, Hello, List, Sample, VERSION, hello_bytes, sample_bytes};

pub(crate) const INPUTS: usize = 16;
pub(crate) const OUTPUTS: usize = 4;

/// Row `number` of the board: any numbers, the same in every run, with missing channels.
pub(crate) fn sample(number: u64) -> Sample<Vec<f32>> {
    let phase = |channel: usize| number as f32 * (0.002 + 0.0007 * channel as f32) + channel as f32;
    let input = |channel: usize| match channel {
        5 if number / 1500 % 4 == 3 => f32::NAN,
        9 if number % 97 < 3 => f32::NAN,
        _ => 20.0 * phase(channel).sin() + 3.0 * (phase(channel) * 9.0).cos() + 1.7 * channel as f32,
    };
    let is_odd = number % 4200 > 4150;
    Sample {
        time_us: 1_000_000 + number * 1000,
        step_ns: 890_000 + (number % 37) as u32 * 1000,
        late: (number / 50_000) as u32,
        dropped: 0,
        surprise: Some(3.0 + (number as f32 * 0.05).sin() + if is_odd { 9.0 } else { 0.0 }),
        anomalous: is_odd,
        row: (0..INPUTS).map(input).collect(),
        mean: (0..OUTPUTS).map(|output| 30.0 + 25.0 * (phase(output) * 0.5).sin()).collect(),
        epistemic: (0..OUTPUTS)
            .map(|output| 2.0 + 1.5 * phase(output + 3).sin() + f32::from(u8::from(is_odd)))
            .collect(),
        aleatoric: (0..OUTPUTS).map(|output| 9.0 + 6.0 * (phase(output) * 0.3).sin()).collect(),
    }
}

/// Numbers and encodes frames.
#[derive(Default)]
pub(crate) struct Board {
    encoder: Encoder,
    next: u64,
}

impl Board {
    pub(crate) fn hello(&mut self) -> Vec<u8> {
        let names: Vec<String> = (0..INPUTS.max(OUTPUTS)).map(|index| format!("emg{index}")).collect();
        let fingers = ["thumb", "index", "middle", "grip"];
        let inputs = List(names[..INPUTS].iter().map(|name| Channel { name: name.as_str(), unit: "mV" }));
        let outputs = List(fingers.iter().map(|name| Channel { name: *name, unit: "N" }));
        let hello =
            Hello { version: VERSION, device: "emulated board", model: 7, rate_hz: 1000.0, inputs, outputs };
        let mut buffer = vec![0; hello_bytes(INPUTS + OUTPUTS, 600)];
        self.encoder.hello(&hello, &mut buffer).expect("enough room").to_vec()
    }

    /// The next row as a frame.
    pub(crate) fn frame(&mut self) -> Vec<u8> {
        let sample = sample(self.next);
        self.next += 1;
        let mut buffer = [0; sample_bytes(INPUTS, OUTPUTS)];
        let Sample { time_us, step_ns, late, dropped, surprise, anomalous, .. } = sample;
        let (row, mean) = (&sample.row[..], &sample.mean[..]);
        let (epistemic, aleatoric) = (&sample.epistemic[..], &sample.aleatoric[..]);
        let borrowed =
            Sample { time_us, step_ns, late, dropped, surprise, anomalous, row, mean, epistemic, aleatoric };
        self.encoder.sample(&borrowed, &mut buffer).expect("enough room").to_vec()
    }

    /// Leaves rows out, as a line does that loses frames.
    pub(crate) fn lose(&mut self, rows: u64) {
        (0..rows).for_each(|_| drop(self.frame()));
    }

    /// Rows so far.
    pub(crate) fn rows(&self) -> u64 {
        self.next
    }
}

/// A board behind a TCP port.
pub(crate) struct TcpBoard {
    listener: TcpListener,
    pub(crate) board: Board,
    stream: Option<TcpStream>,
}

impl TcpBoard {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        TcpBoard { listener, board: Board::default(), stream: None }
    }

    pub(crate) fn source(&self) -> Source {
        Source::Tcp(self.listener.local_addr().expect("an address").to_string())
    }

    /// Sends bytes to whoever has connected, or waits for that.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        let listener = &self.listener;
        let stream = self.stream.get_or_insert_with(|| {
            let (stream, _) = listener.accept().expect("a monitor");
            stream.set_nodelay(true).expect("a socket");
            stream
        });
        stream.write_all(bytes).expect("a monitor that reads");
    }

    pub(crate) fn hello(&mut self) {
        let bytes = self.board.hello();
        self.send(&bytes);
    }

    pub(crate) fn rows(&mut self, count: u64) {
        for _ in 0..count {
            let bytes = self.board.frame();
            self.send(&bytes);
        }
    }

    /// Ends the connection; the next bytes wait for another.
    pub(crate) fn hang_up(&mut self) {
        self.stream = None;
    }
}
