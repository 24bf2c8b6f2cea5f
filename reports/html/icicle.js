// ---- the icicle: what is alive at an event, from the outermost call to the op --------------------

const ICICLE_ROW = 22;
/** Deeper ones are reached by going into a call. */
const ICICLE_DEPTH = 40;

/** Ways of a block's site from the outside in; each step has a key, a label and the line it stands for. */
const ICICLE_PATHS = {
  stack(history, id) {
    const site = history.sites[id], stack = stackOf(history, id);
    const path = [...stack].reverse().map(line => lineStep(line));
    const innermost = stack[0];
    if (site.op && !(innermost && innermost.function === site.op)) path.push({key: "op " + site.op, label: site.op});
    return path.length ? path : [{key: "", label: "no stack"}];
  },
  module(history, id) {
    const site = history.sites[id];
    const calls = site.module ? site.module.split(".").map(name => ({key: name, label: name})) :
      [...stackOf(history, id)].reverse().filter(line => line.function === "forward").map(moduleStep);
    if (!calls.length) calls.push({key: "", label: "outside of modules"});
    return [...calls, ...ownPlace(site), ...libraryPlace(site), {key: "op " + site.op, label: site.op || "no op"}];
  },
  line(history, id) {
    const site = history.sites[id];
    if (!site.file) return [{key: "", label: site.op || "no line of a script"}];
    return [{key: site.file, label: site.file}, ...ownPlace(site), ...libraryPlace(site),
      {key: "op " + site.op, label: site.op || "no op"}];
  },
};

const ownPlace = site => site.file ?
  [{key: `${site.file}:${site.line}`, label: `${baseName(site.file)}:${site.line}`, line: {...site, function: "", own: true}}] : [];

const libraryPlace = site => site.library ? [{key: site.library, label: baseName(site.library)}] : [];

function lineStep(line) {
  const place = line.line ? `${baseName(line.file)}:${line.line}` : "";
  const label = line.own || !line.function ? `${place} ${line.function}` : line.function;
  return {key: `${line.file}:${line.line} ${line.function}`, label: label.trim(), line};
}

/** A module as a stack tells of it: the call of its forward. Installed ones have their kind's name. */
function moduleStep(line) {
  const file = baseName(line.file), kind = file.replace(/\.py$/, "");
  return {key: `${line.file}:${line.line}`, label: line.own ? `${file}:${line.line} forward` : kind, line};
}

class AliveTree {
  constructor(label) {
    Object.assign(this, {label, steps: [], bytes: 0, blocks: 0, largest: -1, parts: new Float64Array(CATEGORIES.length),
      children: new Map(), parent: null});
  }
  add(blocks, i) {
    this.bytes += blocks.bytes[i];
    ++this.blocks;
    this.parts[blocks.category[i]] += blocks.bytes[i];
    if (this.largest < 0 || blocks.bytes[i] > blocks.bytes[this.largest]) this.largest = i;
  }
  child(step) {
    let found = this.children.get(step.key);
    if (!found) {
      found = new AliveTree(step.label);
      found.steps = [step];
      found.parent = this;
      this.children.set(step.key, found);
    }
    return found;
  }
  /** A call that made just one other is one with it: the row has the label of the line that is read. */
  fold() {
    while (this.parent && this.children.size === 1) {
      const [only] = this.children.values();
      if (only.blocks !== this.blocks) break;
      this.steps.push(...only.steps);
      this.largest = only.largest;
      this.children = only.children;
      for (const child of this.children.values()) child.parent = this;
    }
    const own = this.steps.filter(step => step.line && step.line.own);
    const spoken = own.length ? own[own.length - 1] : this.steps[this.steps.length - 1];
    if (spoken) this.label = spoken.label + (this.children.size || spoken === this.steps[this.steps.length - 1] ? "" :
      " → " + this.steps[this.steps.length - 1].label);
    this.sorted = [...this.children.values()].sort((a, b) => b.bytes - a.bytes || (a.label < b.label ? -1 : 1));
    for (const child of this.sorted) child.fold();
  }
  /** From the outermost call to this one. */
  path() { return this.parent ? [...this.parent.path(), ...this.steps] : this.steps; }
}

function aliveTree(history, device, name, isAlive) {
  const root = new AliveTree("all"), {blocks} = device, paths = new Map();
  for (let i = 0; i < blocks.length; ++i) {
    if (!isAlive(i)) continue;
    const site = blocks.site[i];
    if (!paths.has(site)) paths.set(site, ICICLE_PATHS[name](history, site));
    let node = root;
    root.add(blocks, i);
    for (const step of paths.get(site)) {
      node = node.child(step);
      node.add(blocks, i);
    }
  }
  root.fold();
  return root;
}

class Icicle {
  constructor(host, view, history, device) {
    Object.assign(this, {view, history, device, by: "stack", of: "peak"});
    const choice = (label, options, change) => element("label", {}, label, element("select",
      {onchange: event => change(event.target.value)},
      ...options.map(([value, text]) => element("option", {value}, text))));
    const moments = [["peak", "at the peak"], ["looked", "at the event looked at"],
      ["new", "at the peak, made after the event looked at"]];
    if (history.oom !== null) moments.splice(1, 0, ["oom", "when memory ran out"]);
    this.outward = element("button", {type: "button", onclick: () => this.enter(this.focus.parent || this.root)}, "out");
    host.append(element("div", {class: "controls"},
      choice("by", [["stack", "stack"], ["module", "module"], ["line", "line"]], value => this.change({by: value})),
      choice("alive", moments, value => this.change({of: value})), this.outward));
    this.tree = element("div", {class: "icicle-rows", role: "tree", "aria-label": `What is alive on ${device.name}`});
    this.about = element("div", {class: "icicle-about", "aria-live": "polite"});
    host.append(this.tree, this.about);
    this.tree.addEventListener("keydown", event => this.key(event));
    this.tree.addEventListener("click", event => {
      const node = this.nodeOf(event.target);
      if (!node) return;
      this.select(node, true);
      this.enter(node);
    });
    this.tree.addEventListener("pointermove", event => {
      const node = this.nodeOf(event.target);
      if (node) showTip([tipLine(node.label), tipLine(this.figures(node), "soft")], event.clientX, event.clientY); else hideTip();
    });
    this.tree.addEventListener("pointerleave", hideTip);
    view.listeners.push(() => { if (this.of !== "peak" && this.of !== "oom") this.change({}); });
    new ResizeObserver(() => this.draw()).observe(this.tree);
    this.change({});
  }
  event() {
    const {view, history, device} = this;
    if (this.of === "oom") return history.oom;
    return this.of === "looked" && view.cursor !== null ? view.cursor : device.peakEvent;
  }
  change(what) {
    Object.assign(this, what);
    const at = this.event(), {blocks} = this.device;
    const after = this.of === "new" && this.view.cursor !== null ? this.view.cursor : -1;
    const made = `${this.by} ${at} ${after}`;
    if (made === this.made) return;
    this.made = made;
    this.root = aliveTree(this.history, this.device, this.by, i => isThere(blocks, i, at) && blocks.begin[i] > after);
    this.root.label = `all, after event ${grouped(at)}`;
    this.focus = this.selected = this.root;
    this.draw();
    this.say();
  }
  /** Makes a call as wide as there is room. */
  enter(node) {
    this.focus = node;
    this.draw();
  }
  nodeOf(target) {
    const row = target.closest("[role=treeitem]");
    return row ? row.node : null;
  }
  figures(node) {
    const share = this.root.bytes ? (100 * node.bytes / this.root.bytes).toFixed(1) : "0.0";
    return `${human(node.bytes)}, ${share} %, ${plural(node.blocks, "block")}`;
  }
  draw() {
    const width = this.tree.clientWidth;
    if (!width) return;
    const held = this.tree.contains(document.activeElement);
    const rows = [], place = (node, depth, left, share) => {
      const pixels = share * width;
      if (pixels < 3 || depth > ICICLE_DEPTH) return;
      rows.push(this.row(node, depth, left, share));
      let at = left;
      for (const child of node.sorted) {
        const part = share * child.bytes / (node.bytes || 1);
        place(child, depth + 1, at, part);
        at += part;
      }
    };
    const above = [];
    for (let node = this.focus.parent; node; node = node.parent) above.unshift(node);
    above.forEach((node, depth) => rows.push(this.row(node, depth, 0, 1)));
    place(this.focus, above.length, 0, 1);
    this.tree.replaceChildren(...rows);
    const depth = Math.max(0, ...rows.map(row => row.depth));
    this.tree.style.height = `${(depth + 1) * ICICLE_ROW + 2}px`;
    this.outward.disabled = this.focus === this.root;
    if (!rows.some(row => row.node === this.selected)) this.selected = this.focus;
    this.mark(held);
  }
  row(node, depth, left, share) {
    const row = element("div", {role: "treeitem", "aria-level": String(depth + 1), tabindex: "-1",
      "aria-expanded": String(node.sorted.length > 0), "aria-label": `${node.label}: ${this.figures(node)}`},
      element("span", {}, node.label));
    row.style.cssText = `left:${100 * left}%;width:calc(${100 * share}% - 1px);top:${depth * ICICLE_ROW}px`;
    row.style.setProperty("--parts", this.stripes(node));
    Object.assign(row, {node, depth});
    return row;
  }
  /** What the bytes are for, as the lower edge of the row. */
  stripes(node) {
    let at = 0;
    const stops = [];
    node.parts.forEach((bytes, i) => {
      if (!bytes) return;
      const end = at + 100 * bytes / node.bytes;
      stops.push(`var(--${CATEGORIES[i]}) ${at.toFixed(2)}% ${end.toFixed(2)}%`);
      at = end;
    });
    return stops.length ? `linear-gradient(90deg, ${stops.join(", ")})` : "none";
  }
  mark(takeFocus) {
    for (const row of this.tree.children) {
      const is = row.node === this.selected;
      row.setAttribute("aria-selected", String(is));
      row.tabIndex = is ? 0 : -1;
      if (is && takeFocus) row.focus({preventScroll: true});
    }
  }
  select(node, takeFocus) {
    this.selected = node;
    this.mark(takeFocus);
    this.say();
  }
  key(event) {
    const {selected} = this, siblings = selected.parent ? selected.parent.sorted : [selected];
    const beside = siblings[siblings.indexOf(selected) + {ArrowLeft: -1, ArrowRight: 1}[event.key]];
    const next = {ArrowDown: selected.sorted[0], ArrowUp: selected.parent, ArrowLeft: beside, ArrowRight: beside,
      Home: this.root}[event.key];
    if (event.key === "Enter" || event.key === " ") this.enter(selected);
    else if (event.key === "Escape" || event.key === "Backspace") {
      this.selected = this.focus.parent || this.root;
      this.enter(this.selected);
    } else if (next) {
      this.select(next, true);
      if (![...this.tree.children].some(row => row.node === next)) this.enter(next.parent || next);
      if (![...this.tree.children].some(row => row.node === next)) this.enter(next);
      this.select(next, true);
    } else if (!event.key.startsWith("Arrow") && event.key !== "Home") return;
    event.preventDefault();
    this.say();
  }
  say() {
    const {selected, view, device} = this, {blocks} = device;
    const lines = selected.path().filter(step => step.line).map(step => step.line).reverse();
    const parts = [...selected.parts].map((bytes, i) => [CATEGORIES[i], bytes]).filter(part => part[1]);
    const missing = this.of === "new" ? 0 : device.high[bucketOf(this.history, this.event())] - this.root.bytes;
    this.about.replaceChildren(
      element("p", {}, element("b", {}, selected.label), ` ${this.figures(selected)} (${grouped(selected.bytes)} bytes)`),
      element("div", {class: "legend"}, ...parts.map(([name, bytes]) => element("span", {class: "key"},
        element("i", {class: "c-" + name}), `${words(name)} ${human(bytes)}`))),
      ...(selected.largest < 0 ? [] : [element("div", {class: "controls"}, element("button", {type: "button",
        onclick: () => {
          view.pinned = {kind: "block", device, index: selected.largest};
          view.look(blocks.begin[selected.largest]);
        }}, "pin its largest block"))]),
      ...(lines.length ? [callList(lines)] : []),
      ...(device.leftOut && missing > 0 && selected === this.root ? [tipLine(
        `At most ${human(missing)} more is in small or short blocks, which this report leaves out.`, "soft")] : []));
  }
}
