// ---- the page: makes the charts of what is looked at --------------------------------------------

const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3], [4, 4]];

class ScenarioView {
  constructor(section) {
    this.section = section;
    this.data = JSON.parse(section.querySelector("script.data").textContent);
    this.variants = this.data.variants;
    this.makeOverlay();
    this.makePicker();
    this.select(leadOf(this.variants));
  }
  makeOverlay() {
    const host = this.section.querySelector(".overlay");
    const events = Math.max(0, ...this.variants.map(v => v.history ? v.history.events : 0));
    if (!host || !events) return;
    this.overlayView = new TimeView(events);
    const legend = element("div", {class: "legend"});
    host.append(legend);
    this.overlay = new OverlayChart(host, this.overlayView, this.data);
    this.addZoom(host, this.overlayView);
    const used = {};
    for (const line of this.overlay.lines) {
      const {role, name} = line.variant;
      used[role] = (used[role] || 0) + 1;
      line.dash = DASHES[(used[role] - 1) % DASHES.length];
      const box = element("input", {type: "checkbox", onchange: event => {
        line.shown = event.target.checked;
        this.overlay.request();
      }});
      box.checked = line.shown;
      legend.append(element("label", {class: "key"}, box, this.lineKey(line), name));
    }
  }
  lineKey(line) {
    const [on, off] = line.dash.length ? line.dash : [22, 0];
    const key = element("i", {class: "line", "aria-hidden": "true"});
    key.style.border = "none";
    key.style.height = "3px";
    key.style.width = "22px";
    key.style.background =
      `repeating-linear-gradient(90deg, var(--${line.variant.role}) 0 ${on}px, transparent ${on}px ${on + off}px)`;
    return key;
  }
  addZoom(host, view) {
    const button = (text, label, action) =>
      element("button", {type: "button", "aria-label": label, onclick: action}, text);
    const middle = () => view.cursor === null ? (view.start + view.end) / 2 : view.cursor;
    host.append(element("div", {class: "controls"},
      button("+", "zoom in", () => view.zoom(0.5, middle())),
      button("−", "zoom out", () => view.zoom(2, middle())),
      button("all", "show all events", () => view.reset()),
      button("←", "earlier", () => view.move(view.start - (view.end - view.start) / 4, view.end - view.start)),
      button("→", "later", () => view.move(view.start + (view.end - view.start) / 4, view.end - view.start))));
  }
  makePicker() {
    const picker = this.section.querySelector(".variant-pick select");
    if (!picker) return;
    this.picker = picker;
    picker.addEventListener("change", () => {
      this.select(+picker.value);
      this.link();
    });
    for (const link of this.section.querySelectorAll("[data-pick]")) {
      link.addEventListener("click", event => {
        event.preventDefault();
        this.select(+link.dataset.pick);
        this.link();
        picker.closest(".variant-pick").scrollIntoView();
      });
    }
  }
  link() {
    const cursor = this.view && this.view.cursor !== null ? "/" + this.view.cursor : "";
    history.replaceState(null, "",
      `#${this.section.id}/${encodeURIComponent(this.variants[this.selected].name)}${cursor}`);
  }
  select(index, event) {
    this.selected = index;
    if (this.picker) this.picker.value = String(index);
    this.section.querySelectorAll("article.variant").forEach((article, i) =>
      article.classList.toggle("shown", i === index));
    this.showSource(index);
    const article = this.section.querySelectorAll("article.variant")[index];
    const variant = this.variants[index];
    if (!article || !variant) return;
    const decoded = historyOf(variant);
    if (!decoded) return;
    const made = article.view !== undefined;
    if (!made) this.makeVariant(article, decoded);
    this.view = article.view;
    if (event !== undefined) this.view.look(event);
  }
  makeVariant(article, decoded) {
    const view = article.view = new TimeView(decoded.events);
    const lanes = article.querySelector(".lanes"), many = decoded.devices.length > 1;
    const most = Math.max(1, ...decoded.devices.map(device => device.reserved[largest(device.reserved, 0, device.reserved.length)]));
    for (const device of decoded.devices) new LaneChart(lanes, view, decoded, device, most, many ? 150 : 230);
    this.addZoom(lanes, view);
    const blocks = article.querySelector(".blocks"), map = article.querySelector(".map");
    const show = device => {
      for (const host of [blocks, map]) host.replaceChildren();
      new BlocksChart(blocks, view, decoded, device);
      new SegmentMap(map, view, decoded, device);
    };
    if (many) {
      const choice = element("select", {"aria-label": "GPU of the charts below", onchange: event => {
        view.listeners = view.listeners.slice(0, decoded.devices.length);
        show(decoded.devices[+event.target.value]);
      }}, ...decoded.devices.map((device, i) => element("option", {value: String(i)}, device.name)));
      lanes.append(element("div", {class: "controls"}, element("label", {}, "blocks and segments of", choice)));
    }
    show(decoded.devices[0]);
  }
  /** Beside each line of the script what it holds at the peak of the variant. */
  showSource(index) {
    const table = this.section.querySelector(".source table");
    const variant = this.variants[index];
    if (!table || !variant) return;
    const most = Math.max(1, ...Object.values(variant.line_bytes));
    for (const row of table.rows) {
      const bytes = variant.line_bytes[row.dataset.line] || 0, cell = row.cells[0];
      cell.textContent = bytes ? human(bytes) : "";
      cell.style.setProperty("--share", `${100 * bytes / most}%`);
      if (bytes) cell.title = `${grouped(bytes)} bytes`; else cell.removeAttribute("title");
      row.classList.toggle("hot", bytes > 0);
    }
    const of = this.section.querySelector(".source-of");
    if (of) of.textContent = variant.name;
  }
}

const views = new Map();
function open(section) {
  if (!views.has(section)) views.set(section, new ScenarioView(section));
  return views.get(section);
}

function followLink() {
  const [id, name, event] = location.hash.slice(1).split("/");
  const section = id && document.getElementById(id);
  if (!section || !section.classList.contains("scenario")) return;
  if (!name) return;
  const view = open(section), wanted = decodeURIComponent(name);
  const index = view.variants.findIndex(variant => variant.name === wanted);
  if (index < 0) return;
  view.select(index, event === undefined ? undefined : +event);
  section.scrollIntoView();
}

function start() {
  document.documentElement.classList.add("js");
  document.body.append(tip);
  const sections = [...document.querySelectorAll("section.scenario")];
  const watcher = new IntersectionObserver(entries => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      watcher.unobserve(entry.target);
      open(entry.target);
    }
  }, {rootMargin: "600px"});
  for (const section of sections) if (section.querySelector("script.data")) watcher.observe(section);
  const search = document.querySelector("input[type=search]");
  if (search) {
    search.addEventListener("input", () => {
      const wanted = search.value.toLowerCase();
      for (const section of sections) {
        section.hidden = !(section.dataset.words || "").includes(wanted);
      }
      for (const link of document.querySelectorAll("nav.toc a")) {
        link.hidden = document.getElementById(link.hash.slice(1)).hidden;
      }
    });
    document.addEventListener("keydown", event => {
      const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
      if (event.key !== "/" || typing) return;
      event.preventDefault();
      search.focus();
    });
  }
  addEventListener("hashchange", followLink);
  followLink();
}
start();
