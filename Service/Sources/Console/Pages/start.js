// What to do first: make a session, see the sample, publish from a phone.
import { ask } from "./api.js";
import { make, write } from "./dom.js";
import { makeHelp, needsJanus } from "./publishing.js";

const open = name => { location.hash = "#/sessions/" + encodeURIComponent(name); };

export function makeStart() {
  const said = make("p", { role: "status" });
  const help = make("div", {});
  const start = (text, body) => {
    const button = make("button", { type: "button", class: "plain" }, text);
    button.onclick = async () => {
      button.disabled = true;
      write(said, "");
      help.replaceChildren();
      try {
        open((await body()).id);
      } catch (error) {
        if (needsJanus(error)) help.append(makeHelp());
        else write(said, error.message);
      }
      button.disabled = false;
    };
    return button;
  };
  return make("section", { class: "first" },
    make("div", { class: "buttons" }, make("a", { class: "button", href: "#/new" }, "New session"),
      start("Play the sample", () => ask("POST", "/v1/sample")), start("Publish from a phone", publishFromPhone)),
    said, help);
}

// Makes the session "phone", or finds the one that runs.
async function publishFromPhone() {
  try {
    return await ask("POST", "/v1/sessions", {
      name: "phone", input: { whip: {} }, latency: "low", policy: "phone", options: { frames: "metadata" }
    });
  } catch (error) {
    if (error.status !== 409) throw error;
    return { id: "phone" };
  }
}
