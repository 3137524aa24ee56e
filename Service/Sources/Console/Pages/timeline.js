// The events of a session as they happen, newest first.
import { session } from "./api.js";
import { make, stateWords, words } from "./dom.js";

const kinds = ["decision", "format", "state", "change", "output", "recording", "gap"];
const most = 200;

// `tell` is called for each event, with its kind and its data.
export function makeTimeline(name, tell) {
  const list = make("ol", { class: "timeline", tabIndex: 0, "aria-label": "Timeline, newest first" });
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

  function add(kind, { at, outcome, title, why }) {
    list.prepend(make("li", { "data-kind": outcome ?? kind },
      make("span", { class: "at" }, at == null ? "" : at.toFixed(2) + " s"),
      make("span", {}, make("strong", {}, title), why ? make("span", { class: "why" }, why) : "")));
    while (list.children.length > most) list.lastChild.remove();
  }

  document.addEventListener("visibilitychange", changed);
  open();
  return {
    element: list,
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
      return { at: data.at, outcome: data.decision, title: eventWords(data.event) + ": " + headline(data), why: data.why };
    case "format": return { at: data.from, title: "format " + data.encodeResolution + ", " + words(data.appOrientation) };
    case "state": return { title: stateWords[data.state], why: data.reason };
    case "change": return { at: data.at, title: "settings changed" };
    case "output": return { title: "output " + data.id + " is " + data.state, why: data.problem };
    case "recording": return { title: "recording " + data.name + " is " + data.state, why: data.problem };
    case "gap": return { title: "older events were dropped" };
  }
}

// The decision in a few words, and the event that it answers.
export function headline(decision) {
  switch (decision.decision) {
    case "rotate": return "rotate to " + words(decision.to);
    case "refuse": return "refused, " + words(decision.reason);
    case "invalid": return "invalid";
    default: return "keep " + words(decision.to);
  }
}

function eventWords(event) {
  const [action] = Object.keys(event).filter(key => key !== "at");
  const value = event[action];
  switch (action) {
    case "device": return "device " + words(value);
    case "gravity": return "sensor";
    case "rotate": return "turn to " + words(value);
    case "lock": return value ? "lock" : "unlock";
    case "active": return value ? "app active" : "app inactive";
    default: return typeof value === "string" ? action + " " + value : action;
  }
}
