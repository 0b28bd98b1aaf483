/* The last rows, in typed arrays of fixed size: the page runs for hours without growing. */

const HEAD = 32;
const ROW_HEAD = 40;
const MAX_POINTS = 1 << 17;
const MAX_NUMBERS = 8 << 20;

class Store {
  constructor(layout) {
    this.layout = layout;
    this.inputs = layout.inputs.length;
    this.outputs = layout.outputs.length;
    this.width = this.inputs + 3 * this.outputs;
    this.capacity = Math.max(1024, Math.min(MAX_POINTS, Math.floor(MAX_NUMBERS / (this.width + 8))));
    const numbers = () => new Float32Array(this.capacity);
    this.time = new Float64Array(this.capacity);
    this.flags = new Uint32Array(this.capacity);
    this.surprise = numbers();
    this.score = numbers();
    this.step = numbers();
    this.columns = Array.from({ length: this.width }, numbers);
    this.received = 0;
    this.skipped = 0;
    this.first = null;
    this.hasSurprise = false;
    this.hasScore = false;
  }

  /* Adds the rows of a message; the layout of bytes is that of `server/message.rs`. */
  append(buffer) {
    const view = new DataView(buffer);
    const count = view.getUint32(4, true);
    const width = view.getUint32(8, true);
    if (width !== this.width) return false;
    this.first ??= view.getFloat64(16, true);
    this.skipped = view.getFloat64(24, true);
    let at = HEAD;
    for (let row = 0; row < count; row++) {
      const place = this.received % this.capacity;
      this.time[place] = view.getFloat64(at, true);
      this.flags[place] = view.getUint32(at + 16, true);
      this.late = view.getUint32(at + 20, true);
      this.dropped = view.getUint32(at + 24, true);
      this.surprise[place] = view.getFloat32(at + 28, true);
      this.score[place] = view.getFloat32(at + 32, true);
      this.step[place] = view.getFloat32(at + 36, true);
      this.hasSurprise ||= !Number.isNaN(this.surprise[place]);
      this.hasScore ||= !Number.isNaN(this.score[place]);
      at += ROW_HEAD;
      for (let column = 0; column < width; column++, at += 4) {
        this.columns[column][place] = view.getFloat32(at, true);
      }
      this.received++;
    }
    return true;
  }

  /* A copy that stays as it is, to look at while paused. */
  frozen() {
    const copy = Object.assign(Object.create(Store.prototype), this);
    copy.time = this.time.slice();
    copy.flags = this.flags.slice();
    copy.surprise = this.surprise.slice();
    copy.score = this.score.slice();
    copy.step = this.step.slice();
    copy.columns = this.columns.map((column) => column.slice());
    return copy;
  }

  get oldest() {
    return Math.max(0, this.received - this.capacity);
  }

  get lastTime() {
    return this.received ? this.time[(this.received - 1) % this.capacity] : 0;
  }

  last(column) {
    return this.received ? this.columns[column][(this.received - 1) % this.capacity] : NaN;
  }

  /* Number of the first row at or after a time. */
  search(time) {
    let low = this.oldest;
    let high = this.received;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.time[middle % this.capacity] < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /* Row numbers of a view, one row more on each side, so that lines reach the edges. */
  range(from, to) {
    const low = Math.max(this.oldest, this.search(from) - 1);
    const high = Math.min(this.received, this.search(to) + 1);
    return [low, Math.max(low, high)];
  }
}

/* Points of a view for one plot. Where rows are denser than pixels, each pixel has its least and its greatest value in
   the order in which they came, so that no peak is lost. Pixels begin at multiples of their rows, so that the picture does
   not flicker while it moves. `series` are functions of a place in the store. */
function points(store, [low, high], pixels, series) {
  const rows = high - low;
  const stride = Math.max(1, Math.ceil(rows / pixels));
  low = Math.max(store.oldest, Math.floor(low / stride) * stride);
  const count = stride === 1 ? high - low : 2 * Math.ceil((high - low) / stride);
  const data = [new Float64Array(count), ...series.map(() => new Array(count))];
  let out = 0;
  for (let row = low; row < high; row += stride) {
    const end = Math.min(high, row + stride);
    const first = row % store.capacity;
    if (stride === 1) {
      data[0][out] = store.time[first];
      for (let s = 0; s < series.length; s++) {
        const value = series[s](first);
        data[s + 1][out] = Number.isNaN(value) ? null : value;
      }
      out++;
      continue;
    }
    data[0][out] = store.time[first];
    data[0][out + 1] = store.time[(end - 1) % store.capacity];
    for (let s = 0; s < series.length; s++) {
      let least = Infinity;
      let greatest = -Infinity;
      let falls = false;
      for (let other = row; other < end; other++) {
        const value = series[s](other % store.capacity);
        if (value < least) [least, falls] = [value, true];
        if (value > greatest) [greatest, falls] = [value, false];
      }
      const has = greatest >= least;
      data[s + 1][out] = has ? (falls ? greatest : least) : null;
      data[s + 1][out + 1] = has ? (falls ? least : greatest) : null;
    }
    out += 2;
  }
  return data;
}

/* Stretches of a view where a condition holds, as pairs of times. */
function stretches(store, [low, high], holds) {
  const found = [];
  let begin = null;
  for (let row = low; row < high; row++) {
    const place = row % store.capacity;
    if (holds(place)) begin ??= store.time[place];
    else if (begin !== null) {
      found.push([begin, store.time[place]]);
      begin = null;
    }
  }
  if (begin !== null) found.push([begin, store.time[(high - 1) % store.capacity]]);
  return found.slice(-400);
}
