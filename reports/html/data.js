"use strict";
// ---- data: what the report carries, turned into arrays where it is needed -----------------------

const CATEGORIES = ["parameter", "gradient", "optimizer_state", "activation", "input", "workspace",
  "other"];

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
  return size === 1 ? `${bytes} B` : `${(bytes / size).toFixed(2)} ${name}`;
}

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
