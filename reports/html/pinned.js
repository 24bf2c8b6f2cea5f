// ---- what is pinned: a block or a segment, described until another one is ------------------------

/** Lines of a stack as a list, those of the program's own files in bold. */
function callList(stack) {
  return element("ol", {class: "calls"}, ...stack.map(line => element("li", line.own ? {class: "own"} : {},
    element("span", {class: "function"}, line.function || "this line"), " ",
    element("span", {class: "path"}, line.line ? `${line.file}:${line.line}` : line.file))));
}

class PinnedPanel {
  constructor(host, view, history) {
    Object.assign(this, {view, history});
    this.panel = element("div", {class: "pinned", role: "region", "aria-label": "what is pinned",
      "aria-live": "polite"});
    host.append(this.panel);
    this.shown = undefined;
    view.listeners.push(() => this.show());
    this.show();
  }
  show() {
    const {pinned} = this.view;
    if (this.shown !== undefined && this.shown === pinned) return;
    this.shown = pinned;
    if (pinned === null) {
      this.panel.replaceChildren(tipLine(
        "Click a block or a segment, or press ↑ ↓ in the chart, to keep what is said of it here, with its whole stack.", "note"));
      return;
    }
    this.panel.replaceChildren(...(pinned.kind === "block" ? this.block(pinned) : this.segment(pinned)));
  }
  button(text, action, isOff = false) {
    const node = element("button", {type: "button", onclick: action}, text);
    node.disabled = isOff;
    return node;
  }
  /** Pins another one and looks at its beginning. */
  go(pinned, event) {
    this.view.pinned = pinned;
    this.view.look(event);
  }
  block({device, index}) {
    const {history, view} = this, {blocks} = device;
    const stack = stackOf(history, blocks.site[index]);
    const same = [];
    for (let i = 0; i < blocks.length; ++i) if (blocks.site[i] === blocks.site[index]) same.push(i);
    const place = same.indexOf(index);
    const to = way => this.go({kind: "block", device, index: same[place + way]}, blocks.begin[same[place + way]]);
    const end = blocks.end[index] < history.events ? blocks.end[index] : history.events - 1;
    return [
      element("h4", {}, `Pinned: block ${grouped(place + 1)} of ${grouped(same.length)} from this place`),
      element("div", {class: "about"}, ...blockLines(history, device, index)),
      element("div", {class: "controls"},
        this.button("its first event", () => view.look(blocks.begin[index])),
        this.button("its last event", () => view.look(end)),
        this.button("previous", () => to(-1), place === 0),
        this.button("next", () => to(1), place + 1 === same.length),
        this.button("unpin", () => view.pin(null))),
      element("h4", {}, stack.length > 1 ? `Whole stack, ${plural(stack.length, "line")}, the innermost first` :
        stack.length ? "The line" : "No stack was recorded"),
      callList(stack),
    ];
  }
  segment({device, index}) {
    const {history, view} = this, {segments, blocks} = device;
    const first = segments.begin[index], last = segments.end[index];
    const from = segments.position[index], to = from + segments.bytes[index];
    const at = Math.max(first, Math.min(last - 1, view.cursor === null ? device.peakEvent : view.cursor));
    const held = [];
    for (let i = 0; i < blocks.length; ++i) {
      if (isThere(blocks, i, at) && blocks.position[i] < to && blocks.position[i] + blocks.bytes[i] > from) held.push(i);
    }
    held.sort((a, b) => blocks.bytes[b] - blocks.bytes[a]);
    const most = 12;
    return [
      element("h4", {}, `Pinned: segment of ${human(segments.bytes[index])}`),
      tipLine(`${grouped(segments.bytes[index])} bytes at ${addressOf(device, from)}, from event ${grouped(first)} to ` +
        (last >= history.events ? "the end" : `event ${grouped(last)}`), "soft"),
      element("div", {class: "controls"},
        this.button("its first event", () => view.look(first)),
        this.button("its last event", () => view.look(Math.min(last, history.events - 1))),
        this.button("unpin", () => view.pin(null))),
      element("h4", {}, held.length ? `What keeps it after event ${grouped(at)}: ${plural(held.length, "block")}` :
        `Nothing was in it after event ${grouped(at)}`),
      element("ul", {class: "kept"}, ...held.slice(0, most).map(i => {
        const site = history.sites[blocks.site[i]];
        return element("li", {}, element("i", {class: "swatch c-" + CATEGORIES[blocks.category[i]]}),
          this.button(`${human(blocks.bytes[i])} ${site.op}`, () => view.pin({kind: "block", device, index: i})), " ",
          element("span", {class: "path"}, site.file ? `${site.file}:${site.line}` : ""));
      })),
      ...(held.length > most ? [tipLine(`and ${grouped(held.length - most)} smaller ones`, "soft")] : []),
    ];
  }
}
