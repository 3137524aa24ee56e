// The policy's view controllers, with the one that decides.
import { make, words } from "./dom.js";

export function makeHierarchy() {
  const tree = make("ul", { class: "tree" });
  const said = make("p", { class: "faint" });
  let shown = "";

  function show({ state }) {
    const text = JSON.stringify(state);
    if (text === shown) return;
    shown = text;
    const controllers = new Map(state.controllers.map(one => [one.name, one]));
    const tops = [state.root, ...state.presentations.map(one => one.controller)];
    tree.replaceChildren(...tops.map((name, index) => branch(name, controllers, state, index > 0)));
    said.textContent = "The application allows " + list(state.application) + "."
      + (state.holds ? " A manual rotation or a presentation holds." : "");
  }

  return { element: make("div", {}, tree, said), show };
}

function branch(name, controllers, state, isPresented) {
  const one = controllers.get(name);
  const decides = state.deciding === name;
  const title = make("span", { class: "controller" }, make("strong", {}, make("bdi", {}, name)), " ",
    one.kind === "content" ? "" : one.kind + " controller", isPresented ? " presented" : "");
  if (decides) title.append(" ", make("span", { class: "badge" }, "decides"));
  const item = make("li", {}, title, make("span", { class: "faint" }, answers(one)));
  if (decides) item.setAttribute("aria-current", "true");
  if (one.children.length) {
    item.append(make("ul", {}, ...one.children.map(child => {
      const element = branch(child, controllers, state, false);
      if (child !== one.visibleChild) element.classList.add("is-hidden");
      return element;
    })));
  }
  return item;
}

function answers(one) {
  const rotates = one.shouldAutorotate === "manual" ? "rotates when asked" : one.shouldAutorotate ? "autorotates" : "doesn't autorotate";
  return rotates + "; supports " + list(one.supported) + (one.preferred ? "; prefers " + words(one.preferred) : "");
}

const list = names => names.length ? names.map(words).join(", ") : "no orientation";
