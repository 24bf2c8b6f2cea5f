// ---- segments: at one event, and over time -------------------------------------------------------

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
    // Blocks that are known lie above the others, and those above their segment.
    const hitAt = event => {
      const all = this.hits.filter(one => event.offsetX >= one.x && event.offsetX <= one.x + one.width &&
        event.offsetY >= one.y && event.offsetY <= one.y + one.height);
      return all.find(one => one.pin && one.pin.kind === "block") || all[0];
    };
    this.canvas.addEventListener("click", event => {
      const hit = hitAt(event);
      view.pin(hit && hit.pin ? {device, ...hit.pin} : null);
    });
    this.canvas.addEventListener("pointermove", event => {
      const hit = hitAt(event);
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
  event() { return this.view.cursor === null ? this.device.peakEvent : this.view.cursor; }
  /** The last of the events at which blocks that are left out are known, that is not behind this one. */
  stopBefore(event) {
    let found = 0;
    for (let i = 0; i < this.stops.length; ++i) if (this.stops[i] <= event) found = i;
    return found;
  }
  /** What is there after the event: segments in order, each with its blocks and what is free. */
  state(event) {
    const {segments, blocks, frames} = this.device, found = [];
    for (let i = 0; i < segments.length; ++i) {
      if (segments.begin[i] <= event && event < segments.end[i]) {
        found.push({index: i, position: segments.position[i], bytes: segments.bytes[i], pieces: []});
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
    // What is left out lies below what is known, which may have come since.
    const frame = this.stops && frames[this.stopBefore(event)];
    if (frame) {
      for (let i = 0; i < frame.position.length; ++i) put(frame.position[i], frame.bytes[i], {block: -1});
    }
    for (let i = 0; i < blocks.length; ++i) {
      if (isThere(blocks, i, event)) put(blocks.position[i], blocks.bytes[i], {block: i});
    }
    for (const segment of found) Object.assign(segment, this.filled(segment));
    return found;
  }
  /** The bytes of a segment that something lies on, and its largest gap. */
  filled(segment) {
    let at = segment.position, taken = 0, hole = 0;
    for (const piece of [...segment.pieces].sort((a, b) => a.position - b.position)) {
      const end = piece.position + piece.bytes;
      hole = Math.max(hole, piece.position - at);
      taken += Math.max(0, end - Math.max(at, piece.position));
      at = Math.max(at, end);
    }
    return {taken, hole: Math.max(hole, segment.position + segment.bytes - at)};
  }
  paint() {
    const width = this.canvas.clientWidth, ratio = window.devicePixelRatio || 1;
    if (!width) return;
    const event = this.event(), state = this.state(event);
    const index = this.stops ? this.stopBefore(event) : event;
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
    for (const piece of segment.pieces) {
      const x = segment.x + (piece.position - segment.position) * segment.scale;
      const size = piece.bytes * segment.scale;
      g.fillStyle = piece.block < 0 ? color("reserved") :
        (size > 5 ? fillOf : color)(CATEGORIES[blocks.category[piece.block]]);
      g.fillRect(x, segment.y, Math.max(0.7, size - (size > 3 ? 1 : 0)), 17);
      this.hits.push({x, y: segment.y, width: Math.max(2, size), height: 17,
        pin: piece.block < 0 ? null : {kind: "block", index: piece.block},
        describe: () => piece.block < 0 ? [tipLine(`${human(piece.bytes)} of blocks that are left out here`)] :
          blockLines(this.history, this.device, piece.block)});
    }
    this.hits.push({x: segment.x, y: segment.y, width, height: 17, pin: {kind: "segment", index: segment.index}, describe: () => [
      element("div", {}, element("b", {}, human(segment.bytes)), " segment"),
      tipLine(`${human(segment.taken)} in blocks, ${human(segment.bytes - segment.taken)} free`),
      tipLine(`at ${addressOf(this.device, segment.position)}`, "soft")]});
    g.strokeStyle = color("reserved");
    g.lineWidth = 1;
    g.strokeRect(segment.x - 0.5, segment.y - 0.5, width + 1, 18);
    if (this.view.isPinned("segment", this.device, segment.index)) outline(g, segment.x, segment.y, width, 17);
    for (const piece of segment.pieces) {
      if (piece.block < 0 || !this.view.isPinned("block", this.device, piece.block)) continue;
      outline(g, segment.x + (piece.position - segment.position) * segment.scale, segment.y,
        piece.bytes * segment.scale, 17);
    }
  }
  say(event, state) {
    let reserved = 0, taken = 0, hole = 0;
    for (const segment of state) {
      reserved += segment.bytes;
      taken += segment.taken;
      hole = Math.max(hole, segment.hole);
    }
    const stop = this.stops ? this.stops[this.stopBefore(event)] : event;
    this.readout.dataset.event = event;
    this.readout.dataset.reserved = reserved;
    this.readout.dataset.active = taken;
    this.readout.textContent = `After event ${grouped(event)}${inStep(this.history, event)}: ` +
      `${state.length} segment${state.length === 1 ? "" : "s"} of ${human(reserved)}, ${human(taken)} in blocks, ` +
      `${human(reserved - taken)} free, the largest gap ${human(hole)}.` +
      (stop === event ? "" : ` Blocks that are left out here are as after event ${grouped(stop)}.`);
  }
}

/** Every segment, from when it was obtained until it was given back; the more of it is in blocks, the stronger its colour. */
class SegmentsChart extends TimeChart {
  constructor(host, view, history, device) {
    super(host, view, {height: 240, label: `Reserved segments of ${device.name} over time`,
      yLabel: "place in memory; coloured: in blocks, grey: reserved and free"});
    this.history = history;
    this.device = device;
    this.used = this.usage();
  }
  ceiling() { return this.device.extent || 1; }
  /** The share of each segment that is in blocks, for each of so many equal parts of the time. */
  usage() {
    const {segments, blocks} = this.device, parts = SegmentsChart.parts;
    const order = Array.from({length: segments.length}, (_, i) => i).sort((a, b) =>
      segments.position[a] - segments.position[b] || segments.begin[a] - segments.begin[b]);
    const starts = order.map(i => segments.position[i]);
    const used = Array.from({length: segments.length}, () => new Float32Array(parts + 1));
    const part = event => Math.min(parts, Math.floor(event / this.history.events * parts));
    let widest = 0;
    for (let i = 0; i < segments.length; ++i) widest = Math.max(widest, segments.bytes[i]);
    for (let i = 0; i < blocks.length; ++i) {
      let low = 0, high = starts.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (starts[middle] <= blocks.position[i]) low = middle + 1; else high = middle;
      }
      // Segments of other times can have the same place.
      for (let at = low - 1; at >= 0 && starts[at] + widest > blocks.position[i]; --at) {
        const one = order[at];
        if (!(segments.begin[one] <= blocks.begin[i] && blocks.begin[i] < segments.end[one])) continue;
        if (segments.position[one] + segments.bytes[one] <= blocks.position[i]) continue;
        used[one][part(blocks.begin[i])] += blocks.bytes[i] / segments.bytes[one];
        used[one][Math.min(parts, part(blocks.end[i]) + 1)] -= blocks.bytes[i] / segments.bytes[one];
        break;
      }
    }
    for (const one of used) for (let i = 1; i <= parts; ++i) one[i] += one[i - 1];
    return used;
  }
  draw(g) {
    const {segments} = this.device, {view} = this, parts = SegmentsChart.parts, span = this.history.events / parts;
    for (let i = 0; i < segments.length; ++i) {
      if (segments.end[i] < view.start || segments.begin[i] > view.end) continue;
      const x = this.x(segments.begin[i]), right = this.x(segments.end[i]);
      const y = this.y(segments.position[i] + segments.bytes[i]), height = Math.max(1, this.y(segments.position[i]) - y);
      g.fillStyle = color("free");
      g.fillRect(x, y, Math.max(1, right - x), height);
      g.fillStyle = color("accent");
      const first = Math.floor(Math.max(segments.begin[i], view.start) / span);
      const last = Math.min(parts - 1, Math.floor(Math.min(segments.end[i], view.end) / span));
      for (let part = first; part <= last;) {
        // Neighbours that are as full are drawn as one.
        let end = part + 1;
        const share = Math.max(0, Math.min(1, this.used[i][part]));
        while (end <= last && Math.abs(this.used[i][end] - share) < 0.02) ++end;
        const from = Math.max(x, this.x(part * span)), to = Math.min(right, this.x(end * span));
        g.globalAlpha = 0.78 * share;
        if (to > from) g.fillRect(from, y, to - from, height);
        part = end;
      }
      g.globalAlpha = 1;
      if (height > 3) {
        g.strokeStyle = color("card");
        g.lineWidth = 1;
        g.strokeRect(x, y, Math.max(1, right - x), height);
      }
    }
    this.drawSteps(g, this.history);
    if (this.history.oom !== null) this.drawOom(g, this.history.oom, this.device.extent * 0.95);
    const {pinned} = view;
    if (!pinned || pinned.device !== this.device || pinned.kind !== "segment") return;
    const i = pinned.index, x = this.x(segments.begin[i]), y = this.y(segments.position[i] + segments.bytes[i]);
    outline(g, x, y, this.x(segments.end[i]) - x, this.y(segments.position[i]) - y);
  }
  segmentAt(x, y) {
    const {segments} = this.device, event = this.eventAt(x);
    const position = (1 - (y - MARGIN.top) / this.innerHeight()) * this.top;
    for (let i = 0; i < segments.length; ++i) {
      if (isThere(segments, i, event) && segments.position[i] <= position &&
        position < segments.position[i] + segments.bytes[i]) return i;
    }
    return -1;
  }
  describe(x, y) {
    const {segments} = this.device, i = this.segmentAt(x, y);
    if (i < 0) return null;
    const at = Math.min(SegmentsChart.parts - 1, Math.floor(this.eventAt(x) / this.history.events * SegmentsChart.parts));
    const share = Math.max(0, Math.min(1, this.used[i][at]));
    return [element("div", {}, element("b", {}, human(segments.bytes[i])), " segment"),
      tipLine(`about ${(100 * share).toFixed(0)} % of it in blocks here`),
      tipLine(`from event ${grouped(segments.begin[i])} to ` +
        (segments.end[i] >= this.history.events ? "the end" : `event ${grouped(segments.end[i])}`), "soft"),
      tipLine(`at ${addressOf(this.device, segments.position[i])}`, "soft")];
  }
  click(event) {
    const index = this.segmentAt(event.offsetX, event.offsetY);
    this.view.pinned = index < 0 ? null : {kind: "segment", device: this.device, index};
    super.click(event);
  }
  read() {
    const {segments, segmentsLeftOut} = this.device, {cursor} = this.view;
    const left = segmentsLeftOut ? `; ${grouped(segmentsLeftOut)} that lived shortly are left out here` : "";
    if (cursor === null) return `${plural(segments.length, "segment")} in all${left}.`;
    let count = 0, bytes = 0;
    for (let i = 0; i < segments.length; ++i) {
      if (!isThere(segments, i, cursor)) continue;
      ++count;
      bytes += segments.bytes[i];
    }
    return `After event ${grouped(cursor)}: ${plural(count, "segment")} of ${human(bytes)} reserved${left}.`;
  }
}
SegmentsChart.parts = 400;
