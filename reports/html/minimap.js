// ---- the minimap: the whole time, with a brush over the part that the charts show ----------------

const MINIMAP_HEIGHT = 46;

class Minimap {
  constructor(host, view, history) {
    Object.assign(this, {view, history, device: fullest(history)});
    this.canvas = element("canvas", {"aria-hidden": "true"});
    this.brush = element("div", {class: "brush", "aria-hidden": "true"});
    const edge = (label, move) => element("div", {class: "edge", role: "slider", tabindex: "0", "aria-label": label,
      "aria-valuemin": "0", "aria-valuemax": String(view.events), onkeydown: event => this.key(event, move)});
    this.left = edge("first event that the charts show", by => this.show(view.start + by, view.end));
    this.right = edge("last event that the charts show", by => this.show(view.start, view.end + by));
    this.box = element("div", {class: "minimap"}, this.canvas, this.brush, this.left, this.right);
    host.append(this.box);
    this.listen();
    view.listeners.push(() => this.place());
    new ResizeObserver(() => this.request()).observe(this.canvas);
    charts.add(this);
    this.place();
  }
  request() { requestAnimationFrame(() => this.paint()); }
  /** Shows the events between two, at least a few of them. */
  show(start, end) {
    const {view} = this, least = Math.min(8, view.events);
    const from = Math.max(0, Math.min(start, end, view.events - least));
    const to = Math.min(view.events, Math.max(start, end, from + least));
    view.move(from, to - from);
  }
  key(event, move) {
    const {view} = this, stride = Math.max(1, Math.round(view.events / (event.shiftKey ? 10 : 100)));
    const by = {ArrowLeft: -stride, ArrowDown: -stride, ArrowRight: stride, ArrowUp: stride,
      Home: -view.events, End: view.events}[event.key];
    if (by === undefined) return;
    event.preventDefault();
    move(by);
  }
  listen() {
    const {box, view} = this;
    const at = event => (event.clientX - box.getBoundingClientRect().left) / Math.max(1, box.clientWidth) * view.events;
    let drag = null;
    box.addEventListener("pointerdown", event => {
      const here = at(event), near = 8 / Math.max(1, box.clientWidth) * view.events;
      const isWhole = view.end - view.start >= view.events;
      if (Math.abs(here - view.start) < near) drag = to => this.show(Math.min(to, view.end), view.end);
      else if (Math.abs(here - view.end) < near) drag = to => this.show(view.start, Math.max(to, view.start));
      else if (!isWhole && here > view.start && here < view.end) {
        const offset = here - view.start, span = view.end - view.start;
        drag = to => view.move(to - offset, span);
      } else drag = to => { if (Math.abs(to - here) > near / 2) this.show(here, to); };
      box.setPointerCapture(event.pointerId);
    });
    box.addEventListener("pointermove", event => { if (drag) drag(at(event)); });
    for (const end of ["pointerup", "pointercancel"]) box.addEventListener(end, () => { drag = null; });
    box.addEventListener("dblclick", () => view.reset());
  }
  place() {
    const {view} = this, left = 100 * view.start / view.events, right = 100 * view.end / view.events;
    this.brush.style.left = this.left.style.left = `${left}%`;
    this.brush.style.width = `${right - left}%`;
    this.right.style.left = `${right}%`;
    for (const [edge, event] of [[this.left, view.start], [this.right, view.end]]) {
      edge.setAttribute("aria-valuenow", String(Math.round(event)));
      edge.setAttribute("aria-valuetext", `event ${grouped(Math.round(event))}`);
    }
  }
  paint() {
    const width = this.canvas.clientWidth, ratio = window.devicePixelRatio || 1;
    if (!width) return;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(MINIMAP_HEIGHT * ratio);
    const g = this.canvas.getContext("2d"), {history} = this, {high, reserved} = this.device;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    const top = Math.max(1, reserved[largest(reserved, 0, reserved.length)], high[largest(high, 0, high.length)]);
    for (const [values, name] of [[reserved, "free"], [high, "soft"]]) {
      g.fillStyle = color(name);
      for (let x = 0; x < width; ++x) {
        const from = Math.min(values.length - 1, Math.floor(x / width * values.length));
        const to = Math.max(from + 1, Math.floor((x + 1) / width * values.length));
        const tall = (MINIMAP_HEIGHT - 4) * values[largest(values, from, Math.min(to, values.length))] / top;
        g.fillRect(x, MINIMAP_HEIGHT - tall, 1, tall);
      }
    }
    if (history.oom !== null) {
      g.fillStyle = color("bad");
      g.fillRect(Math.min(width - 2, width * history.oom / history.events), 0, 2, MINIMAP_HEIGHT);
    }
  }
}
