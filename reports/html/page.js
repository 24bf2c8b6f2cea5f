// ---- the page: makes the charts of what is looked at --------------------------------------------

const ROLES = ["problem", "mitigation", "partial", "non_fix", "control"];
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3], [4, 4]];

/** The element that a place for later has the text of, in its place. */
function madeOf(place) {
  if (place.tagName !== "NOSCRIPT") return place;
  const template = document.createElement("template");
  template.innerHTML = place.textContent;
  const made = template.content.children.length === 1 ? template.content.firstElementChild :
    element("div", {}, template.content);
  place.replaceWith(made);
  return made;
}

/** Headings, what they mean, and empty places for the charts of a variant. */
function makePlaces(host, history) {
  const legend = () => element("div", {class: "legend"}, ...CATEGORIES.filter(name =>
    history.devices.some(device => device.categories[name])).map(name =>
    element("span", {class: "key"}, element("i", {class: "c-" + name}), words(name))));
  const place = name => element("div", {class: name});
  const part = (title, note, ...parts) => host.append(element("h3", {}, title),
    ...(note ? [element("p", {class: "note"}, note)] : []), ...parts);
  part("Memory over time", "", legend(), place("overview"), place("lanes"));
  part("Who made what is alive", "From the outermost call down to the op, as wide as what it made; the lower edge " +
    "has the colours of what it is for. Enter or a click goes into a call, Escape out of it, arrows walk.", place("icicle"));
  part("Blocks over time", "Every block at its place, as long as it lived; grey is memory of segments that no block " +
    "has. Point at one to see what it is, click to pin it.", legend(), place("blocks"));
  part("Reserved segments over time", "", place("segments"));
  part("Events, and the segments after each", "Arrow keys walk the list; everything else on the page looks at the " +
    "event. A bar is a segment, as wide as it is large: the free parts between blocks are what fragmentation is.",
    element("div", {class: "walk"}, place("events"), place("map")));
}

class ScenarioView {
  constructor(section, data) {
    this.section = section;
    this.data = data;
    // Each variant in its place, then the source: what is not looked at stays text.
    const later = [...section.querySelectorAll("noscript.later")];
    this.places = later.slice(0, this.data.variants.length);
    later.slice(this.data.variants.length).forEach(madeOf);
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
      // Roles differ by it, too.
      line.dash = DASHES[(Math.max(0, ROLES.indexOf(role)) + used[role] - 1) % DASHES.length];
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
    const article = this.places[index] = madeOf(this.places[index]);
    this.places.forEach((place, i) => place.classList.toggle("shown", i === index));
    this.showSource(index);
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
    makePlaces(article.querySelector(".charts"), decoded);
    const view = article.view = new TimeView(decoded.events);
    const lanes = article.querySelector(".lanes"), many = decoded.devices.length > 1;
    new Minimap(article.querySelector(".overview"), view, decoded);
    const most = Math.max(1, ...decoded.devices.map(device => device.reserved[largest(device.reserved, 0, device.reserved.length)]));
    for (const device of decoded.devices) new LaneChart(lanes, view, decoded, device, most, many ? 150 : 230);
    this.addZoom(lanes, view);
    const hosts = ["icicle", "blocks", "segments", "events", "map"].map(name => article.querySelector("." + name));
    const shared = view.listeners.length;
    const show = device => {
      view.listeners.length = shared;
      view.pinned = null;
      for (const host of hosts) host.replaceChildren();
      const [icicle, blocks, segments, events, map] = hosts;
      new Icicle(icicle, view, decoded, device);
      new BlocksChart(blocks, view, decoded, device);
      new PinnedPanel(blocks, view, decoded);
      new SegmentsChart(segments, view, decoded, device);
      new EventList(events, view, decoded, device);
      new SegmentMap(map, view, decoded, device);
    };
    if (many) {
      const choice = element("select", {"aria-label": "GPU of what is below",
        onchange: event => show(decoded.devices[+event.target.value])}, ...decoded.devices.map((device, i) => element("option", {value: String(i)}, device.name)));
      lanes.append(element("div", {class: "controls"}, element("label", {}, "below: blocks and segments of", choice)));
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
      const near = [-2, -1, 0, 1, 2].some(by => variant.line_bytes[+row.dataset.line + by]);
      row.classList.toggle("near", near);
    }
    this.revealLine(table, variant);
    const of = this.section.querySelector(".source-of");
    if (of) of.textContent = variant.name;
  }
  /** The line that holds most stands in the middle of the box; the page stays where it is. */
  revealLine(table, variant) {
    const most = Object.entries(variant.line_bytes).sort((a, b) => b[1] - a[1] || a[0] - b[0])[0];
    const row = most && table.rows[+most[0] - 1], box = table.parentElement;
    for (const one of table.rows) one.classList.toggle("most", one === row);
    if (row) box.scrollTop = row.offsetTop - (box.clientHeight - row.offsetHeight) / 2;
  }
}

/** Promises of the views of sections. */
const views = new Map();
function open(section) {
  if (!views.has(section)) {
    views.set(section, dataOf(section.querySelector("script.data")).then(data => new ScenarioView(section, data)));
  }
  return views.get(section);
}

async function followLink() {
  const [id, name, event] = location.hash.slice(1).split("/");
  const section = id && document.getElementById(id);
  if (!section || !section.classList.contains("scenario")) return;
  if (!name) return;
  const view = await open(section), wanted = decodeURIComponent(name);
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
  }, {rootMargin: "200px"});
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
