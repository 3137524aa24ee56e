// The events of a session as they happen, newest first. Their reasons, in UIKit's words, are shown on demand.
import { session } from "./api.js";
import { make } from "./dom.js";
import { endOf, reasoned, sentence, shapeOf, stateWords } from "./words.js";

const kinds = ["decision", "format", "state", "change", "output", "recording", "gap"];
const most = 200;

// `tell` is called for each event, with its kind and its data.
export function makeTimeline(name, tell) {
  const list = make("ol", { class: "timeline", tabIndex: 0, "aria-label": "Timeline, newest first" });
  const why = make("button", { type: "button", class: "plain", "aria-pressed": "false" }, "Show why");
  why.onclick = () => why.setAttribute("aria-pressed", list.classList.toggle("has-why"));
  let last = 0, source = null;

  function open() {
    if (source || document.hidden) return;
    source = new EventSource(session(name) + "/events?after=" + last);
    for (const kind of kinds) source.addEventListener(kind, ({ data, lastEventId }) => {
      if (lastEventId) last = Number(lastEventId);
      const content = JSON.parse(data);
      const line = describe(kind, content);
      if (line) add(kind, line);
      tell(kind, content);
    });
  }

  // A hidden page needs no connection: the browser has only six for one host.
  function changed() {
    if (!document.hidden) return open();
    source?.close();
    source = null;
  }

  function add(kind, { at, outcome, title, note, why }) {
    list.prepend(make("li", { "data-kind": outcome ?? kind },
      make("span", { class: "at" }, at == null ? "" : at.toFixed(2) + " s"),
      make("span", {}, make("strong", {}, title), note ? make("span", { class: "note" }, note) : "", why ? make("span", { class: "why" }, ...reasoned(why)) : "")));
    while (list.children.length > most) list.lastChild.remove();
  }

  document.addEventListener("visibilitychange", changed);
  open();
  return {
    element: make("div", { class: "log" }, list, why),
    // Begins again, with another session of the same name.
    restart() {
      source?.close();
      source = null;
      last = 0;
      list.replaceChildren();
      open();
    },
    close() {
      document.removeEventListener("visibilitychange", changed);
      source?.close();
    }
  };
}

function describe(kind, data) {
  switch (kind) {
    case "decision":
      // A sensor sends ten readings a second.
      if ("gravity" in data.event && data.decision === "keep") return null;
      return { at: data.at, outcome: data.decision, title: sentence(data), why: data.why };
    case "format": return { at: data.from, title: "Picture: " + shapeOf(data.appOrientation) + ", " + data.encodeResolution };
    case "state": return { title: "Session " + stateWords[data.state], note: endOf(data), outcome: data.state };
    case "change": return { at: data.at, title: "Settings changed" };
    case "output": return { title: "Output " + data.id + " is " + data.state, note: data.problem };
    case "recording": return { title: "Recording " + data.name + " is " + data.state, note: data.problem };
    case "gap": return { title: "Older events were dropped" };
  }
}
