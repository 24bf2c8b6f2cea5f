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
        ` ${line.variant.name}${inStep(line.history, event)}`))];
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
        g.fillStyle = fillOf(name);
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
    return [tipLine(`${this.device.name}, after event ${grouped(event)}${inStep(this.history, event)}`, "soft"),
      element("div", {}, element("b", {}, human(allocated)), ` allocated, ${human(reserved)} reserved`),
      ...parts.map(([name, bytes]) => element("div", {}, element("i", {class: "swatch c-" + name}),
        `${human(bytes)} ${name.replace("_", " ")}`))];
  }
  read() {
    if (this.view.cursor === null) return "";
    const {allocated, reserved} = this.figures(this.view.cursor);
    const event = this.view.cursor;
    return `${this.device.name} after event ${grouped(event)}${inStep(this.history, event)}: ` +
      `${exact(allocated)} allocated, ${human(reserved)} reserved`;
  }
}

function blockLines(history, device, i) {
  const {blocks} = device, site = history.sites[blocks.site[i]];
  const name = CATEGORIES[blocks.category[i]];
  const begin = blocks.begin[i], end = blocks.end[i];
  const until = end >= history.events ? "the end" : `event ${grouped(end)}`;
  const steps = stepsBefore(history, Math.min(end, history.events - 1)) - stepsBefore(history, begin);
  const lived = plural(end - begin, "event") + (history.steps.length ? `, ${plural(steps, "step")}` : "");
  return [
    element("div", {}, element("i", {class: "swatch c-" + name}), element("b", {}, human(blocks.bytes[i])),
      ` ${name.replace("_", " ")}`),
    tipLine(`${grouped(blocks.bytes[i])} bytes` + (site.op ? ` of ${site.op}` : "")),
    tipLine((site.file ? `${site.file}:${site.line}` : "no line of a script") +
      (behind(site) ? `, in ${behind(site)}` : ""), "soft"),
    tipLine(`from event ${grouped(begin)}${inStep(history, begin)} to ${until}: ${lived}`, "soft"),
    tipLine(`at ${addressOf(device, blocks.position[i])}`, "soft"),
  ];
}

/** Around what is pinned: seen on every colour. */
function outline(g, x, y, width, height) {
  g.lineWidth = 4;
  g.strokeStyle = color("card");
  g.strokeRect(x - 1, y - 1, width + 2, height + 2);
  g.lineWidth = 2;
  g.strokeStyle = color("ink");
  g.strokeRect(x - 1, y - 1, width + 2, height + 2);
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
      const plain = color(CATEGORIES[category]), marked = fillOf(CATEGORIES[category]);
      for (let i = 0; i < blocks.length; ++i) {
        if (blocks.category[i] !== category || blocks.end[i] < view.start || blocks.begin[i] > view.end) continue;
        const x = this.x(blocks.begin[i]), y = this.y(blocks.position[i] + blocks.bytes[i]);
        const width = this.x(blocks.end[i]) - x, height = this.y(blocks.position[i]) - y;
        g.fillStyle = width > 5 && height > 5 ? marked : plain;
        g.fillRect(x, y, Math.max(0.7, width - (width > 3 ? 0.5 : 0)), Math.max(0.7, height - (height > 3 ? 0.7 : 0)));
      }
    }
    this.drawSteps(g, this.history);
    if (this.history.oom !== null) this.drawOom(g, this.history.oom, this.device.extent * 0.97);
    this.drawPinned(g);
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
  click(event) {
    const index = this.blockAt(event.offsetX, event.offsetY);
    this.view.pinned = index < 0 ? null : {kind: "block", device: this.device, index};
    super.click(event);
  }
  /** Up and down go through the blocks that are there at the event, by their place in memory. */
  key(event) {
    const way = {ArrowUp: 1, ArrowDown: -1}[event.key];
    if (!way || event.ctrlKey || event.metaKey || event.altKey) return super.key(event);
    event.preventDefault();
    const {blocks} = this.device, {view} = this;
    const at = view.cursor === null ? this.device.peakEvent : view.cursor;
    const there = [];
    for (let i = 0; i < blocks.length; ++i) if (isThere(blocks, i, at)) there.push(i);
    if (!there.length) return;
    there.sort((a, b) => blocks.position[a] - blocks.position[b]);
    const now = there.findIndex(i => view.isPinned("block", this.device, i));
    const next = now < 0 ? 0 : Math.max(0, Math.min(there.length - 1, now + way));
    view.pinned = {kind: "block", device: this.device, index: there[next]};
    view.look(at);
  }
  drawPinned(g) {
    const {pinned} = this.view;
    if (!pinned || pinned.device !== this.device) return;
    const spans = this.device[pinned.kind === "block" ? "blocks" : "segments"], i = pinned.index;
    const x = this.x(spans.begin[i]), y = this.y(spans.position[i] + spans.bytes[i]);
    outline(g, x, y, this.x(spans.end[i]) - x, this.y(spans.position[i]) - y);
  }
  read() {
    const {leftOut, blocks} = this.device;
    return leftOut === 0 ? `${grouped(blocks.length)} blocks.` :
      `The ${grouped(blocks.length)} blocks of most bytes × lifetime; ${grouped(leftOut)} smaller or shorter ones are left out here.`;
  }
}
