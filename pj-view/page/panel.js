// Tables at the side of the page: the selected row, and the profile of a window.
import { formatTime, lifetimes, pathOf, second, valueOf } from "./model.js";

// Creates an element. Strings become text, never markup.
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "color") node.style.background = value;
    else if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export const swatch = (color) => el("span", { className: "swatch", color, "aria-hidden": "true" });

function fill(id, title, ...children) {
  document.getElementById(id).replaceChildren(el("h2", {}, title), ...children);
}

function pairs(list, kind = "") {
  const rows = list.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return el("table", {}, el("tbody", {}, ...rows.map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", { className: kind }, value)))));
}

export function showDetails(app, row) {
  const { model } = app;
  if (!row) {
    fill("details", "Selection", el("p", { className: "quiet" }, "Click a state, or drag with Shift to select a range of time."));
    return;
  }
  const lane = model.lanes.get(row.lane);
  const type = model.types[lane.type];
  const value = row.value === undefined ? null : valueOf(app, lane.type, row.value);
  const name = (id) => pathOf(model, id);
  const list = [
    [type.name, value ? el("span", {}, swatch(value.color), value.name) : String(row.height)],
    ["Container", name(lane.container)],
    ["From", `${row.start / second} s`],
    ["To", row.end === row.start ? null : `${row.end / second} s`],
    ["Duration", row.end === row.start ? null : formatTime(row.end - row.start)],
    ["Imbrication", lane.nature === "state" ? String(row.imbrication) : null],
    ["Origin", row.from === undefined ? null : name(row.from)],
    ["Goal", row.to === undefined ? null : name(row.to)],
    ["Key", row.key],
    ["Line", row.line === undefined ? null : `${row.line}${row.file ? ` of ${row.file}` : ""}`],
    ...(row.fields || []),
    ["Fields, line", model.fields || app.source.embedded ? null : "not kept: pj_view --fields keeps them"],
  ];
  const children = [pairs(list)];
  if (row.links?.length > 0) children.push(linkTable(app, row.links, lane.container));
  fill("details", "Selection", ...children);
}

function linkTable(app, links, container) {
  const { model } = app;
  const rows = links.map((link) => {
    const leaves = link.from === container;
    const other = model.containers.get(leaves ? link.to : link.from)?.name || "?";
    const value = valueOf(app, model.lanes.get(link.lane).type, link.value);
    const go = el("button", { className: "go", title: "Go to the other end" }, `${leaves ? "→" : "←"} ${other}`);
    go.addEventListener("click", () => app.follow(link, leaves));
    return el("tr", {}, el("td", {}, go), el("td", {}, value.name), el("td", { className: "number" }, formatTime(leaves ? link.end : link.start)));
  });
  const head = el("tr", {}, el("th", { scope: "col" }, "Link"), el("th", { scope: "col" }, "Value"), el("th", { scope: "col", className: "number" }, "At"));
  return el("table", { id: "linktable" }, el("caption", {}, "Links that begin or end in it"), el("thead", {}, head), el("tbody", {}, ...rows));
}

const SHARE = "Share of the lifetime of all containers with such states, including nested states";

function meter(color, part) {
  const bar = el("div", { className: "meter", color, "aria-hidden": "true" });
  bar.style.width = `${Math.max(part * 100, 1)}%`;
  return bar;
}

export function showProfile(app, profile) {
  const { model } = app;
  const digits = Math.max(0, Math.ceil(3 - Math.log10((profile.to - profile.from) / second || 1)));
  const shown = (time) => (Math.min(Math.max(time, model.extent[0]), model.extent[1]) / second).toFixed(Math.min(digits, 15));
  const span = `${shown(profile.from)} s to ${shown(profile.to)} s`;
  const where = `${app.state.range ? "Selected range" : "On the screen"}${profile.isAbout ? ", about" : ""}`;
  const children = [el("p", { className: "quiet" }, `${where}: ${span}`), el("p", { className: "quiet" }, model.unit)];
  const byType = Map.groupBy ? Map.groupBy(profile.states, ([type]) => type) : grouped(profile.states);
  for (const [type, list] of byType) {
    list.sort((a, b) => b[2] - a[2]);
    const all = lifetimes(model, type, profile.from, profile.to);
    const rows = list.filter(([, , seconds]) => seconds > 0).slice(0, 25).map(([, id, seconds]) => {
      const value = valueOf(app, type, id);
      const part = seconds / Math.max(all, seconds);
      return el("tr", {}, el("td", {}, swatch(value.color), value.name, meter(value.color, part)), el("td", { className: "number" }, formatTime(seconds)), el("td", { className: "number share" }, `${(100 * part).toFixed(1)} %`));
    });
    const head = el("tr", {}, el("th", { scope: "col" }, "Value"), el("th", { scope: "col", className: "number" }, "Time"), el("th", { scope: "col", className: "number share", title: SHARE }, "Share"));
    children.push(el("table", {}, el("caption", {}, model.types[type].name), el("thead", {}, head), el("tbody", {}, ...rows)));
  }
  if (profile.events.length > 0) children.push(el("p", { className: "quiet" }, "Events"), pairs(mostEvents(app, profile), "number"));
  if (profile.links > 0) {
    const name = (id) => model.containers.get(id)?.name || "?";
    children.push(el("p", { className: "quiet" }, `${profile.links} links begin here`), pairs(profile.pairs.map(([, from, to, count]) => [`${name(from)} → ${name(to)}`, String(count)]), "number"));
  }
  fill("profile", "Profile", ...children);
}

// Lists the most frequent events, and the number of others.
function mostEvents(app, profile) {
  const events = profile.events.toSorted((a, b) => b[2] - a[2]);
  const first = events.slice(0, 25).map(([type, id, count]) => [`${app.model.types[type].name}: ${valueOf(app, type, id).name}`, String(count)]);
  let [others, sum] = profile.otherEvents || [0, 0];
  others += events.length - first.length;
  for (const [, , count] of events.slice(25)) sum += count;
  return others > 0 ? [...first, [`${others} others`, String(sum)]] : first;
}

function grouped(list) {
  const groups = new Map();
  for (const it of list) groups.set(it[0], [...(groups.get(it[0]) || []), it]);
  return groups;
}
