//! Bags that the package `rosbags` has written (`trainer/tests/bags/make.py`), damaged ones, and messages by
//! hand.

use super::cdr::{Sink, stamp, walk};
use super::schema::layout;
use super::*;

const ROBOT: &[u8] = include_bytes!("../../../tests/bags/robot.mcap");
const COMPRESSED: &[u8] = include_bytes!("../../../tests/bags/robot_zstd.mcap");

fn bag(bytes: &[u8]) -> Bag {
    Bag::parse(bytes.to_vec()).unwrap()
}

fn error(bytes: &[u8]) -> String {
    format!("{:#}", Bag::parse(bytes.to_vec()).err().expect("an error"))
}

fn rows(bag: &Bag, columns: &[&str], clock: Option<&str>, max_age: f64) -> BagRows {
    let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
    bag.rows(&columns, &BagConfig { clock: clock.map(String::from), max_age }).unwrap()
}

/// A bag of one topic with two messages, by hand.
pub(crate) fn small() -> Vec<u8> {
    let text = |text: &str| [&(text.len() as u32).to_le_bytes(), text.as_bytes()].concat();
    let record = |opcode: u8, content: Vec<u8>| {
        [&[opcode][..], &(content.len() as u64).to_le_bytes(), &content].concat()
    };
    let schema = [
        vec![1, 0],
        text("p/msg/T"),
        text("ros2msg"),
        text("string[] name\nfloat32[] x\np/V v\n===\nMSG: p/V\nint8[2] y\n"),
    ];
    let channel = [vec![0, 0, 1, 0], text("/t"), text("cdr"), vec![0; 4]];
    let message = |value: f32| {
        let head = [0_u16.to_le_bytes().to_vec(), vec![0; 4 + 16]].concat();
        let names = [&[0, 1, 0, 0][..], &1_u32.to_le_bytes(), &2_u32.to_le_bytes(), b"a\0\0\0"].concat();
        [head, names, 1_u32.to_le_bytes().to_vec(), value.to_le_bytes().to_vec(), vec![3, 4]].concat()
    };
    [
        mcap::MAGIC.to_vec(),
        record(3, schema.concat()),
        record(4, channel.concat()),
        record(5, message(1.5)),
        record(5, message(-2.0)),
        record(15, vec![0; 4]),
    ]
    .concat()
}

#[test]
fn a_bag_by_hand() {
    let bag = bag(&small());
    assert_eq!(bag.names(), ["t.x[a]", "t.v.y[0]", "t.v.y[1]"]);
    assert_eq!(
        rows(&bag, &["t.v.y[1]", "t.x[a]"], None, 1.0).table.sequences[0].values,
        [4.0, 1.5, 4.0, -2.0]
    );
    assert_eq!(bag.only_topic().unwrap(), "/t");
}

#[test]
fn every_number_is_a_column() {
    let names = bag(ROBOT).names();
    let of = |topic: &str| names.iter().filter(|name| name.starts_with(topic)).count();
    // Imu: orientation, rate, acceleration, and three covariances of nine.
    assert_eq!((of("imu."), of("arm/joint_states."), of("command."), of("status.")), (37, 4, 5, 0));
    for name in [
        "imu.angular_velocity.x",
        "imu.orientation_covariance[8]",
        "arm/joint_states.position[elbow]",
        "command.data[1]",
    ] {
        assert!(names.iter().any(|own| own == name), "{name} is not among {names:?}");
    }
    assert!(names.iter().all(|name| !name.contains("stamp")));
}

#[test]
fn values_are_those_that_were_written() {
    let bag = bag(ROBOT);
    let found = rows(&bag, &["imu.angular_velocity.z", "imu.linear_acceleration.x"], None, 0.5);
    assert_eq!((found.table.sequences.len(), found.times.len()), (1, 40));
    // The stamp, not the time of logging, 5 ms later.
    assert_eq!((found.times[0], found.times[39]), (100_000_000_000, 100_390_000_000));
    for (k, row) in found.table.sequences[0].iter().enumerate() {
        assert_eq!(row, [k as f32 / 2.0, (k * k) as f32]);
    }
    // Joints by their names, whatever their order in a message.
    let found =
        rows(&bag, &["arm/joint_states.position[elbow]", "arm/joint_states.effort[shoulder]"], None, 0.5);
    for (k, row) in found.table.sequences[0].iter().enumerate() {
        assert_eq!(row, [-(k as f32), k as f32 / 2.0]);
    }
}

#[test]
fn other_topics_contribute_their_last_message_unless_it_is_too_old() {
    let bag = bag(ROBOT);
    let columns = ["imu.angular_velocity.x", "arm/joint_states.position[shoulder]", "command.data[0]"];
    let found = rows(&bag, &columns, None, 0.045);
    assert!(
        found.notes[0].starts_with("rows are the 40 messages of `/imu`, one every 10.000 ms"),
        "{:?}",
        found.notes
    );
    for (k, row) in found.table.sequences[0].iter().enumerate() {
        let now = 10 * k as i64;
        let last = |begin: i64, period: i64, count: i64, oldest: i64| {
            let index = (now - begin).div_euclid(period).min(count - 1);
            (index >= 0 && now - begin - index * period <= oldest).then_some(index as f32)
        };
        let (joint, command) = (last(4, 20, 20, 45), last(100, 50, 4, 45));
        let same =
            |found: f32, expected: Option<f32>| expected.map_or(found.is_nan(), |value| found == value);
        assert!(row[0] == k as f32 && same(row[1], joint) && same(row[2], command), "{k}: {row:?}");
    }
    let slow = rows(&bag, &columns, Some("command"), 0.5);
    assert_eq!(slow.times, [100_100_000_000, 100_150_000_000, 100_200_000_000, 100_250_000_000]);
    assert_eq!(slow.table.sequences[0].row(1), [15.0, 7.0, 1.0]);
}

#[test]
fn columns_and_clocks_that_are_not_there_are_named_with_those_that_are() {
    let bag = bag(ROBOT);
    let error = |columns: &[&str], clock: &str| {
        let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
        let config = BagConfig { clock: Some(clock.into()), max_age: 1.0 };
        format!("{:#}", bag.rows(&columns, &config).err().expect("an error"))
    };
    assert!(
        error(&["imu.x"], "imu").starts_with("no column `imu.x`; the columns are arm/joint_states.position")
    );
    let found = error(&["command.data[0]"], "/emu");
    assert_eq!(found, "no topic `/emu` for the clock; there are /arm/joint_states, /command, /imu, /status");
    assert!(bag.only_topic().unwrap_err().to_string().contains("/arm/joint_states, /command, /imu"));
}

#[test]
fn compressed_chunks_hold_the_same() {
    let (plain, compressed) = (bag(ROBOT), bag(COMPRESSED));
    assert_eq!(plain.names(), compressed.names());
    let all: Vec<String> = plain.names();
    let read = |bag: &Bag| bag.rows(&all, &BagConfig::default()).unwrap();
    let bits = |rows: BagRows| rows.table.sequences[0].values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(read(&plain)), bits(read(&compressed)));
}

/// The place of some bytes.
fn find(bytes: &[u8], wanted: &[u8]) -> usize {
    bytes.windows(wanted.len()).position(|part| part == wanted).expect("these bytes")
}

#[test]
fn chunks_of_lz4_and_of_unknown_compressions() {
    // The chunk of the plain file, compressed.
    let place = find(ROBOT, &[0x06]);
    let field = |at: usize| u64::from_le_bytes(ROBOT[at..at + 8].try_into().unwrap()) as usize;
    let (begin, length) = (place + 9, field(place + 1));
    let records = &ROBOT[begin + 40..begin + length];
    assert_eq!(&ROBOT[begin + 28..begin + 32], [0; 4], "no compression");
    assert_eq!(field(begin + 32), records.len());
    // Of these records, whatever is stored: `rosbags` writes no checksums.
    let crc = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(records).to_le_bytes();
    let rebuilt = |name: &[u8], stored: &[u8]| {
        let lengths = ((name.len() as u32).to_le_bytes(), (stored.len() as u64).to_le_bytes());
        let chunk = [&ROBOT[begin..begin + 24], &crc, &lengths.0, name, &lengths.1, stored].concat();
        let chunk_length = (chunk.len() as u64).to_le_bytes();
        [&ROBOT[..place + 1], &chunk_length, &chunk, &ROBOT[begin + length..]].concat()
    };
    let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
    std::io::Write::write_all(&mut encoder, records).unwrap();
    let lz4 = encoder.finish().unwrap();
    assert_eq!(bag(&rebuilt(b"lz4", &lz4)).names(), bag(ROBOT).names());
    let error = |name: &[u8], stored: &[u8]| error(&rebuilt(name, stored));
    assert!(error(b"brotli", records).contains("compressed by `brotli`; zstd and lz4 can be read"));
    for name in [&b"lz4"[..], b"zstd"] {
        assert!(error(name, &records[..100]).contains("it cannot be decompressed"));
    }
    assert!(
        error(b"", &[&records[..records.len() - 1], b"x"].concat()).contains("its checksum does not match")
    );
}

#[test]
fn files_of_other_kinds_are_told_apart() {
    assert!(error(b"SQLite format 3\0...").contains("ros2 bag convert"));
    assert!(error(b"#ROSBAG V2.0\n").contains("ROS 1"));
    assert_eq!(error(b"time,a\n"), "this is not an MCAP file");
}

#[test]
fn a_file_that_ends_too_early_is_refused_wherever_it_ends() {
    for bytes in [ROBOT, COMPRESSED] {
        let end = find(bytes, b"\x0f\x04\0\0\0\0\0\0\0");
        for length in (8..end).step_by(97).chain([end]) {
            let error = error(&bytes[..length]);
            assert!(error.contains("mcap recover"), "{length} bytes: {error}");
        }
    }
}

#[derive(Default)]
struct Collected {
    numbers: Vec<(String, f64)>,
    long: Vec<(String, usize)>,
}

impl Sink for Collected {
    fn number(&mut self, path: &str, value: f64) {
        self.numbers.push((path.to_string(), value));
    }

    fn long_array(&mut self, path: &str, length: usize) {
        self.long.push((path.to_string(), length));
    }
}

fn collected(text: &str, message: &[u8]) -> Result<Collected> {
    let mut found = Collected::default();
    walk(&layout("p/T", text)?, message, &mut found)?;
    Ok(found)
}

#[test]
fn numbers_are_aligned_and_may_begin_with_either_end() {
    let text = "bool on\nint16 a\nuint8 b\nfloat64 c\nstring s\nuint32 d\nint64 e\nint8[3] f\n";
    let little: &[u8] = &[
        0, 1, 0, 0, // plain CDR, least byte first
        1, 0, 0xfe, 0xff, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, // on, a, b, c, aligned to 8
        3, 0, 0, 0, b'h', b'i', 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, // "hi", d, and what aligns e
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 0xfd, // e, f
    ];
    let big: &[u8] = &[
        0, 0, 0, 0, // most byte first
        1, 0, 0xff, 0xfe, 7, 0, 0, 0, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0, //
        0, 0, 0, 3, b'h', b'i', 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, //
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 0xfd,
    ];
    let expected = [
        ("on", 1.0),
        ("a", -2.0),
        ("b", 7.0),
        ("c", 1.5),
        ("d", 5.0),
        ("e", -1.0),
        ("f[0]", 1.0),
        ("f[1]", 2.0),
        ("f[2]", -3.0),
    ];
    for message in [little, big] {
        let found = collected(text, message).unwrap().numbers;
        assert_eq!(found, expected.map(|(path, value)| (path.to_string(), value)));
        for length in 0..message.len() {
            assert!(collected(text, &message[..length]).is_err(), "{length} bytes");
        }
    }
    let error = collected(text, &[0, 7, 0, 0]).err().unwrap().to_string();
    assert_eq!(error, "it is in the representation 0x0007; plain CDR can be read");
}

#[test]
fn arrays_have_limits() {
    let count = |count: u32| [&[0, 1, 0, 0][..], &count.to_le_bytes()].concat();
    assert!(collected("float64[] x", &count(u32::MAX)).is_err());
    assert!(collected("p/E[] x\n===\nMSG: p/E\nuint8[0] none", &count(u32::MAX)).is_err());
    let long = collected("uint8[] x\nuint8 y", &[count(300), vec![9; 301]].concat()).unwrap();
    assert_eq!((long.long, long.numbers), (vec![("x".to_string(), 300)], vec![("y".to_string(), 9.0)]));
}

#[test]
fn stamps_are_those_of_headers() {
    let header =
        "std_msgs/Header header\n===\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n";
    let message = [&[0, 1, 0, 0][..], &7_i32.to_le_bytes(), &5_u32.to_le_bytes(), &[0; 4]].concat();
    assert_eq!(stamp(&layout("p/T", header).unwrap(), &message), Some(7_000_000_005));
    let unset = [&[0, 1, 0, 0][..], &[0; 12]].concat();
    assert_eq!(stamp(&layout("p/T", header).unwrap(), &unset), None);
    assert_eq!(stamp(&layout("p/T", "int32 sec\nuint32 nanosec").unwrap(), &message), None);
}
