// ---- the views ----------------------------------------------------------------------------------

/** The fullest device of a variant. */
function fullest(history) {
  return history.devices.reduce((best, device) =>
    Math.max(0, ...best.high) >= Math.max(0, ...device.high) ? best : device);
}

/** The problem that a variant belongs to. */
const groupOf = variant => variant.of || variant.name;

/** Which variant to show first: of the problems, or else of all, the one with the highest peak. */
function leadOf(variants) {
  let best = 0;
  const rank = variant => (variant.role === "problem" ? 1e18 : 0) + variant.peak;
  variants.forEach((variant, i) => { if (rank(variant) > rank(variants[best])) best = i; });
  return best;
}

/** The problem and what is said to help, one line each, with the limits. */
class OverlayChart extends TimeChart {
  constructor(host, view, scenario) {
    super(host, view, {height: 320, label: "Memory over time of all variants",
      yLabel: "allocated on the fullest GPU"});
    this.scenario = scenario;
    this.lines = scenario.variants.filter(v => v.history).map(variant => {
      const history = historyOf(variant);
      return {variant, history, device: fullest(history), shown: true};
    });
    // With several problems, one and what belongs to it: all of them at once are a thicket.
    const lead = this.lines[leadOf(this.lines.map(line => line.variant))];
    for (const line of this.lines) line.shown = !lead || groupOf(line.variant) === groupOf(lead.variant);
  }
  ceiling() {
    let top = 1;
    for (const line of this.lines) {
      if (line.shown) top = Math.max(top, line.device.high[largest(line.device.high, 0, line.device.high.length)]);
    }
    // A limit far above everything would flatten it.
    for (const limit of this.scenario.limit_lines) if (limit.bytes < top * 2.5) top = Math.max(top, limit.bytes);
    return top * 1.06;
  }
  draw(g) {
    for (const limit of this.scenario.limit_lines) {
      if (limit.bytes > this.top) continue;
      const y = this.y(limit.bytes);
      g.strokeStyle = limit.is_capacity ? color("ink") : color("bad");
      g.globalAlpha = limit.is_capacity ? 0.45 : 1;
      g.setLineDash(limit.is_capacity ? [] : [6, 5]);
      g.lineWidth = 1.5;
      g.beginPath();
      g.moveTo(MARGIN.left, y);
      g.lineTo(MARGIN.left + this.innerWidth(), y);
      g.stroke();
      g.setLineDash([]);
      g.fillStyle = limit.is_capacity ? color("soft") : color("bad");
      g.globalAlpha = 1;
      g.textAlign = "left";
      g.textBaseline = "bottom";
      g.fillText((limit.is_capacity ? "capacity " : "limit ") + human(limit.bytes), MARGIN.left + 8, y - 2);
    }
    const shown = this.lines.filter(line => line.shown);
    const lead = shown.find(line => line.variant.role === "problem") || shown[0];
    if (lead) this.drawSteps(g, lead.history);
    for (const line of [...shown].reverse()) this.drawLine(g, line);
    const marked = new Set();
    for (const line of shown) {
      if (line.history.oom !== null && !marked.has(line.history.oom)) {
        marked.add(line.history.oom);
        this.drawOom(g, line.history.oom, line.device.high[bucketOf(line.history, line.history.oom)]);
      }
    }
  }
  drawLine(g, line) {
    g.strokeStyle = color(line.variant.role);
    g.lineWidth = line.variant.role === "problem" ? 2 : 1.5;
    g.setLineDash(line.dash || []);
    g.beginPath();
    let started = false;
    forColumns(this, line.history, (x, width, from, to) => {
      const {high, low} = line.device;
      const top = this.y(high[largest(high, from, to)]);
      let least = low[from];
      for (let i = from; i < to; ++i) least = Math.min(least, low[i]);
      if (!started) g.moveTo(x, top); else g.lineTo(x, top);
      started = true;
      const bottom = this.y(least);
      if (bottom - top > 0.5 && width < 2) g.lineTo(x, bottom);
      g.lineTo(x + width, width < 2 ? bottom : top);
    });
    g.stroke();
    g.setLineDash([]);
  }
  valuesAt(event) {
    return this.lines.filter(line => line.shown && event < line.history.events).map(line =>
      [line, line.device.high[bucketOf(line.history, event)]]);
  }
  describe(x) {
    const event = Math.round(this.eventAt(x));
    if (event < 0) return null;
    const values = this.valuesAt(event);
    if (!values.length) return null;
    return [tipLine(`after event ${grouped(event)}`, "soft"),
      ...values.sort((a, b) => b[1] - a[1]).slice(0, 12).map(([line, bytes]) => element("div", {},
        element("i", {class: "swatch r-" + line.variant.role}), element("b", {}, human(bytes)),
        ` ${line.variant.name}, step ${stepsBefore(line.history, event) + 1}`))];
  }
  read() {
    const {cursor} = this.view;
    if (cursor === null) return "Click or ←/→: look at an event. Ctrl + wheel or +/−: zoom. 0: all of it.";
    return `After event ${grouped(cursor)}: ` +
      this.valuesAt(cursor).map(([line, bytes]) => `${line.variant.name} ${human(bytes)}`).join(", ");
  }
}

/** One GPU: what its memory was for, and what was reserved. */
class LaneChart extends TimeChart {
  constructor(host, view, history, device, ceiling, height) {
    super(host, view, {height, label: `Memory of ${device.name} over time, by category`,
      yLabel: device.name + ", by category; line: reserved"});
    this.history = history;
    this.device = device;
    this.most = ceiling;
  }
  ceiling() { return this.most * 1.06 || 1; }
  draw(g) {
    const {device, history} = this;
    const names = CATEGORIES.filter(name => device.categories[name]);
    forColumns(this, history, (x, width, from, to) => {
      const at = largest(device.high, from, to);
      let base = 0;
      for (const name of names) {
        const bytes = device.categories[name][at];
        if (!bytes) continue;
        g.fillStyle = color(name);
        const y = this.y(base + bytes);
        g.fillRect(x, y, width + 0.6, this.y(base) - y);
        base += bytes;
      }
    });
    this.drawReserved(g);
    this.drawSteps(g, history);
    if (history.oom !== null) this.drawOom(g, history.oom, device.high[bucketOf(history, history.oom)]);
  }
  drawReserved(g) {
    const {device, history} = this;
    g.strokeStyle = color("soft");
    g.lineWidth = 1.25;
    g.beginPath();
    let started = false;
    forColumns(this, history, (x, width, from, to) => {
      const y = this.y(device.reserved[largest(device.reserved, from, to)]);
      if (started) g.lineTo(x, y); else g.moveTo(x, y);
      g.lineTo(x + width, y);
      started = true;
    });
    g.stroke();
  }
  figures(event) {
    const at = bucketOf(this.history, event), parts = [];
    for (const name of CATEGORIES) {
      const bytes = this.device.categories[name] ? this.device.categories[name][at] : 0;
      if (bytes) parts.push([name, bytes]);
    }
    return {allocated: this.device.high[at], reserved: this.device.reserved[at], parts};
  }
  describe(x) {
    const event = Math.round(this.eventAt(x));
    if (event < 0 || event >= this.history.events) return null;
    const {allocated, reserved, parts} = this.figures(event);
    return [tipLine(`${this.device.name}, after event ${grouped(event)}, step ${stepsBefore(this.history, event) + 1}`, "soft"),
      element("div", {}, element("b", {}, human(allocated)), ` allocated, ${human(reserved)} reserved`),
      ...parts.map(([name, bytes]) => element("div", {}, element("i", {class: "swatch c-" + name}),
        `${human(bytes)} ${name.replace("_", " ")}`))];
  }
  read() {
    if (this.view.cursor === null) return "";
    const {allocated, reserved} = this.figures(this.view.cursor);
    return `${this.device.name} after event ${grouped(this.view.cursor)}, step ` +
      `${stepsBefore(this.history, this.view.cursor) + 1}: ${exact(allocated)} allocated, ${human(reserved)} reserved`;
  }
}

function blockLines(history, device, i) {
  const {blocks} = device, site = history.sites[blocks.site[i]];
  const name = CATEGORIES[blocks.category[i]];
  const begin = blocks.begin[i], end = blocks.end[i];
  const until = end >= history.events ? "the end" : `event ${grouped(end)}`;
  const steps = stepsBefore(history, Math.min(end, history.events - 1)) - stepsBefore(history, begin);
  return [
    element("div", {}, element("i", {class: "swatch c-" + name}), element("b", {}, human(blocks.bytes[i])),
      ` ${name.replace("_", " ")}`),
    tipLine(`${grouped(blocks.bytes[i])} bytes` + (site.op ? ` of ${site.op}` : "")),
    tipLine(site.file ? `${site.file}:${site.line}` : "no line of a script", "soft"),
    tipLine(`from event ${grouped(begin)} (step ${stepsBefore(history, begin) + 1}) to ${until}: ` +
      `${grouped(end - begin)} events, ${steps} step${steps === 1 ? "" : "s"}`, "soft"),
    tipLine(`at ${addressOf(device, blocks.position[i])}`, "soft"),
  ];
}

/** Every block: from its first to its last event, at its place in memory. */
class BlocksChart extends TimeChart {
  constructor(host, view, history, device) {
    super(host, view, {height: 380, label: `Blocks of ${device.name} over time`,
      yLabel: "place in memory (unused addresses between segments left out)"});
    this.history = history;
    this.device = device;
  }
  ceiling() { return this.device.extent || 1; }
  draw(g) {
    const {segments, blocks} = this.device, {view} = this;
    g.fillStyle = color("free");
    for (let i = 0; i < segments.length; ++i) {
      if (segments.end[i] < view.start || segments.begin[i] > view.end) continue;
      const x = this.x(segments.begin[i]), y = this.y(segments.position[i] + segments.bytes[i]);
      g.fillRect(x, y + 0.5, this.x(segments.end[i]) - x, Math.max(0.5, this.y(segments.position[i]) - y - 1));
    }
    for (let category = 0; category < CATEGORIES.length; ++category) {
      g.fillStyle = color(CATEGORIES[category]);
      for (let i = 0; i < blocks.length; ++i) {
        if (blocks.category[i] !== category || blocks.end[i] < view.start || blocks.begin[i] > view.end) continue;
        const x = this.x(blocks.begin[i]), y = this.y(blocks.position[i] + blocks.bytes[i]);
        const width = this.x(blocks.end[i]) - x, height = this.y(blocks.position[i]) - y;
        g.fillRect(x, y, Math.max(0.7, width - (width > 3 ? 0.5 : 0)), Math.max(0.7, height - (height > 3 ? 0.7 : 0)));
      }
    }
    this.drawSteps(g, this.history);
    if (this.history.oom !== null) this.drawOom(g, this.history.oom, this.device.extent * 0.97);
  }
  /** The smallest block at this place: it is drawn a pixel wide and high at least. */
  blockAt(x, y) {
    const {blocks} = this.device, event = this.eventAt(x);
    const position = (1 - (y - MARGIN.top) / this.innerHeight()) * this.top;
    const slackX = (this.view.end - this.view.start) / this.innerWidth(), slackY = this.top / this.innerHeight();
    let best = -1, bestMiss = Infinity;
    for (let i = 0; i < blocks.length; ++i) {
      const missX = Math.max(blocks.begin[i] - event, event - blocks.end[i], 0) / slackX;
      const missY = Math.max(blocks.position[i] - position, position - blocks.position[i] - blocks.bytes[i], 0) / slackY;
      const miss = missX + missY;
      if (missX <= 1.5 && missY <= 1.5 && miss < bestMiss) {
        best = i;
        bestMiss = miss;
      }
    }
    return best;
  }
  describe(x, y) {
    const found = this.blockAt(x, y);
    return found < 0 ? null : blockLines(this.history, this.device, found);
  }
  read() {
    const {leftOut, blocks} = this.device;
    return leftOut === 0 ? `${grouped(blocks.length)} blocks.` :
      `The ${grouped(blocks.length)} blocks of most bytes × lifetime; ${grouped(leftOut)} smaller or shorter ones are left out here.`;
  }
}

/** The segments at one event, and what is in them. */
class SegmentMap {
  constructor(host, view, history, device) {
    Object.assign(this, {view, history, device});
    this.canvas = element("canvas", {tabindex: "0", role: "img",
      "aria-label": `Segments and blocks of ${device.name} at one event`});
    this.slider = element("input", {type: "range", min: "0", step: "1", class: "grow",
      "aria-label": "event of the map"});
    this.stops = device.frames.length ? device.frames.map(frame => frame.event) : null;
    this.slider.max = String((this.stops ? this.stops.length : history.events) - 1);
    this.readout = element("div", {class: "readout", "aria-live": "polite"});
    const jump = (text, event) => element("button", {type: "button", onclick: () => view.look(event)}, text);
    const buttons = [jump("peak", device.peakEvent)];
    if (history.oom !== null) buttons.push(jump("OOM", history.oom));
    buttons.push(jump("end", history.events - 1));
    host.append(element("div", {class: "controls"}, this.slider, ...buttons), this.readout,
      element("div", {class: "chart"}, this.canvas));
    this.slider.addEventListener("input", () =>
      view.look(this.stops ? this.stops[+this.slider.value] : +this.slider.value));
    this.canvas.addEventListener("pointermove", event => {
      const hit = this.hits.find(one => event.offsetX >= one.x && event.offsetX <= one.x + one.width &&
        event.offsetY >= one.y && event.offsetY <= one.y + one.height);
      if (hit) showTip(hit.describe(), event.clientX, event.clientY); else hideTip();
    });
    this.canvas.addEventListener("pointerleave", hideTip);
    this.canvas.addEventListener("keydown", event => {
      const way = {ArrowLeft: -1, ArrowRight: 1}[event.key];
      if (!way) return;
      event.preventDefault();
      const next = Math.max(0, Math.min(+this.slider.max, +this.slider.value + way));
      view.look(this.stops ? this.stops[next] : next);
    });
    this.hits = [];
    view.listeners.push(() => this.request());
    new ResizeObserver(() => this.request()).observe(this.canvas);
    charts.add(this);
  }
  request() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.paint();
    });
  }
  /** The last stop that is not behind the cursor; with every event a stop, the cursor. */
  event() {
    const wanted = this.view.cursor === null ? this.device.peakEvent : this.view.cursor;
    if (!this.stops) return wanted;
    let found = 0;
    for (let i = 0; i < this.stops.length; ++i) if (this.stops[i] <= wanted) found = i;
    return this.stops[found];
  }
  /** What is there after the event: segments in order, each with its blocks and what is free. */
  state(event) {
    const {segments, blocks, frames} = this.device, found = [];
    for (let i = 0; i < segments.length; ++i) {
      if (segments.begin[i] <= event && event < segments.end[i]) {
        found.push({position: segments.position[i], bytes: segments.bytes[i], pieces: []});
      }
    }
    found.sort((a, b) => a.position - b.position);
    const put = (position, bytes, piece) => {
      let low = 0, high = found.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (found[middle].position <= position) low = middle + 1; else high = middle;
      }
      let rest = bytes, at = position;
      // A block of an expandable segment can lie over several mapped ranges.
      for (let i = low - 1; i >= 0 && i < found.length && rest > 0; ++i) {
        const room = found[i].position + found[i].bytes - at;
        if (room <= 0) break;
        found[i].pieces.push({position: at, bytes: Math.min(room, rest), ...piece});
        at += Math.min(room, rest);
        rest -= Math.min(room, rest);
      }
    };
    for (let i = 0; i < blocks.length; ++i) {
      if (blocks.begin[i] <= event && event < blocks.end[i]) put(blocks.position[i], blocks.bytes[i], {block: i});
    }
    const frame = frames.find(one => one.event === event);
    if (frame) {
      for (let i = 0; i < frame.position.length; ++i) put(frame.position[i], frame.bytes[i], {block: -1});
    }
    return found;
  }
  paint() {
    const width = this.canvas.clientWidth, ratio = window.devicePixelRatio || 1;
    if (!width) return;
    const event = this.event(), state = this.state(event);
    const index = this.stops ? this.stops.indexOf(event) : event;
    this.slider.value = String(index);
    this.slider.setAttribute("aria-valuetext", `event ${event}`);
    const rows = this.layout(state, width);
    const height = Math.max(28, rows * 22 + 6);
    this.canvas.style.height = height + "px";
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const g = this.canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.hits = [];
    for (const segment of state) this.drawSegment(g, segment);
    this.say(event, state);
  }
  /** Places the segments in rows, the largest as wide as there is room; returns how many rows. */
  layout(state, width) {
    const most = Math.max(1, ...state.map(segment => segment.bytes));
    let scale = (width - 2) / most, rows = 1;
    for (let attempt = 0; attempt < 12; ++attempt, scale *= 0.75) {
      let x = 1;
      rows = 1;
      for (const segment of state) {
        const size = Math.max(3, segment.bytes * scale);
        if (x > 1 && x + size > width - 1) {
          x = 1;
          ++rows;
        }
        Object.assign(segment, {x, y: (rows - 1) * 22 + 3, scale: size / segment.bytes});
        x += size + 5;
      }
      if (rows <= 22) break;
    }
    return rows;
  }
  drawSegment(g, segment) {
    const {blocks} = this.device, width = segment.bytes * segment.scale;
    g.fillStyle = color("free");
    g.fillRect(segment.x, segment.y, width, 17);
    const taken = segment.pieces.reduce((sum, piece) => sum + piece.bytes, 0);
    for (const piece of segment.pieces) {
      const x = segment.x + (piece.position - segment.position) * segment.scale;
      const size = piece.bytes * segment.scale;
      g.fillStyle = piece.block < 0 ? color("reserved") : color(CATEGORIES[blocks.category[piece.block]]);
      g.fillRect(x, segment.y, Math.max(0.7, size - (size > 3 ? 1 : 0)), 17);
      this.hits.push({x, y: segment.y, width: Math.max(2, size), height: 17,
        describe: () => piece.block < 0 ? [tipLine(`${human(piece.bytes)} of blocks that are left out here`)] :
          blockLines(this.history, this.device, piece.block)});
    }
    this.hits.push({x: segment.x, y: segment.y, width, height: 17, describe: () => [
      element("div", {}, element("b", {}, human(segment.bytes)), " segment"),
      tipLine(`${human(taken)} in blocks, ${human(segment.bytes - taken)} free`),
      tipLine(`at ${addressOf(this.device, segment.position)}`, "soft")]});
    g.strokeStyle = color("reserved");
    g.lineWidth = 1;
    g.strokeRect(segment.x - 0.5, segment.y - 0.5, width + 1, 18);
  }
  say(event, state) {
    let reserved = 0, taken = 0, hole = 0;
    for (const segment of state) {
      reserved += segment.bytes;
      let at = segment.position;
      for (const piece of [...segment.pieces].sort((a, b) => a.position - b.position)) {
        hole = Math.max(hole, piece.position - at);
        at = piece.position + piece.bytes;
        taken += piece.bytes;
      }
      hole = Math.max(hole, segment.position + segment.bytes - at);
    }
    this.readout.dataset.event = event;
    this.readout.dataset.reserved = reserved;
    this.readout.dataset.active = taken;
    this.readout.textContent = `After event ${grouped(event)}, step ${stepsBefore(this.history, event) + 1}: ` +
      `${state.length} segment${state.length === 1 ? "" : "s"} of ${human(reserved)}, ${human(taken)} in blocks, ` +
      `${human(reserved - taken)} free, the largest gap ${human(hole)}.`;
  }
}
