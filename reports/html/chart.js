// ---- charts: a canvas with axes, a view that zooms, a cursor, and a tip -------------------------

const MARGIN = {left: 78, right: 14, top: 12, bottom: 40};

function niceStep(span, count) {
  const raw = span / count, power = Math.pow(10, Math.floor(Math.log10(raw)));
  for (const factor of [1, 2, 5, 10]) if (raw <= factor * power) return factor * power;
  return 10 * power;
}

/** The text, or as much of its beginning as there is room for. */
function fitted(g, text, room) {
  if (g.measureText(text).width <= room) return text;
  let length = text.length;
  while (length > 0 && g.measureText(text.slice(0, length) + "…").width > room) --length;
  return text.slice(0, length).trimEnd() + "…";
}

/** What a scenario's charts of time have in common: the part that is shown, and where they look. */
class TimeView {
  constructor(events) {
    this.events = Math.max(1, events);
    this.start = 0;
    this.end = this.events;
    this.cursor = null;
    /** {kind: "block" or "segment", device, index}: what stays described. */
    this.pinned = null;
    this.listeners = [];
  }
  pin(what) {
    this.pinned = what;
    this.changed();
  }
  isPinned(kind, device, index) {
    const {pinned} = this;
    return pinned !== null && pinned.kind === kind && pinned.device === device && pinned.index === index;
  }
  changed() { for (const listener of this.listeners) listener(); }
  zoom(factor, around) {
    const span = Math.min(this.events, Math.max(Math.min(8, this.events), (this.end - this.start) * factor));
    const share = (around - this.start) / (this.end - this.start);
    this.move(around - span * share, span);
  }
  move(start, span) {
    this.start = Math.max(0, Math.min(start, this.events - span));
    this.end = this.start + span;
    this.changed();
  }
  reset() { this.move(0, this.events); }
  look(event) {
    this.cursor = event === null ? null : Math.max(0, Math.min(this.events - 1, Math.round(event)));
    if (this.cursor !== null && (this.cursor < this.start || this.cursor > this.end)) {
      this.move(this.cursor - (this.end - this.start) / 2, this.end - this.start);
    } else {
      this.changed();
    }
  }
}

const tip = element("div", {class: "tip", role: "tooltip", hidden: ""});
function showTip(lines, x, y) {
  tip.replaceChildren(...lines);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 16 + box.width > innerWidth ? x - box.width - 12 : x + 16;
  tip.style.left = Math.max(6, left) + "px";
  tip.style.top = Math.max(6, Math.min(y + 14, innerHeight - box.height - 6)) + "px";
}
function hideTip() { tip.hidden = true; }
const tipLine = (text, style) => element("div", style ? {class: style} : {}, text);

/** A chart over time. Subclasses draw, and say what is under the pointer. */
class TimeChart {
  constructor(host, view, {height, label, yLabel}) {
    this.view = view;
    this.fullHeight = height;
    this.yLabel = yLabel;
    this.canvas = element("canvas", {tabindex: "0", role: "img", "aria-label": label});
    this.readout = element("div", {class: "readout", "aria-live": "polite"});
    host.append(element("div", {class: "chart"}, this.canvas), this.readout);
    this.tall(1);
    this.pending = false;
    view.listeners.push(() => this.request());
    new ResizeObserver(() => this.request()).observe(this.canvas);
    this.listen();
    charts.add(this);
  }
  tall(share) {
    this.height = Math.round(this.fullHeight * share);
    this.canvas.style.height = this.height + "px";
  }
  request() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.paint();
    });
  }
  listen() {
    const {canvas, view} = this;
    let drag = null;
    canvas.addEventListener("wheel", event => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
      event.preventDefault();
      view.zoom(Math.exp(event.deltaY * 0.0022), this.eventAt(event.offsetX));
    }, {passive: false});
    canvas.addEventListener("pointerdown", event => {
      drag = {x: event.offsetX, start: view.start, moved: false};
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", event => {
      if (drag && Math.abs(event.offsetX - drag.x) > 4) drag.moved = true;
      if (drag && drag.moved && view.end - view.start < view.events) {
        const span = view.end - view.start;
        hideTip();
        return view.move(drag.start - (event.offsetX - drag.x) / this.innerWidth() * span, span);
      }
      this.hover(event);
    });
    canvas.addEventListener("pointerup", event => {
      if (drag && !drag.moved) this.click(event);
      drag = null;
    });
    canvas.addEventListener("pointerleave", hideTip);
    canvas.addEventListener("dblclick", event => view.zoom(0.4, this.eventAt(event.offsetX)));
    canvas.addEventListener("keydown", event => this.key(event));
  }
  click(event) { this.view.look(this.eventAt(event.offsetX)); }
  key(event) {
    const {view} = this;
    const stride = event.shiftKey ? Math.max(1, Math.round((view.end - view.start) / 40)) : 1;
    const here = view.cursor === null ? Math.round((view.start + view.end) / 2) : view.cursor;
    const actions = {
      ArrowLeft: () => view.look(here - stride), ArrowRight: () => view.look(here + stride),
      Home: () => view.look(0), End: () => view.look(view.events - 1),
      "+": () => view.zoom(0.5, here), "=": () => view.zoom(0.5, here),
      "-": () => view.zoom(2, here), "0": () => view.reset(), Escape: () => view.look(null),
    };
    if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    actions[event.key]();
  }
  hover(event) {
    const lines = this.describe(event.offsetX, event.offsetY);
    if (lines) showTip(lines, event.clientX, event.clientY); else hideTip();
  }
  innerWidth() { return Math.max(10, this.canvas.clientWidth - MARGIN.left - MARGIN.right); }
  innerHeight() { return this.height - MARGIN.top - MARGIN.bottom; }
  eventAt(x) {
    const {view} = this;
    return view.start + (x - MARGIN.left) / this.innerWidth() * (view.end - view.start);
  }
  x(event) {
    const {view} = this;
    return MARGIN.left + (event - view.start) / (view.end - view.start) * this.innerWidth();
  }
  y(value) { return MARGIN.top + this.innerHeight() * (1 - value / this.top); }

  paint() {
    const width = this.canvas.clientWidth, ratio = window.devicePixelRatio || 1;
    if (!width) return;
    const columns = Math.round(width * ratio), rows = Math.round(this.height * ratio);
    if (this.canvas.width !== columns || this.canvas.height !== rows) {
      this.canvas.width = columns;
      this.canvas.height = rows;
    }
    const g = this.canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, this.height);
    g.font = "12px " + color("sans");
    this.top = this.ceiling();
    this.axes(g, width);
    g.save();
    g.beginPath();
    g.rect(MARGIN.left, MARGIN.top - 6, this.innerWidth(), this.innerHeight() + 6);
    g.clip();
    this.draw(g);
    this.drawCursor(g);
    g.restore();
    this.readout.textContent = this.read();
  }
  axes(g, width) {
    const bottom = MARGIN.top + this.innerHeight();
    const [unit, size] = unitFor(this.top);
    const step = niceStep(this.top / size, 4) * size;
    g.strokeStyle = color("grid");
    g.fillStyle = color("faint");
    g.lineWidth = 1;
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (let value = 0; value <= this.top * 1.0001; value += step) {
      const y = Math.round(this.y(value)) + 0.5;
      g.beginPath();
      g.moveTo(MARGIN.left, y);
      g.lineTo(width - MARGIN.right, y);
      g.stroke();
      const number = value / size;
      g.fillText(value === 0 ? "0" : `${+number.toFixed(2)} ${unit}`, MARGIN.left - 9, y);
    }
    g.textBaseline = "top";
    g.textAlign = "center";
    const span = this.view.end - this.view.start;
    // As many as have room beside each other.
    const widest = g.measureText(grouped(Math.round(this.view.end))).width + 18;
    const count = Math.max(1, Math.min(8, Math.floor(this.innerWidth() / widest)));
    const stride = Math.max(1, niceStep(span, count));
    for (let at = Math.ceil(this.view.start / stride) * stride; at <= this.view.end; at += stride) {
      const label = grouped(at), x = this.x(at), half = g.measureText(label).width / 2;
      g.fillText(label, Math.min(x, width - half), bottom + 7);
    }
    g.textAlign = "right";
    g.fillText("events", width - MARGIN.right, bottom + 24);
    g.textAlign = "left";
    const room = this.innerWidth() - g.measureText("events").width - 12;
    g.fillText(fitted(g, this.yLabel, room), MARGIN.left, bottom + 24);
  }
  drawCursor(g) {
    if (this.view.cursor === null) return;
    const x = Math.round(this.x(this.view.cursor)) + 0.5;
    g.strokeStyle = color("accent");
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(x, MARGIN.top - 6);
    g.lineTo(x, MARGIN.top + this.innerHeight());
    g.stroke();
  }
  /** Thin lines where steps ended; none where they would be a wall. */
  drawSteps(g, history) {
    const shown = history.steps.filter(at => at >= this.view.start && at <= this.view.end);
    if (shown.length * 5 > this.innerWidth()) return;
    g.strokeStyle = color("reserved");
    g.globalAlpha = 0.55;
    g.setLineDash([1, 3]);
    for (const at of shown) {
      const x = Math.round(this.x(at + 1)) + 0.5;
      g.beginPath();
      g.moveTo(x, MARGIN.top);
      g.lineTo(x, MARGIN.top + this.innerHeight());
      g.stroke();
    }
    g.setLineDash([]);
    g.globalAlpha = 1;
  }
  drawOom(g, event, value) {
    // An error at the very end still has to be seen whole.
    const x = Math.min(this.x(event + 1), MARGIN.left + this.innerWidth() - 8), y = this.y(value);
    // With an edge: it stands on all colours.
    for (const [ink, width] of [["card", 6], ["bad", 2.5]]) {
      g.strokeStyle = color(ink);
      g.lineWidth = width;
      g.beginPath();
      g.moveTo(x - 6, y - 6); g.lineTo(x + 6, y + 6);
      g.moveTo(x + 6, y - 6); g.lineTo(x - 6, y + 6);
      g.stroke();
    }
    g.strokeStyle = color("card");
    g.lineWidth = 3;
    g.fillStyle = color("bad");
    g.font = "600 12px " + color("sans");
    const right = x > MARGIN.left + this.innerWidth() - 60;
    g.textAlign = right ? "right" : "left";
    g.textBaseline = "middle";
    const place = [right ? x - 11 : x + 11, Math.max(y, MARGIN.top + 6)];
    g.strokeText("OOM", ...place);
    g.fillText("OOM", ...place);
  }
}

const charts = new Set();
function repaintAll() {
  paletteCache = null;
  for (const chart of charts) chart.request();
}
/** Paper is light, and does not wait for a frame. */
function paintForPaper(isPaper) {
  document.documentElement.classList.toggle("paper", isPaper);
  paletteCache = null;
  for (const chart of charts) {
    if (chart.tall) chart.tall(isPaper ? 0.7 : 1);
    chart.paint();
  }
}
addEventListener("beforeprint", () => paintForPaper(true));
addEventListener("afterprint", () => paintForPaper(false));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaintAll);

/** Index of the largest of values[from, to). */
function largest(values, from, to) {
  let best = from;
  for (let i = from + 1; i < to; ++i) if (values[i] > values[best]) best = i;
  return best;
}

/** Calls draw(x, width, first bucket, bucket behind the last) for each column of pixels or bucket. */
function forColumns(chart, history, draw) {
  const {view} = chart, count = Math.ceil(history.events / history.perBucket);
  const first = Math.max(0, Math.floor(view.start / history.perBucket));
  const last = Math.min(count, Math.ceil(view.end / history.perBucket) + 1);
  const perPixel = (view.end - view.start) / chart.innerWidth() / history.perBucket;
  const stride = Math.max(1, perPixel);
  for (let at = first; at < last; at += stride) {
    const from = Math.floor(at), to = Math.min(last, Math.max(from + 1, Math.floor(at + stride)));
    const x = chart.x(from * history.perBucket);
    draw(x, chart.x(Math.min(to * history.perBucket, history.events)) - x, from, to);
  }
}
