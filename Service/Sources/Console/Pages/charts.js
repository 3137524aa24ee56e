// A chart of one number over the last minute, with axes.
import { draw, make, write } from "./dom.js";

const most = 60, width = 240, height = 84;
// Where the lines are: left, right, top, bottom.
const [left, right, top, bottom] = [34, width - 6, 8, height - 18];

// Returns the next number at or above `value` that is easy to read.
export function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
  return [1, 2, 5, 10].map(step => step * power).find(step => step >= value * 0.999) ?? 10 * power;
}

const short = value => value >= 1000 ? value / 1000 + "k" : String(Number(value.toPrecision(3)));

// `least` is the end of the axis for small values.
export function makeChart(title, unit, least = 1) {
  const values = [];
  const line = draw("polyline", { class: "line" });
  const now = make("output", {}, "–");
  const label = (x, y, anchor, text) => draw("text", { x, y, "text-anchor": anchor }, text);
  const most1 = label(left - 4, top + 4, "end", short(least)), half = label(left - 4, (top + bottom) / 2 + 3, "end", "");
  const rule = y => draw("line", { x1: left, x2: right, y1: y, y2: y, class: "rule" });
  const picture = draw("svg", { viewBox: "0 0 " + width + " " + height, "aria-hidden": "true" }, rule(top), rule((top + bottom) / 2), rule(bottom),
    most1, half, label(left - 4, bottom + 4, "end", "0"), label(left, height - 4, "start", "1 min ago"), label(right, height - 4, "end", "now"), line);
  const element = make("div", { class: "chart" }, make("span", {}, title), now, picture);

  // Adds a value; null for none.
  function add(value) {
    values.push(value);
    if (values.length > most) values.shift();
    write(now, value == null ? "–" : (value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toFixed(1)) + (unit ? " " + unit : ""));
    const end = ceiling(Math.max(least, ...values.map(one => one ?? 0)));
    write(most1, short(end));
    write(half, short(end / 2));
    line.setAttribute("points", values.map((one, index) => one == null ? "" :
      (left + (most - values.length + index) / (most - 1) * (right - left)).toFixed(1) + "," + (bottom - one / end * (bottom - top)).toFixed(1)
    ).filter(Boolean).join(" "));
  }
  return { element, add };
}
