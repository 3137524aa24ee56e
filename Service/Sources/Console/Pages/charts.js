// A small chart of the last values of one number.
import { draw, make, write } from "./dom.js";

const most = 60, width = 120, height = 32;

export function makeChart(title, unit) {
  const values = [];
  const line = draw("polyline", { class: "line" });
  const now = make("output", {}, "–");
  const picture = draw("svg", { viewBox: "0 0 " + width + " " + height, preserveAspectRatio: "none", "aria-hidden": "true" }, line);
  const element = make("div", { class: "chart" }, make("span", { class: "faint" }, title), now, picture);

  // Adds a value; null for none.
  function add(value) {
    values.push(value);
    if (values.length > most) values.shift();
    write(now, value == null ? "–" : (value >= 100 ? Math.round(value) : value.toFixed(1)) + " " + unit);
    const top = Math.max(...values.map(one => one ?? 0), 1e-9);
    line.setAttribute("points", values.map((one, index) => one == null ? "" :
      ((most - values.length + index) / (most - 1) * width).toFixed(1) + "," + (height - 2 - one / top * (height - 4)).toFixed(1)
    ).filter(Boolean).join(" "));
  }
  return { element, add };
}
