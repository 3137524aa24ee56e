// A text that is copied by a button. Secrets are hidden until they are shown.
import { make, write } from "./dom.js";

let count = 0;

export function makeField(title, value, { isSecret = false, said } = {}) {
  const id = "field-" + ++count;
  const input = make("input", { id, readOnly: true, value, type: isSecret ? "password" : "text", autocomplete: "off", spellcheck: false });
  input.onfocus = () => input.select();
  const button = make("button", { type: "button", class: "plain", "aria-label": "Copy: " + title }, "Copy");
  button.onclick = async () => {
    const isDone = await copy(input.value);
    write(said, isDone ? title + " is copied." : "The browser doesn't allow copying. Select the text instead.");
    write(button, isDone ? "Copied" : "Copy");
    setTimeout(() => write(button, "Copy"), 2000);
  };
  const element = make("div", { class: "field" }, make("label", { for: id }, title), make("div", { class: "copied" }, input, button));
  return { element, show(isShown) { if (isSecret) input.type = isShown ? "text" : "password"; } };
}

// Without HTTPS browsers have only the older way.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = make("textarea", { value: text, class: "aside", readOnly: true });
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    const before = document.activeElement;
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    before?.focus();
    return isDone;
  }
}
