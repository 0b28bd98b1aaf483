//! MCAP files: channels, their schemas, and messages in the order of the file (<https://mcap.dev/spec>).
//!
//! Only records that carry messages are read; indices, attachments and statistics are passed over. Messages
//! stay where they are, in the file or in a decompressed chunk.

use std::collections::HashMap;
use std::io::Read;
use std::ops::Range;

use anyhow::{Context, Result, bail, ensure};
use crc::{CRC_32_ISO_HDLC, Crc};

use crate::memory;

/// First and last bytes of every MCAP file.
pub(crate) const MAGIC: &[u8; 8] = b"\x89MCAP0\r\n";

static CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// Opcodes of records.
mod op {
    pub(super) const FOOTER: u8 = 0x02;
    pub(super) const SCHEMA: u8 = 0x03;
    pub(super) const CHANNEL: u8 = 0x04;
    pub(super) const MESSAGE: u8 = 0x05;
    pub(super) const CHUNK: u8 = 0x06;
    pub(super) const DATA_END: u8 = 0x0f;
}

/// What to do with a file whose end or middle is missing.
const RECOVER: &str = "the recording was not closed, or the file was not copied to its end: `mcap recover FILE -o WHOLE.mcap` saves \
                       what is there";

/// The contents of a file.
pub(super) struct McapFile {
    /// The file, and its decompressed chunks.
    buffers: Vec<Vec<u8>>,
    schemas: HashMap<u16, Schema>,
    channels: HashMap<u16, Channel>,
    messages: Vec<StoredMessage>,
}

/// How the messages of a channel are laid out.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Schema {
    pub(super) name: String,
    pub(super) encoding: String,
    pub(super) text: Vec<u8>,
}

/// A topic with its schema.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Channel {
    pub(super) schema: u16,
    pub(super) topic: String,
    pub(super) encoding: String,
}

/// Where a message is.
struct StoredMessage {
    channel: u16,
    log_time: u64,
    buffer: usize,
    place: Range<usize>,
}

/// A message.
pub(super) struct Message<'f> {
    pub(super) channel: u16,
    /// Nanoseconds.
    pub(super) log_time: u64,
    pub(super) data: &'f [u8],
}

impl McapFile {
    /// Reads the records of a file.
    ///
    /// # Errors
    /// When the file is something else, is damaged, ends too early, or has chunks in a compression that is
    /// not built in.
    pub(super) fn parse(bytes: Vec<u8>) -> Result<Self> {
        check_kind(&bytes)?;
        let mut file = McapFile {
            buffers: vec![bytes],
            schemas: HashMap::new(),
            channels: HashMap::new(),
            messages: Vec::new(),
        };
        let length = file.buffers[0].len();
        file.records(0, MAGIC.len()..length, false)?;
        Ok(file)
    }

    pub(super) fn schema(&self, id: u16) -> Option<&Schema> {
        self.schemas.get(&id)
    }

    pub(super) fn channels(&self) -> impl Iterator<Item = (u16, &Channel)> {
        self.channels.iter().map(|(id, channel)| (*id, channel))
    }

    pub(super) fn messages(&self) -> impl Iterator<Item = Message<'_>> {
        self.messages.iter().map(|message| Message {
            channel: message.channel,
            log_time: message.log_time,
            data: &self.buffers[message.buffer][message.place.clone()],
        })
    }

    /// Reads the records in a part of a buffer: the file, or a chunk.
    fn records(&mut self, buffer: usize, part: Range<usize>, is_chunk: bool) -> Result<()> {
        let mut at = part.start;
        while at < part.end {
            let head = self.buffers[buffer].get(at..part.end).and_then(|rest| rest.first_chunk::<9>());
            let found = head.and_then(|[opcode, length @ ..]| {
                let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
                let end = (at + 9).checked_add(length).filter(|end| *end <= part.end)?;
                Some((*opcode, at + 9..end))
            });
            let Some((opcode, place)) = found else {
                bail!("the file ends in the middle of a record that begins at byte {at}: {RECOVER}");
            };
            if matches!(opcode, op::DATA_END | op::FOOTER) {
                return Ok(());
            }
            let (end, start) = (place.end, at);
            self.record(opcode, buffer, place, is_chunk)
                .with_context(|| format!("the record at byte {start} is damaged"))?;
            at = end;
        }
        ensure!(is_chunk, "the file has no end: {RECOVER}");
        Ok(())
    }

    fn record(&mut self, opcode: u8, buffer: usize, place: Range<usize>, is_chunk: bool) -> Result<()> {
        match opcode {
            op::CHUNK if is_chunk => bail!("a chunk within a chunk"),
            op::CHUNK => return self.chunk(buffer, place),
            op::SCHEMA | op::CHANNEL | op::MESSAGE => {}
            _ => return Ok(()),
        }
        let mut fields = Fields { rest: &self.buffers[buffer][place.clone()] };
        match opcode {
            op::SCHEMA => {
                let id = fields.u16()?;
                let (name, encoding) = (fields.text()?, fields.text()?);
                let length = fields.u32()? as usize;
                let schema = Schema { name, encoding, text: fields.take(length)?.to_vec() };
                let known = self.schemas.entry(id).or_insert_with(|| schema.clone());
                ensure!(*known == schema, "two schemas have the number {id}");
            }
            op::CHANNEL => {
                let (id, schema) = (fields.u16()?, fields.u16()?);
                let channel = Channel { schema, topic: fields.text()?, encoding: fields.text()? };
                let known = self.channels.entry(id).or_insert_with(|| channel.clone());
                ensure!(*known == channel, "two channels have the number {id}");
            }
            _ => {
                let (channel, _sequence) = (fields.u16()?, fields.u32()?);
                let (log_time, _publish_time) = (fields.u64()?, fields.u64()?);
                ensure!(self.channels.contains_key(&channel), "a message of the unknown channel {channel}");
                let place = place.end - fields.rest.len()..place.end;
                self.messages.push(StoredMessage { channel, log_time, buffer, place });
            }
        }
        Ok(())
    }

    fn chunk(&mut self, buffer: usize, place: Range<usize>) -> Result<()> {
        let mut fields = Fields { rest: &self.buffers[buffer][place.clone()] };
        let (_start, _end) = (fields.u64()?, fields.u64()?);
        let (size, crc) = (fields.u64()?, fields.u32()?);
        let compression = fields.text()?;
        let length = usize::try_from(fields.u64()?).unwrap_or(usize::MAX);
        let begin = place.end - fields.rest.len();
        let stored = fields.take(length)?;
        let check = |records: &[u8]| {
            ensure!(crc == 0 || CRC.checksum(records) == crc, "its checksum does not match its contents");
            Ok(())
        };
        if compression.is_empty() {
            check(stored)?;
            return self.records(buffer, begin..begin + length, true);
        }
        let records = decompressed(&compression, stored, size)?;
        check(&records)?;
        let (buffer, length) = (self.buffers.len(), records.len());
        self.buffers.push(records);
        self.records(buffer, 0..length, true)
    }
}

/// Refuses what is not an MCAP file, and says what it seems to be.
fn check_kind(bytes: &[u8]) -> Result<()> {
    if bytes.starts_with(b"SQLite format 3\0") {
        bail!(
            "this bag is an SQLite database: `ros2 bag convert`, or `rosbags-convert`, makes an MCAP file of it"
        );
    }
    if bytes.starts_with(b"#ROSBAG") {
        bail!("this is a bag of ROS 1: `rosbags-convert --dst-storage mcap` makes an MCAP file of it");
    }
    if bytes.starts_with(b"\x28\xb5\x2f\xfd") {
        bail!("this file is compressed as a whole: decompress it with `zstd -d`");
    }
    ensure!(bytes.starts_with(MAGIC), "this is not an MCAP file");
    Ok(())
}

/// The contents of a compressed chunk, which are said to have this size.
fn decompressed(compression: &str, stored: &[u8], size: u64) -> Result<Vec<u8>> {
    memory::check("a chunk", size, memory::available(), "split the recording")?;
    let mut records = Vec::new();
    let read = match compression {
        "zstd" => ruzstd::decoding::StreamingDecoder::new(stored)
            .map_err(|error| anyhow::anyhow!("{error}"))
            .and_then(|decoder| Ok(decoder.take(size.saturating_add(1)).read_to_end(&mut records)?)),
        "lz4" => {
            let decoder = lz4_flex::frame::FrameDecoder::new(stored);
            decoder.take(size.saturating_add(1)).read_to_end(&mut records).map_err(Into::into)
        }
        other => bail!(
            "its chunks are compressed by `{}`; zstd and lz4 can be read: `mcap compress --compression zstd` converts it",
            other.escape_default()
        ),
    };
    read.with_context(|| format!("it cannot be decompressed ({compression})"))?;
    ensure!(records.len() as u64 == size, "it has not the size that it is said to have");
    Ok(records)
}

/// Reads the fields of a record from its start.
struct Fields<'r> {
    rest: &'r [u8],
}

impl<'r> Fields<'r> {
    fn take(&mut self, length: usize) -> Result<&'r [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length).context("it is too short")?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk().context("it is too short")?;
        self.rest = rest;
        Ok(*taken)
    }

    fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Result<String> {
        let length = self.u32()? as usize;
        Ok(std::str::from_utf8(self.take(length)?).context("a text is not UTF-8")?.to_string())
    }
}
