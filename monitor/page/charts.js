/* One plot per channel, on one axis of time. */

const HATCH = 7;

function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  const names = ["ink", "muted", "grid", "blue", "orange", "green", "vermillion", "band", "alarm"];
  return Object.fromEntries(names.map((name) => [name, of(name)]));
}

/* Text of a number with four digits that matter. */
function shown(value) {
  if (value === null || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e5 || size < 1e-3)) return value.toExponential(2);
  return value.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

function clock(seconds) {
  const whole = Math.floor(seconds / 60);
  const rest = seconds - 60 * whole;
  return `${whole}:${rest < 9.9995 ? "0" : ""}${Number(rest.toFixed(3))}`;
}

class Chart {
  /* `series`: list of { value(place), stroke, width, dash, points }; `bands`: pairs of series numbers with a fill;
     `marks`: list of { holds(place), kind } for stretches. */
  constructor(card, page, { height, series, bands = [], marks = [], limit = null }) {
    this.page = page;
    this.card = card;
    this.series = series;
    this.marks = marks;
    this.limit = limit;
    this.found = [];
    this.visible = true;
    const tint = page.colours;
    const axis = { stroke: tint.muted, grid: { stroke: tint.grid, width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
    const options = {
      width: Math.max(200, card.clientWidth - 16),
      height,
      legend: { show: false },
      cursor: { sync: { key: "quaver" }, drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
      scales: { x: { time: false, range: () => page.view }, y: { range: (plot, low, high) => this.limits(low, high) } },
      axes: [
        { ...axis, size: 26, values: (plot, splits) => splits.map(clock), space: 70 },
        { ...axis, size: 54, values: (plot, splits) => splits.map((value) => Number(value.toPrecision(4)).toString()), space: 34 },
      ],
      series: [{}, ...series.map((one) => ({
        stroke: one.stroke,
        width: one.width ?? 1.5,
        dash: one.dash,
        fill: one.fill,
        paths: one.points ? () => null : undefined,
        points: one.points ? { show: true, size: 4, fill: one.stroke, stroke: one.stroke } : { show: false },
        spanGaps: false,
      }))],
      bands,
      hooks: {
        drawClear: [(plot) => this.drawMarks(plot)],
        draw: [(plot) => this.drawLimit(plot)],
        setSelect: [(plot) => this.zoom(plot)],
      },
    };
    this.plot = new uPlot(options, [[], ...series.map(() => [])], card.querySelector(".plot"));
    this.plot.over.addEventListener("dblclick", () => page.goLive());
  }

  /* A little air above and below, and never an empty range. */
  limits(low, high) {
    if (low === null || high === null) return [0, 1];
    if (this.limit !== null) high = Math.max(high, 1.2 * this.limit);
    const air = high > low ? 0.08 * (high - low) : Math.max(0.5, Math.abs(high) * 0.05);
    return [low - air, high + air];
  }

  zoom(plot) {
    if (plot.select.width < 4) return;
    const from = plot.posToVal(plot.select.left, "x");
    const to = plot.posToVal(plot.select.left + plot.select.width, "x");
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.page.zoomTo(from, to);
  }

  draw(store, range) {
    if (!this.visible) return;
    this.found = this.marks.map((mark) => stretches(store, range, mark.holds));
    this.plot.setData(points(store, range, Math.max(100, this.plot.over.clientWidth), this.series.map((one) => one.value)), true);
  }

  drawMarks(plot) {
    const { left, top, width, height } = plot.bbox;
    const context = plot.ctx;
    context.save();
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    this.marks.forEach((mark, index) => {
      for (const [from, to] of this.found[index] ?? []) {
        const begin = plot.valToPos(from, "x", true);
        const end = Math.max(begin + 2 * devicePixelRatio, plot.valToPos(to, "x", true));
        context.fillStyle = `rgba(${this.page.colours.alarm}, ${mark.kind === "missing" ? 0.1 : 0.22})`;
        context.fillRect(begin, top, end - begin, height);
        if (mark.kind === "missing") this.hatch(context, begin, end, top, height);
      }
    });
    context.restore();
  }

  hatch(context, begin, end, top, height) {
    const step = HATCH * devicePixelRatio;
    context.save();
    context.beginPath();
    context.rect(begin, top, end - begin, height);
    context.clip();
    context.strokeStyle = `rgba(${this.page.colours.alarm}, 0.55)`;
    context.lineWidth = devicePixelRatio;
    context.beginPath();
    for (let x = Math.floor((begin - height) / step) * step; x < end; x += step) {
      context.moveTo(x, top + height);
      context.lineTo(x + height, top);
    }
    context.stroke();
    context.restore();
  }

  drawLimit(plot) {
    if (this.limit === null) return;
    const { left, width } = plot.bbox;
    const y = plot.valToPos(this.limit, "y", true);
    const context = plot.ctx;
    context.save();
    context.strokeStyle = this.page.colours.vermillion;
    context.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
    context.lineWidth = 1.5 * devicePixelRatio;
    context.beginPath();
    context.moveTo(left, y);
    context.lineTo(left + width, y);
    context.stroke();
    context.restore();
  }

  resize() {
    if (this.plot.width === Math.max(200, this.card.clientWidth - 16)) return;
    this.plot.setSize({ width: Math.max(200, this.card.clientWidth - 16), height: this.plot.height });
  }

  destroy() {
    this.plot.destroy();
    this.card.remove();
  }
}

/* An element with text or children. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value;
    else if (key === "colour") made.style.background = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function card(parent, name, unit) {
  const value = element("span", { class: "value" });
  const badge = element("span", { class: "badge", hidden: "" }, "missing");
  const title = element("h3", {}, name, " ", element("span", { class: "unit" }, unit), badge, value);
  const made = element("article", { class: "card" }, title, element("div", { class: "plot" }));
  parent.append(made);
  return Object.assign(made, { valueText: value, badge });
}

function inputCharts(page, store) {
  const parent = document.getElementById("inputs");
  return store.layout.inputs.map((channel, index) => {
    const made = card(parent, channel.name, channel.unit);
    const chart = new Chart(made, page, {
      height: 120,
      series: [{ value: (place) => page.shown.columns[index][place], stroke: page.colours.blue }],
      marks: [{ kind: "missing", holds: (place) => Number.isNaN(page.shown.columns[index][place]) }],
    });
    chart.describe = (latest) => {
      const value = latest.last(index);
      const missing = latest.received > 0 && Number.isNaN(value);
      made.classList.toggle("missing", missing);
      made.badge.hidden = !missing;
      made.valueText.textContent = missing ? "" : shown(value);
    };
    return chart;
  });
}

function outputCharts(page, store) {
  const parent = document.getElementById("outputs");
  const { layout, inputs, outputs } = store;
  return layout.outputs.flatMap((output, index) => {
    const mean = inputs + index;
    const [epistemic, aleatoric] = [mean + outputs, mean + 2 * outputs];
    const std = (place) => Math.sqrt(page.shown.columns[epistemic][place] + page.shown.columns[aleatoric][place]);
    const edge = (sign, quantile) => (place) => page.shown.columns[mean][place] + sign * quantile * std(place);
    const [half, most] = output.quantiles;
    const measured = layout.inputs.findIndex((channel) => channel.name === output.name);
    const tint = page.colours;
    const none = "rgba(0, 0, 0, 0)";
    const series = [
      { value: edge(1, most), stroke: none },
      { value: edge(-1, most), stroke: none },
      { value: edge(1, half), stroke: none },
      { value: edge(-1, half), stroke: none },
      { value: (place) => page.shown.columns[mean][place], stroke: tint.blue, width: 2 },
    ];
    if (measured >= 0) series.push({ value: (place) => page.shown.columns[measured][place], stroke: tint.ink, width: 1, dash: [2, 3] });
    const made = card(parent, output.name, output.unit);
    const chart = new Chart(made, page, {
      height: 240,
      series,
      bands: [{ series: [1, 2], fill: `rgba(${tint.band}, 0.18)` }, { series: [3, 4], fill: `rgba(${tint.band}, 0.3)` }],
      marks: [{ kind: "anomalous", holds: (place) => (page.shown.flags[place] & 2) !== 0 }],
    });
    chart.describe = (latest) => {
      const std_dev = Math.sqrt(latest.last(epistemic) + latest.last(aleatoric));
      made.valueText.textContent = latest.received ? `${shown(latest.last(mean))} ± ${shown(std_dev)} ${output.unit}` : "";
    };
    if (measured >= 0) document.querySelector(".measured-hint").hidden = false;
    return layout.has_parts ? [chart, partsChart(page, parent, output, epistemic, aleatoric)] : [chart];
  });
}

/* Both parts of an error bar, as standard deviations in the unit of the output. */
function partsChart(page, parent, output, epistemic, aleatoric) {
  const made = card(parent, `${output.name}: parts of the error bar`, output.unit ? `std dev, ${output.unit}` : "std dev");
  const tint = page.colours;
  const key = (colour, text) => [element("span", { class: "key", colour }), `${text} `];
  made.insertBefore(element("p", { class: "parts" }, ...key(tint.orange, "epistemic (solid)"), ...key(tint.green, "aleatoric (dashed)")), made.querySelector(".plot"));
  const root = (column) => (place) => Math.sqrt(page.shown.columns[column][place]);
  const chart = new Chart(made, page, {
    height: 218,
    series: [
      { value: root(epistemic), stroke: tint.orange, width: 1.8 },
      { value: root(aleatoric), stroke: tint.green, width: 1.8, dash: [7, 4] },
    ],
  });
  chart.describe = (latest) => {
    made.valueText.textContent = `${shown(Math.sqrt(latest.last(epistemic)))} and ${shown(Math.sqrt(latest.last(aleatoric)))}`;
  };
  return chart;
}

function scoreCharts(page, store) {
  const parent = document.getElementById("scores");
  const charts = [];
  const anomalous = { kind: "anomalous", holds: (place) => (page.shown.flags[place] & 2) !== 0 };
  const add = (name, unit, column, limit, colour) => {
    const made = card(parent, name, unit);
    const chart = new Chart(made, page, {
      height: 150,
      limit,
      series: [{ value: (place) => page.shown[column][place], stroke: colour, width: 1.6 }],
      marks: [anomalous],
    });
    made.badge.textContent = "anomalous";
    chart.describe = (latest) => {
      const place = (latest.received - 1) % latest.capacity;
      const is = latest.received > 0 && (latest.flags[place] & 2) !== 0;
      made.badge.hidden = !is;
      made.valueText.textContent = latest.received ? shown(latest[column][place]) : "";
    };
    charts.push(chart);
  };
  if (store.hasSurprise) add("Surprise", "nats; shaded: rows above the limit of the model", "surprise", null, page.colours.orange);
  if (store.hasScore) add("Anomaly score", "limit 1, dashed", "score", 1, page.colours.vermillion);
  return charts;
}
