"use strict";
// ---- data: what the report carries, turned into arrays where it is needed -----------------------

const CATEGORIES = ["parameter", "gradient", "optimizer_state", "activation", "input", "workspace",
  "other"];

/** Twice what Python allows: only what nobody's program made is cut. */
const MOST_STACK_LINES = 2000;

/** The data of a script element that the report carries compressed. */
function dataOf(script) {
  const bytes = Uint8Array.from(atob(script.textContent), digit => digit.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

/** "1 22 333" as numbers. */
function column(text) {
  const values = [];
  let value = 0, digits = false;
  for (let i = 0; i < text.length; ++i) {
    const code = text.charCodeAt(i);
    if (code === 32) {
      values.push(value);
      value = 0;
    } else {
      value = value * 10 + code - 48;
    }
    digits = true;
  }
  if (digits) values.push(value);
  return Float64Array.from(values);
}

function columns(object) {
  const out = {};
  for (const key in object) out[key] = column(object[key]);
  out.length = Object.values(out)[0].length;
  return out;
}

function decodeDevice(device) {
  const categories = {};
  for (const name in device.by_category) categories[name] = column(device.by_category[name]);
  const ranges = columns(device.ranges);
  const last = ranges.length - 1;
  return {
    name: device.device,
    high: column(device.allocated_high), low: column(device.allocated_low),
    reserved: column(device.reserved_high), categories,
    peakEvent: device.peak_event, ranges,
    extent: last < 0 ? 0 : ranges.position[last] + ranges.bytes[last],
    segments: columns(device.segments), blocks: columns(device.blocks),
    leftOut: device.blocks_left_out, segmentsLeftOut: device.segments_left_out,
    frames: device.frames.map(
      frame => ({event: frame.event, position: column(frame.position), bytes: column(frame.bytes)})),
  };
}

/** The history of a variant, decoded at its first use; null where none was recorded. */
function historyOf(variant) {
  if (!variant.history) return null;
  if (!variant.decoded) {
    const raw = variant.history;
    variant.decoded = {
      events: raw.events, perBucket: raw.events_per_bucket, steps: column(raw.steps),
      stepsEvery: raw.steps_every || 1,
      oom: raw.oom_event === undefined ? null : raw.oom_event, sites: raw.sites,
      lines: raw.lines || [], calls: raw.calls ? columns(raw.calls) : {length: 0}, stacks: [],
      devices: raw.devices.map(decodeDevice),
    };
    variant.history = true;
  }
  return variant.decoded;
}

const bucketOf = (history, event) =>
  Math.max(0, Math.min(Math.floor(event / history.perBucket),
    Math.ceil(history.events / history.perBucket) - 1));

/** How many steps had ended after this event; of very many to the nearest that is told. */
function stepsBefore(history, event) {
  let low = 0, high = history.steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (history.steps[middle] < event) low = middle + 1; else high = middle;
  }
  return low * history.stepsEvery;
}

/** ", step 3" at this event; nothing where no steps are known. */
const inStep = (history, event) => history.steps.length ? `, step ${stepsBefore(history, event) + 1}` : "";

/** The lines that were running for a site, the innermost first; of some only the site's own is known. */
function stackOf(history, id) {
  if (history.stacks[id]) return history.stacks[id];
  const {calls, lines} = history, site = history.sites[id], stack = [];
  for (let at = site.call || 0; at > 0 && stack.length < MOST_STACK_LINES; at = calls.caller[at - 1]) {
    stack.push(lines[calls.line[at - 1]]);
  }
  if (!stack.length && site.file) stack.push({file: site.file, line: site.line, function: "", own: true});
  return history.stacks[id] = stack;
}

const isThere = (spans, i, event) => spans.begin[i] <= event && event < spans.end[i];

function addressOf(device, position) {
  const {ranges} = device;
  for (let i = ranges.length - 1; i >= 0; --i) {
    if (position >= ranges.position[i]) {
      return "0x" + (ranges.address[i] + position - ranges.position[i]).toString(16);
    }
  }
  return "";
}

// ---- text ---------------------------------------------------------------------------------------

const UNITS = [["B", 1], ["KiB", 1024], ["MiB", 1048576], ["GiB", 1073741824],
  ["TiB", 1099511627776]];

function unitFor(bytes) {
  let chosen = UNITS[0];
  for (const unit of UNITS) if (bytes >= unit[1]) chosen = unit;
  return chosen;
}

/** As the program's tables print them: the largest unit that gives at least one. */
function human(bytes) {
  const [name, size] = unitFor(Math.abs(bytes));
  if (size === 1) return `${bytes} B`;
  // What lies in the middle of two goes to the even one, as in the program.
  const scaled = bytes / size * 100, below = Math.floor(scaled);
  const rounded = scaled - below === 0.5 ? below + below % 2 : Math.round(scaled);
  return `${(rounded / 100).toFixed(2)} ${name}`;
}

/** What a library did behind a site's line, and the module that was running. */
const behind = site => [site.library && baseName(site.library), site.module].filter(Boolean).join(", ");
const baseName = file => file.slice(file.lastIndexOf("/") + 1);
const plural = (count, word) => `${grouped(count)} ${word}${count === 1 ? "" : "s"}`;
const words = name => name.replace("_", " ");
const grouped = number => String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
const exact = bytes => `${human(bytes)} (${grouped(bytes)} bytes)`;

function element(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const key in attributes) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), attributes[key]);
    else node.setAttribute(key, attributes[key]);
  }
  node.append(...children);
  return node;
}

/** What is drawn over the colour of a category, in a square of 8: most people who see few colours see these. */
const MARKS = {
  gradient: [[0, 8, 8, 0], [-2, 2, 2, -2], [6, 10, 10, 6]],
  optimizer_state: [[0, 8, 8, 0], [0, 0, 8, 8], [-2, 2, 2, -2], [6, 10, 10, 6]],
  input: [[1.2, 2, 2.8, 2], [5.2, 6, 6.8, 6]],
  workspace: [[0, 2, 8, 2], [0, 6, 8, 6]],
  other: [[2, 0, 2, 8], [6, 0, 6, 8]],
};

/** The colour and marks of a category, to fill what is large enough to show them. */
function fillOf(name) {
  if (!MARKS[name]) return color(name);
  const key = "fill " + name, ink = name === "workspace" ? "hatch-on-light" : "hatch";
  const ground = color(name);
  if (!(key in paletteCache)) {
    const ratio = window.devicePixelRatio || 1, size = Math.round(8 * ratio);
    const tile = element("canvas", {width: String(size), height: String(size)}), g = tile.getContext("2d");
    g.fillStyle = ground;
    g.fillRect(0, 0, size, size);
    g.scale(size / 8, size / 8);
    g.strokeStyle = color(ink);
    g.lineWidth = name === "input" ? 1.6 : 1;
    g.beginPath();
    for (const [x, y, toX, toY] of MARKS[name]) {
      g.moveTo(x, y);
      g.lineTo(toX, toY);
    }
    g.stroke();
    const pattern = g.createPattern(tile, "repeat");
    pattern.setTransform(new DOMMatrix([8 / size, 0, 0, 8 / size, 0, 0]));
    paletteCache[key] = pattern;
  }
  return paletteCache[key];
}

let paletteCache = null;
/** A colour of the style sheet; changes with the theme. */
function color(name) {
  if (!paletteCache) paletteCache = {};
  if (!(name in paletteCache)) {
    paletteCache[name] =
      getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  }
  return paletteCache[name];
}
