// Makes elements. `properties` are set as properties of the element; `class`, `for`, and names with a dash as attributes.
export function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  set(element, properties);
  element.append(...children.flat().filter(child => child != null));
  return element;
}

// The same for SVG, where everything is an attribute.
export function draw(name, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

export function set(element, properties) {
  for (const [key, value] of Object.entries(properties)) {
    if (["class", "for", "role"].includes(key) || key.includes("-")) element.setAttribute(key, value);
    else element[key] = value;
  }
}

// Sets the text only where it changes, so that the page isn't laid out again for nothing.
export function write(element, text) {
  const word = text == null ? "" : String(text);
  if (element.textContent !== word) element.textContent = word;
}

// Calls `body` now and then every `milliseconds` after it has finished, while the page is visible. Returns a function
// that ends this.
export function repeat(body, milliseconds) {
  let timer, ended = false;
  const run = async () => {
    clearTimeout(timer);
    try {
      if (!document.hidden) await body();
    } finally {
      if (!ended) timer = setTimeout(run, milliseconds);
    }
  };
  const shown = () => { if (!document.hidden) run(); };
  document.addEventListener("visibilitychange", shown);
  run();
  return () => {
    ended = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", shown);
  };
}

// `landscapeLeft` as `landscape left`.
export const words = name => (name ?? "").replace(/[A-Z]/g, letter => " " + letter.toLowerCase());
