// Shows two traces on one scale of time. Each frame has the whole page of one trace. Times of a trace are relative to
// its zero, which depends on the alignment.

const frames = [...document.querySelectorAll("iframe")];
const byId = (id) => document.getElementById(id);
const said = byId("said");

const appOf = (frame) => frame.contentWindow.pajeView?.app;

let zeros = [0, 0];
let seen = null;

// Returns the time of each trace that is aligned with that of the other. Returns null if nothing is selected.
function zerosOf(how, apps) {
  if (how === "none") return [0, 0];
  if (how === "start") return apps.map((app) => app.model.extent[0]);
  const starts = apps.map((app) => app.state.selected?.start);
  return starts.every(Number.isFinite) ? starts : null;
}

// Changes the alignment. The view of the first trace stays.
function align() {
  const apps = frames.map(appOf);
  if (!apps.every(Boolean)) return;
  const found = zerosOf(byId("align").value, apps);
  said.value = found ? "" : "Select a row in each trace, then align again.";
  if (!found) return;
  zeros = found;
  const [{ viewport }] = apps;
  show(apps[1], 1, [viewport.from - zeros[0], viewport.to - zeros[0]]);
  seen = [viewport.from - zeros[0], viewport.to - zeros[0]];
}

function show(app, at, [from, to]) {
  app.viewport.show(from + zeros[at], to + zeros[at]);
  app.moved();
}

// Shows the longest trace whole.
function begin(apps) {
  zeros = zerosOf("start", apps);
  const ends = apps.map((app, at) => app.model.extent[1] - zeros[at]);
  seen = [0, Math.max(...ends)];
  apps.forEach((app, at) => show(app, at, seen));
}

// Before each frame, moves the trace that the user did not move.
function follow() {
  requestAnimationFrame(follow);
  const apps = frames.map(appOf);
  if (!apps.every(Boolean)) return;
  if (!seen) begin(apps);
  if (!byId("together").checked) return;
  const views = apps.map((app, at) => [app.viewport.from - zeros[at], app.viewport.to - zeros[at]]);
  const slack = (seen[1] - seen[0]) * 1e-9;
  const moved = views.findIndex((view) => Math.abs(view[0] - seen[0]) > slack || Math.abs(view[1] - seen[1]) > slack);
  if (moved < 0) return;
  seen = views[moved];
  show(apps[1 - moved], 1 - moved, seen);
}

byId("align").addEventListener("change", align);
window.pajePair = { zeros: () => zeros, apps: () => frames.map(appOf) };
follow();
