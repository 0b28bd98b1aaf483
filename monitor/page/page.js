/* The page: a connection that comes back, and a clock that draws. */

/* Time between pictures, and the part of it that drawing may take: rows come first. */
const FRAME_MS = 50;
const DRAWING = 0.4;
const $ = (id) => document.getElementById(id);

class Page {
  constructor() {
    this.colours = colours();
    this.charts = [];
    this.store = null;
    this.shown = null;
    this.seconds = Number($("window").value);
    this.view = [0, this.seconds];
    this.zoomed = null;
    this.status = null;
    this.drawn = 0;
    this.interval = FRAME_MS;
    this.observer = new IntersectionObserver((entries) => entries.forEach((entry) => { entry.target.chart.visible = entry.isIntersecting; }), { rootMargin: "80px" });
    this.sizes = new ResizeObserver((entries) => entries.forEach((entry) => entry.target.chart.resize()));
    this.listen();
    this.connect();
    requestAnimationFrame((now) => this.frame(now));
  }

  listen() {
    $("pause").addEventListener("click", () => this.setPaused(!this.isPaused));
    $("live").addEventListener("click", () => this.goLive());
    $("window").addEventListener("change", () => { this.seconds = Number($("window").value); this.zoomed = null; this.update(); });
    for (const format of ["csv", "mcap"]) $(`record-${format}`).addEventListener("click", () => this.toggleRecording(format));
    document.addEventListener("keydown", (event) => {
      if (event.code === "Space" && !["BUTTON", "SELECT"].includes(event.target.tagName)) {
        event.preventDefault();
        this.setPaused(!this.isPaused);
      }
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.colours = colours(); this.build(); });
  }

  connect() {
    const socket = new WebSocket(`ws://${location.host}/ws${location.search}`);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", (event) => {
      if (typeof event.data === "string") this.message(JSON.parse(event.data));
      else this.rows(event.data);
    });
    socket.addEventListener("close", () => {
      this.showConnection("lost", "the monitor is gone; trying again");
      setTimeout(() => this.connect(), 1000);
    });
    this.socket = socket;
  }

  message(message) {
    if (message.type === "layout") this.setLayout(message);
    else if (message.type === "status") this.setStatus(message);
    else if (message.type === "error") this.notice(message.text);
  }

  setLayout(layout) {
    this.layout = layout;
    $("device").textContent = layout.device || "Quaver monitor";
    document.title = `${layout.device || "Quaver"} – monitor`;
    this.store = new Store(layout);
    this.setPaused(false);
    this.build();
  }

  /* Makes the plots of the layout. */
  build() {
    this.charts.forEach((chart) => chart.destroy());
    this.charts = [];
    if (!this.store) return;
    this.shown ??= this.store;
    $("outputs-section").hidden = this.store.outputs === 0;
    $("inputs-section").hidden = this.store.inputs === 0;
    $("empty").hidden = true;
    this.charts.push(...outputCharts(this, this.store), ...inputCharts(this, this.store));
    this.buildScores();
    this.charts.forEach((chart) => this.observe(chart));
    this.update();
  }

  observe(chart) {
    chart.card.chart = chart;
    this.observer.observe(chart.card);
    this.sizes.observe(chart.card);
  }

  buildScores() {
    this.scoreKinds = `${this.store.hasSurprise} ${this.store.hasScore}`;
    $("scores-section").hidden = !(this.store.hasSurprise || this.store.hasScore);
    const charts = scoreCharts(this, this.store);
    charts.forEach((chart) => this.observe(chart));
    this.charts.push(...charts);
  }

  rows(buffer) {
    if (!this.store?.append(buffer)) return;
    if (this.scoreKinds !== `${this.store.hasSurprise} ${this.store.hasScore}`) this.build();
  }

  get isPaused() {
    return this.shown !== null && this.shown !== this.store;
  }

  setPaused(paused) {
    this.shown = paused && this.store ? this.store.frozen() : this.store;
    $("pause").setAttribute("aria-pressed", String(this.isPaused));
    $("pause").textContent = this.isPaused ? "Resume" : "Pause";
    if (!this.isPaused) this.zoomed = null;
    this.update();
  }

  zoomTo(from, to) {
    if (!this.isPaused) this.setPaused(true);
    this.zoomed = [from, to];
    this.update();
  }

  goLive() {
    this.zoomed = null;
    this.setPaused(false);
  }

  toggleRecording(format) {
    const running = this.status?.recordings.some((one) => one.format === format && one.is_running);
    this.socket.send(JSON.stringify({ do: running ? "stop" : "record", format }));
  }

  notice(text) {
    $("notice").textContent = text;
    $("notice").hidden = !text;
  }

  showConnection(state, text) {
    $("connection").className = state;
    $("connection-text").textContent = text;
  }

  setStatus(status) {
    this.status = status;
    const { state, text } = status.connection;
    this.showConnection(state, state === "starting" ? "opening the source" : text ?? state);
    this.showTiles(status);
    this.showRecordings(status.recordings);
    $("messages-section").hidden = status.messages.length === 0;
    $("messages").textContent = status.messages.join("\n");
  }

  showTiles(status) {
    const count = (number) => number.toLocaleString("en");
    const aim = this.layout?.rate_hz;
    const tiles = [
      ["Rate", `${status.rate_hz.toFixed(status.rate_hz < 100 ? 1 : 0)} Hz`, aim ? `aim ${aim} Hz` : `${count(status.rows)} rows`],
      ["Jitter", `${status.jitter_ms.toFixed(2)} ms`, `longest ${status.longest_ms.toFixed(1)} ms`],
      ["Lost frames", count(status.lost), `of ${count(status.frames + status.lost)}`, status.lost],
      ["Damaged", count(status.damaged), status.restarts ? `${count(status.restarts)} restarts` : "frames and lines", status.damaged],
      ["Late steps", count(status.late), status.dropped ? `${count(status.dropped)} rows dropped` : "no rows dropped", status.late + status.dropped],
      ["Step", this.stepText(), this.layout?.has_parts ? "per row" : ""],
      ["Implausible", count(status.implausible), "values", status.implausible],
      ["Reconnects", count(status.reconnects), `${count(status.viewers)} ${status.viewers === 1 ? "viewer" : "viewers"}`, status.reconnects],
      ["Skipped here", count(this.store?.skipped ?? 0), "rows this page missed", this.store?.skipped],
    ];
    $("tiles").replaceChildren(...tiles.map(([name, value, note, alarm]) => element(
      "div",
      { class: alarm ? "alarm" : "" },
      element("dt", {}, name),
      element("dd", {}, alarm ? `⚠ ${value}` : value),
      element("dd", {}, note),
    )));
  }

  stepText() {
    if (!this.store?.received) return "–";
    const step = this.store.step[(this.store.received - 1) % this.store.capacity];
    return Number.isNaN(step) ? "–" : step >= 1000 ? `${(step / 1000).toFixed(2)} ms` : `${step.toFixed(1)} µs`;
  }

  showRecordings(recordings) {
    const lines = recordings.map((one) => one.error
      ? `${one.file}: ${one.error}`
      : `${one.is_running ? "Recording to" : "Recorded"} ${one.file}: ${one.rows.toLocaleString("en")} rows in ${one.sequences} ${one.sequences === 1 ? "sequence" : "sequences"}${one.skipped ? `, ${one.skipped} skipped` : ""}`);
    $("recordings").textContent = lines.join(" · ");
    $("recordings").hidden = lines.length === 0;
    for (const format of ["csv", "mcap"]) {
      const running = recordings.some((one) => one.format === format && one.is_running);
      $(`record-${format}`).setAttribute("aria-pressed", String(running));
      $(`record-${format}`).textContent = running ? `Stop ${format.toUpperCase()}` : `Record ${format.toUpperCase()}`;
    }
  }

  /* Draws all plots as things are now. */
  update() {
    if (!this.shown) return;
    const now = this.shown.lastTime;
    this.view = this.zoomed ?? [now - this.seconds, now];
    $("live").hidden = !this.isPaused && !this.zoomed;
    const range = this.shown.range(...this.view);
    this.charts.forEach((chart) => {
      chart.draw(this.shown, range);
      chart.describe(this.shown);
    });
  }

  frame(now) {
    if (now - this.drawn >= this.interval) {
      this.drawn = now;
      if (this.store && !this.isPaused) this.update();
      this.interval = Math.max(FRAME_MS, (performance.now() - now) / DRAWING);
    }
    requestAnimationFrame((later) => this.frame(later));
  }
}

/* For whoever looks with the tools of the browser. */
window.quaver = new Page();
