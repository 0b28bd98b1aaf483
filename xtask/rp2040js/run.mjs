// Runs an image for the RP2040, and writes what it sends by UART 0 into a file until there are enough bytes.
//
// Usage: node run.mjs IMAGE OUT BYTES

import { readFileSync, writeFileSync } from 'node:fs';
import { ConsoleLogger, LogLevel, RP2040 } from 'rp2040js';

const FLASH = 0x10000000;
// Behind the second-stage boot loader, which sets up a flash chip that is not emulated.
const VECTORS = 0x10000100;
const VTOR = 0xe000ed08;
const CYCLE_NS = 8; // 125 MHz
const MAX_SECONDS = 60; // of the board's time
const PF_LOAD = 1;

const [image, out, wanted] = process.argv.slice(2);
if (!wanted) {
  console.error('usage: node run.mjs IMAGE OUT BYTES');
  process.exit(2);
}

/** Copies the segments of a 32-bit ELF file to their addresses in flash. */
function load(elf, flash) {
  const view = new DataView(elf.buffer, elf.byteOffset, elf.byteLength);
  const [offset, size, count] = [view.getUint32(28, true), view.getUint16(42, true), view.getUint16(44, true)];
  for (let index = 0; index < count; index++) {
    const field = (number) => view.getUint32(offset + index * size + 4 * number, true);
    const [type, begin, , address, bytes] = [0, 1, 2, 3, 4].map(field);
    if (type === PF_LOAD && bytes > 0 && address >= FLASH) {
      flash.set(elf.subarray(begin, begin + bytes), address - FLASH);
    }
  }
}

const board = new RP2040();
const clock = board.clock;
board.logger = new ConsoleLogger(LogLevel.Error, true);
load(readFileSync(image), board.flash);

const sent = [];
board.uart[0].onByte = (byte) => sent.push(byte);

let stopped = null;
board.onBreak = (code) => (stopped = `breakpoint ${code}`);

board.core.SP = board.readUint32(VECTORS);
board.core.PC = board.readUint32(VECTORS + 4) & ~1;
board.writeUint32(VTOR, VECTORS);

while (sent.length < Number(wanted) && stopped === null) {
  if (clock.nanos > MAX_SECONDS * 1e9) {
    stopped = `${MAX_SECONDS} s of the board's time`;
  } else if (board.core.waiting) {
    // The emulator leaves a sleep when an interrupt is pending, not at an event: handlers end in one.
    clock.tick(clock.nanosToNextAlarm);
    board.core.waiting = false;
  } else {
    clock.tick(board.core.executeInstruction() * CYCLE_NS);
  }
}
writeFileSync(out, Uint8Array.from(sent));
if (stopped !== null) {
  console.error(`error: ended by ${stopped} after ${sent.length} of ${wanted} bytes`);
  process.exit(1);
}
console.log(`${sent.length} bytes in ${(clock.nanos / 1e9).toFixed(2)} s of the board's time`);
