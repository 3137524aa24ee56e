// The form that makes a session.
import { ask } from "./api.js";
import { make, set, write } from "./dom.js";
import { makeHelp, needsJanus } from "./publishing.js";

const ways = {
  rtmp: "OBS, or an app with RTMP", srt: "OBS, or an app with SRT", whip: "A phone's or computer's browser", pull: "A stream to fetch"
};
const policies = {
  phone: "Portrait and landscape, as the phone is held", pad: "All four ways, as a tablet is held", portrait: "Always portrait",
  landscape: "Always landscape", "fullscreen-player": "Portrait; landscape when the app shows its player", manual: "Only when the app asks for it"
};
const frames = {
  metadata: "As the stream says (OBS, most apps)", sensor: "As a phone's sensor delivers them", upright: "Upright already"
};
const sizes = { "720p": "720p", "1080p": "1080p", "540p": "540p", "360p": "360p", source: "As the stream" };
const listens = { machine: "this computer", network: "the network" };

const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

// A key that nobody guesses.
function makeKey() {
  const letters = "abcdefghijkmnopqrstuvwxyz23456789";
  return Array.from(crypto.getRandomValues(new Uint8Array(24)), byte => letters[byte % letters.length]).join("");
}

// Returns what is wrong with what is typed, by the names of the fields.
export function faultsOf(form) {
  const faults = {};
  if (!/^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/.test(form.name)) {
    faults.name = "Use 1 to 64 letters from A to Z, digits, and . _ - inside. The name is a part of addresses.";
  }
  const port = Number(form.port);
  if (["rtmp", "srt"].includes(form.way) && !(Number.isInteger(port) && port >= 1 && port <= 65535)) faults.port = "Use a number from 1 to 65535.";
  if (form.way === "srt" && form.passphrase && !/^[A-Za-z0-9._-]{10,79}$/.test(form.passphrase)) {
    faults.passphrase = "Use 10 to 79 letters from A to Z, digits, and . _ - or leave it empty.";
  }
  if (form.way === "pull" && !/^[a-z][a-z0-9]*:\S+$/i.test(form.url)) faults.url = "Write an address such as rtsp://camera.local/stream.";
  if (form.records && !/^[A-Za-z0-9_][A-Za-z0-9._-]{0,90}\.(mp4|mov|mkv|ts|flv)$/.test(form.file)) {
    faults.file = "Use letters from A to Z, digits, and . _ - with the ending .mp4, .mov, .mkv, .ts or .flv.";
  }
  if (form.forward && !/^(rtmps?|srt|rtsp|udp):\/\/\S+$/i.test(form.forward)) faults.forward = "Write an address that begins with rtmp://, rtmps://, srt:// or rtsp://.";
  if (!form.plays && !form.records && !form.forward) faults.plays = "Choose at least one output.";
  return faults;
}

// Returns the request for a session.
export function requestOf(form, key) {
  const host = form.listens === "network" ? "0.0.0.0" : "127.0.0.1";
  const input = {
    rtmp: { url: "rtmp://" + host + ":" + form.port + "/live/" + key },
    srt: { url: "srt://" + host + ":" + form.port + "?streamid=live/" + key + (form.passphrase ? "&passphrase=" + form.passphrase : "") },
    whip: { whip: {} }, pull: { url: form.url, ...(/^(rtmp|srt)s?:/i.test(form.url) ? { mode: "pull" } : {}) }
  }[form.way];
  const outputs = [];
  if (form.plays) outputs.push({ type: "hls" });
  if (form.records) outputs.push({ type: "file", name: form.file });
  if (form.forward) outputs.push({ type: typeOf(form.forward), url: form.forward });
  return {
    name: form.name, input, outputs, policy: form.policy, options: { frames: form.frames, size: form.size },
    ...(form.plays && form.isFast ? { latency: "low" } : {})
  };
}

// The type of an output with this address.
export const typeOf = url => url.split(":")[0].toLowerCase().replace(/^rtmps$/, "rtmp");

// The field that an answer of the service is about, by its first words.
function fieldOf({ message }, way) {
  const places = [
    [/^name|session named/, "name"], [/passphrase/, "passphrase"], [/port|already bound/, way === "pull" ? "url" : "port"], [/^policy/, "policy"],
    [/^outputs?: (name|the name)|recording/, "file"], [/^outputs?/, "forward"], [/size/, "size"], [/^input|address|host|URL|url/, way === "pull" ? "url" : "way"]
  ];
  return places.find(([words]) => words.test(message))?.[1];
}

export function showCreate(main) {
  document.title = "New session · Upright";
  new Form(main);
}

class Form {
  constructor(main) {
    this.rows = {};
    const text = (id, title, value, more) => this.row(id, title, make("input", { id, value, autocomplete: "off", spellcheck: false, ...more }));
    const choice = (id, title, choices, value) => this.row(id, title, make("select", { id }, ...Object.entries(choices).map(([key, words]) =>
      make("option", { value: key, selected: key === value }, words))));
    const check = (id, title, isOn) => this.row(id, title, make("input", { id, type: "checkbox", checked: isOn }), true);
    const group = (title, ...rows) => make("fieldset", { class: "group" }, make("legend", {}, title), ...rows);
    this.said = make("p", { role: "alert", class: "problem" });
    this.help = make("div", {});
    const form = make("form", { class: "panel create", noValidate: true },
      group("Stream", text("name", "Name", "my-stream"), choice("way", "It comes from", ways, "rtmp"), choice("listens", "Listen on", listens, isHere ? "machine" : "network"),
        text("port", "Port", "1935", { inputMode: "numeric" }), text("passphrase", "Passphrase (optional)", ""), text("url", "Address of the stream", "", { inputMode: "url" })),
      group("Picture", choice("policy", "Shape", policies, "phone"), choice("size", "Size", sizes, "720p"), choice("frames", "Frames arrive", frames, "metadata")),
      group("Outputs", check("plays", "Play in browsers (HLS)", true), check("isFast", "Low latency", true), check("records", "Record to a file", false),
        text("file", "Name of the file", "take.mp4"), text("forward", "Send on to (optional)", "", { inputMode: "url", placeholder: "rtmp://a.rtmp.youtube.com/live2/KEY" })),
      this.said, make("div", { class: "buttons" }, this.button = make("button", {}, "Make the session"), make("a", { class: "button plain", href: "#/" }, "Cancel")));
    form.onsubmit = event => {
      event.preventDefault();
      this.send();
    };
    form.onchange = ({ target }) => this.changed(target.id);
    main.append(make("h1", {}, "New session"), form, this.help);
    this.changed();
  }

  row(id, title, control, isCheck = false) {
    const error = make("p", { id: id + "-error", class: "problem" });
    control.setAttribute("aria-describedby", error.id);
    const label = make("label", { for: id }, title);
    const element = make("div", { class: isCheck ? "row check" : "row" }, ...(isCheck ? [control, label] : [label, control]), error);
    this.rows[id] = { element, control, error };
    return element;
  }

  get values() {
    return Object.fromEntries(Object.entries(this.rows).map(([id, { control }]) =>
      [id, control.type === "checkbox" ? control.checked : control.value.trim()]));
  }

  // Shows the fields that count.
  changed(id) {
    const { way, records, plays } = this.values;
    if (id === "way" && way === "srt") this.rows.port.control.value = "9000";
    if (id === "way" && way === "rtmp") this.rows.port.control.value = "1935";
    const isPublished = ["rtmp", "srt"].includes(way);
    const shown = { listens: isPublished, port: isPublished, passphrase: way === "srt", url: way === "pull", file: records, isFast: plays };
    for (const [name, isShown] of Object.entries(shown)) this.rows[name].element.hidden = !isShown;
  }

  tell(faults) {
    for (const [id, { control, error }] of Object.entries(this.rows)) {
      write(error, faults[id]);
      set(control, { "aria-invalid": String(id in faults) });
    }
    const first = Object.keys(this.rows).find(id => id in faults && !this.rows[id].element.hidden);
    if (first) this.rows[first].control.focus();
  }

  async send() {
    const { values } = this;
    const faults = faultsOf(values);
    write(this.said, "");
    this.help.replaceChildren();
    this.tell(faults);
    if (Object.keys(faults).length) return;
    this.button.disabled = true;
    try {
      const { id } = await ask("POST", "/v1/sessions", requestOf(values, makeKey()));
      location.hash = "#/sessions/" + encodeURIComponent(id);
    } catch (error) {
      const field = fieldOf(error, values.way);
      if (needsJanus(error)) this.help.append(makeHelp());
      else if (field && !this.rows[field].element.hidden) this.tell({ [field]: error.message });
      else write(this.said, error.message);
    }
    this.button.disabled = false;
  }
}
