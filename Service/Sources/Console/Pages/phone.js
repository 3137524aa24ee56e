// A drawn phone. It is turned by dragging, by the arrow keys, or by the choices below it.
import { draw, make } from "./dom.js";
import { heldAs } from "./words.js";

// The clockwise turn from portrait, in degrees. Home button right is landscape left.
const upright = { portrait: 0, landscapeRight: 90, portraitUpsideDown: 180, landscapeLeft: 270 };
const flat = { faceUp: true, faceDown: true };
const order = Object.keys(upright);
const nearest = degrees => order[Math.round(((degrees % 360) + 360) % 360 / 90) % 4];

// `turn` is called with the device orientation that the user chose.
export function makePhone(turn) {
  let device = "portrait", degrees = 0;
  const screen = draw("rect", { x: -26, y: -50, width: 52, height: 100, rx: 4, class: "screen" });
  const arrow = draw("path", { d: "M0 -34l14 18h-8v30h-12v-30h-8z", class: "arrow" });
  const label = draw("text", { y: 6, class: "flat", "text-anchor": "middle" });
  const body = draw("g", {},
    draw("rect", { x: -32, y: -62, width: 64, height: 124, rx: 11, class: "body" }), screen, arrow, label,
    draw("circle", { cy: 56, r: 3.5, class: "home" }));
  const svg = draw("svg", {
    viewBox: "-75 -75 150 150", class: "phone", tabindex: 0, role: "slider", "aria-label": "Drawn phone",
    "aria-valuemin": 0, "aria-valuemax": 270, "aria-describedby": "phone-help"
  }, body);
  const choices = [...order, ...Object.keys(flat)].map(name => {
    const input = make("input", { type: "radio", name: "device", value: name });
    input.onchange = () => choose(name);
    return make("label", {}, input, heldAs(name));
  });

  function paint() {
    body.style.transform = "rotate(" + degrees + "deg)";
    svg.classList.toggle("is-flat", device in flat);
    label.textContent = device === "faceUp" ? "on its back" : device === "faceDown" ? "on its face" : "";
    svg.setAttribute("aria-valuenow", upright[device] ?? 0);
    svg.setAttribute("aria-valuetext", heldAs(device));
    for (const choice of choices) choice.firstChild.checked = choice.firstChild.value === device;
  }

  // Shows a device orientation. Turns the shorter way.
  function show(name) {
    device = name;
    if (name in upright) degrees += ((upright[name] - degrees) % 360 + 540) % 360 - 180;
    paint();
  }

  function choose(name) {
    show(name);
    turn(name);
  }

  svg.onkeydown = event => {
    const place = order.indexOf(nearest(degrees));
    const chosen = {
      ArrowRight: order[(place + (device in flat ? 0 : 1)) % 4], ArrowLeft: order[(place + (device in flat ? 0 : 3)) % 4],
      ArrowUp: "faceUp", ArrowDown: "faceDown", Home: "portrait"
    }[event.key];
    if (!chosen) return;
    event.preventDefault();
    choose(chosen);
  };

  const angle = event => {
    const box = svg.getBoundingClientRect();
    return Math.atan2(event.clientY - box.top - box.height / 2, event.clientX - box.left - box.width / 2) * 180 / Math.PI;
  };
  svg.onpointerdown = event => {
    svg.setPointerCapture(event.pointerId);
    const [start, from] = [angle(event), degrees];
    svg.classList.add("is-dragged");
    svg.onpointermove = event => {
      degrees = from + angle(event) - start;
      device = nearest(degrees);
      paint();
    };
    svg.onpointerup = svg.onpointercancel = () => {
      svg.onpointermove = svg.onpointerup = svg.onpointercancel = null;
      svg.classList.remove("is-dragged");
      if (degrees !== from) choose(nearest(degrees));
    };
  };
  paint();
  const element = make("div", {}, svg,
    make("p", { id: "phone-help", class: "faint" }, "Drag it, or use the arrow keys: left and right turn, up and down lay it flat."),
    make("fieldset", { class: "choices" }, make("legend", {}, "How the phone is held"), ...choices));
  return { element, show };
}
