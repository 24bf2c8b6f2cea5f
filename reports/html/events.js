// ---- the events: a list that is walked with the arrow keys ---------------------------------------

const EVENT_ROW = 24;
const EVENT_KINDS = ["segment_alloc", "alloc", "oom", "free", "segment_free"];

/**
 * What each event did, of what the report keeps. An entry is one number: the event, the kind and the index of its
 * block or segment, so that a million sort quickly.
 */
class EventTable {
  constructor(history, device) {
    Object.assign(this, {history, device});
    const {blocks, segments} = device, keys = [];
    const put = (event, kind, index) => keys.push((event * 8 + kind) * 2 ** 20 + index);
    for (let i = 0; i < segments.length; ++i) {
      put(segments.begin[i], 0, i);
      if (segments.end[i] < history.events) put(segments.end[i], 4, i);
    }
    for (let i = 0; i < blocks.length; ++i) {
      put(blocks.begin[i], 1, i);
      if (blocks.end[i] < history.events) put(blocks.end[i], 3, i);
    }
    if (history.oom !== null) put(history.oom, 2, 0);
    this.keys = Float64Array.from(keys).sort();
    // One event does one thing: several at the first are what was there before the record.
    this.hasBeginning = keys.filter(key => key < 8 * 2 ** 20).length > 1;
    this.rows = this.keys;
  }
  at(row) {
    const key = this.rows[row], rest = Math.floor(key / 2 ** 20);
    return {event: Math.floor(rest / 8), kind: rest % 8, index: key % 2 ** 20};
  }
  word({event, kind}) {
    return event === 0 && this.hasBeginning ? "there already" : EVENT_KINDS[kind];
  }
  /** The last row at or before the event; -1: none. */
  upTo(event) {
    let low = 0, high = this.rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.at(middle).event <= event) low = middle + 1; else high = middle;
    }
    return low - 1;
  }
  /** Keeps the rows of these kinds whose line or op has the text. */
  filter(kinds, text) {
    const sites = this.history.sites.map(site =>
      !text || `${site.op} ${site.file}:${site.line} ${behind(site)}`.toLowerCase().includes(text));
    this.rows = !text && kinds === "all" ? this.keys : this.keys.filter((key, row, keys) => {
      const rest = Math.floor(key / 2 ** 20), kind = rest % 8, isSegment = kind === 0 || kind === 4;
      if (kinds !== "all" && kinds !== (isSegment ? "segments" : "blocks") && kind !== 2) return false;
      return !text || (!isSegment && kind !== 2 && sites[this.device.blocks.site[key % 2 ** 20]]);
    });
  }
  bytes({kind, index}) {
    return kind === 2 ? 0 : this.device[kind === 0 || kind === 4 ? "segments" : "blocks"].bytes[index];
  }
  /** What stands pinned while the row is selected. */
  pin({kind, index}) {
    if (kind === 2) return null;
    return {kind: kind === 0 || kind === 4 ? "segment" : "block", device: this.device, index};
  }
  place({kind, index}) {
    if (kind !== 1 && kind !== 3) return "";
    const site = this.history.sites[this.device.blocks.site[index]];
    return `${site.op} ${site.file ? `${baseName(site.file)}:${site.line}` : ""} ${behind(site)}`.trim();
  }
}

class EventList {
  constructor(host, view, history, device) {
    Object.assign(this, {view, table: new EventTable(history, device), selected: -1, kinds: "all", text: ""});
    const number = ++EventList.made;
    this.name = row => `event-${number}-${row}`;
    const search = element("input", {type: "search", placeholder: "op or line", "aria-label": "events whose op or line has",
      oninput: () => this.filter({text: search.value.toLowerCase()})});
    host.append(element("div", {class: "controls"}, element("label", {}, "show", element("select",
      {onchange: event => this.filter({kinds: event.target.value})},
      ...[["all", "all events"], ["blocks", "blocks"], ["segments", "segments"]].map(([value, text]) =>
        element("option", {value}, text)))), search));
    this.spacer = element("div", {role: "presentation"});
    this.list = element("div", {class: "event-rows", role: "listbox", tabindex: "0",
      "aria-label": `Events of ${device.name}`}, this.spacer);
    this.count = element("div", {class: "readout"});
    host.append(this.list, this.count);
    this.list.addEventListener("scroll", () => this.draw());
    this.list.addEventListener("keydown", event => this.key(event));
    this.list.addEventListener("click", event => {
      const row = event.target.closest("[role=option]");
      if (row) this.select(+row.dataset.row);
    });
    new ResizeObserver(() => this.draw()).observe(this.list);
    view.listeners.push(() => this.follow());
    this.filter({});
  }
  filter(what) {
    Object.assign(this, what);
    this.table.filter(this.kinds, this.text);
    const {rows, device} = this.table;
    this.spacer.style.height = `${rows.length * EVENT_ROW}px`;
    this.count.textContent = plural(rows.length, "event") +
      (device.leftOut ? `; those of ${plural(device.leftOut, "small or short block")} are left out here` : "");
    this.selected = -1;
    this.follow();
    this.draw();
  }
  /** Goes to where the charts look. */
  follow() {
    const {cursor} = this.view;
    if (cursor === null) return;
    const now = this.selected >= 0 && this.selected < this.table.rows.length ? this.table.at(this.selected).event : -1;
    if (now === cursor) return;
    this.selected = this.rowOf(cursor);
    this.reveal();
    this.draw();
  }
  /** Of several at the event the one that is pinned. */
  rowOf(event) {
    const {table, view} = this, last = table.upTo(event);
    for (let row = last; row >= 0; --row) {
      const entry = table.at(row), pin = table.pin(entry);
      if (entry.event !== event) break;
      if (pin && view.isPinned(pin.kind, pin.device, pin.index)) return row;
    }
    return last;
  }
  select(row) {
    const {table, view} = this;
    if (!table.rows.length) return;
    this.selected = Math.max(0, Math.min(table.rows.length - 1, row));
    this.reveal();
    this.draw();
    const entry = table.at(this.selected);
    view.pinned = table.pin(entry);
    view.look(entry.event);
  }
  reveal() {
    if (this.selected < 0) return;
    const top = this.selected * EVENT_ROW, {list} = this;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + EVENT_ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + EVENT_ROW - list.clientHeight;
  }
  key(event) {
    const page = Math.max(1, Math.floor(this.list.clientHeight / EVENT_ROW) - 1);
    const way = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity}[event.key];
    if (way === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.select(Number.isFinite(way) ? this.selected + way : way < 0 ? 0 : this.table.rows.length - 1);
  }
  draw() {
    const {list, table} = this, height = list.clientHeight;
    if (!height) return;
    const first = Math.max(0, Math.floor(list.scrollTop / EVENT_ROW) - 4);
    const last = Math.min(table.rows.length, first + Math.ceil(height / EVENT_ROW) + 8), rows = [];
    for (let row = first; row < last; ++row) rows.push(this.row(row));
    this.spacer.replaceChildren(...rows);
    if (this.selected >= first && this.selected < last) list.setAttribute("aria-activedescendant", this.name(this.selected));
    else list.removeAttribute("aria-activedescendant");
  }
  row(row) {
    const {table} = this, entry = table.at(row), bytes = table.bytes(entry), category = entry.kind === 1 || entry.kind === 3;
    const node = element("div", {role: "option", id: this.name(row), "data-row": String(row),
      "aria-setsize": String(table.rows.length), "aria-posinset": String(row + 1),
      "aria-selected": String(row === this.selected), class: "kind-" + entry.kind},
      element("span", {class: "n"}, grouped(entry.event)),
      element("span", {}, ...(category ? [element("i", {class: "swatch c-" +
        CATEGORIES[table.device.blocks.category[entry.index]]})] : []), table.word(entry)),
      element("span", {class: "n"}, bytes ? human(bytes) : ""),
      element("span", {class: "path"}, table.place(entry)));
    node.style.top = `${row * EVENT_ROW}px`;
    return node;
  }
}
EventList.made = 0;
