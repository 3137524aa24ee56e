// The outputs of a session: where the picture goes, whether it arrives, and what else it may go to.
import { ask, session } from "./api.js";
import { typeOf } from "./create.js";
import { make, write } from "./dom.js";

const names = { hls: "Browsers (HLS)", file: "Recording", rtmp: "RTMP", rtmps: "RTMP", srt: "SRT", rtsp: "RTSP", udp: "UDP" };
const states = { starting: "starting", live: "sending", reconnecting: "trying again", stopped: "stopped", failed: "failed" };
const isOff = state => ["stopped", "failed"].includes(state);

export function makeOutputs(name) {
  const list = make("ul", { class: "rows" });
  const said = make("p", { role: "status", class: "said-once" });
  const rows = new Map();
  const place = output => session(name) + "/outputs/" + encodeURIComponent(output);

  async function perform(method, path, body) {
    write(said, "");
    try {
      return await ask(method, path, body);
    } catch (error) {
      write(said, error.message);
    }
  }

  function add(one) {
    const row = { state: make("span", { class: "state" }), where: make("span", { class: "faint address" }), problem: make("p", { class: "problem" }) };
    const title = names[one.type] ?? one.type;
    const button = (text, body) => {
      const element = make("button", { type: "button", class: "plain", "aria-label": text + " " + title + " (" + one.id + ")" }, text);
      element.onclick = async () => {
        element.disabled = true;
        await body();
        element.disabled = false;
      };
      return element;
    };
    row.toggle = button("Stop", () => perform("POST", place(one.id) + (isOff(row.now) ? "/start" : "/stop")));
    row.remove = button("Remove", () => perform("DELETE", place(one.id)));
    row.element = make("li", {}, make("div", { class: "about" }, make("strong", {}, title), " ", row.state, row.where, row.problem),
      make("div", { class: "buttons" }, row.toggle, row.remove));
    row.title = title;
    list.append(row.element);
    return row;
  }

  // Shows the outputs of a session.
  function show({ outputs, state }) {
    const hasEnded = ["ended", "failed"].includes(state);
    const ids = new Set(outputs.map(one => one.id));
    for (const [id, row] of rows) {
      if (ids.has(id)) continue;
      row.element.remove();
      rows.delete(id);
    }
    for (const one of outputs) {
      if (!rows.has(one.id)) rows.set(one.id, add(one));
      const row = rows.get(one.id);
      row.now = one.state;
      write(row.state, states[one.state] ?? one.state);
      row.state.dataset.state = one.state;
      const watched = one.viewers == null ? "" : one.viewers === 1 ? "1 viewer" : one.viewers + " viewers";
      write(row.where, [watched, one.name ?? one.url].filter(Boolean).join(", "));
      write(row.problem, one.problem);
      const word = isOff(one.state) ? "Start" : "Stop";
      write(row.toggle, word);
      row.toggle.setAttribute("aria-label", word + " " + row.title + " (" + one.id + ")");
      row.toggle.hidden = row.remove.hidden = hasEnded;
    }
    form.hidden = hasEnded;
  }

  const kind = make("select", { id: "output-kind", "aria-label": "Kind of output" }, make("option", { value: "file" }, "Record to a file"),
    make("option", { value: "push" }, "Send on to"), make("option", { value: "hls" }, "Browsers (HLS)"));
  const value = make("input", { id: "output-value", "aria-label": "Name of the file", value: "take-2.mp4", autocomplete: "off", spellcheck: false });
  kind.onchange = () => {
    value.hidden = kind.value === "hls";
    value.setAttribute("aria-label", kind.value === "file" ? "Name of the file" : "Address");
    value.value = kind.value === "file" ? "take-2.mp4" : "";
    value.placeholder = kind.value === "push" ? "rtmp://a.rtmp.youtube.com/live2/KEY" : "";
  };
  const form = make("form", { class: "buttons adding" }, kind, value, make("button", { class: "plain" }, "Add output"));
  form.onsubmit = async event => {
    event.preventDefault();
    const text = value.value.trim();
    const body = { hls: { type: "hls" }, file: { type: "file", name: text }, push: { type: typeOf(text), url: text } }[kind.value];
    if (kind.value === "push" && !/^(rtmps?|srt|rtsp|udp):/i.test(text)) {
      write(said, "Write an address that begins with rtmp://, rtmps://, srt:// or rtsp://.");
      return value.focus();
    }
    await perform("POST", session(name) + "/outputs", body);
  };
  return { element: make("div", {}, list, form, said), show };
}
