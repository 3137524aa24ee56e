// Recordings: all of them, or those of a session. They are played, downloaded and deleted.
import { ask } from "./api.js";
import { make, repeat, write } from "./dom.js";

const states = { recording: "being recorded", finished: "finished", failed: "failed", interrupted: "interrupted" };

// Returns a size in bytes, a duration in seconds and a time, in words.
export const sizeOf = bytes => bytes < 1e6 ? Math.round(bytes / 1e3) + " kB" : bytes < 1e9 ? (bytes / 1e6).toFixed(1) + " MB" : (bytes / 1e9).toFixed(2) + " GB";
export function lengthOf(seconds) {
  if (seconds == null) return "";
  const all = Math.round(seconds), two = number => String(number).padStart(2, "0");
  return (all >= 3600 ? Math.floor(all / 3600) + ":" + two(Math.floor(all / 60) % 60) : Math.floor(all / 60)) + ":" + two(all % 60);
}
const day = text => text ? new Date(text).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }) : "";
const path = one => "/v1/recordings/" + encodeURIComponent(one.id);

// Returns the list of a session, or of all, and what ends it.
export function makeRecordings(session) {
  const list = make("ul", { class: "rows" });
  const said = make("p", { role: "status", class: "faint" }, "Loading.");
  const rows = new Map();

  function add(one) {
    const row = { state: make("span", { class: "state" }), about: make("span", { class: "faint" }) };
    const title = session ? one.name : one.session + ", " + one.name;
    const play = make("button", { type: "button", class: "plain", "aria-label": "Play " + title }, "Play");
    play.onclick = () => open(one, title);
    const load = make("a", { class: "button plain", href: path(one) + "/file", download: one.name, "aria-label": "Download " + title }, "Download");
    row.remove = make("button", { type: "button", class: "plain", "aria-label": "Delete " + title }, "Delete");
    row.remove.onclick = async () => {
      if (!confirm("Delete " + title + "? It can't be brought back.")) return;
      try {
        await ask("DELETE", path(one));
        await refresh();
      } catch (error) {
        write(said, error.message);
      }
    };
    row.element = make("li", {}, make("div", { class: "about" }, make("strong", {}, title), " ", row.state, row.about),
      make("div", { class: "buttons" }, play, load, row.remove));
    return row;
  }

  async function refresh() {
    let recordings;
    try {
      ({ recordings } = await ask("GET", "/v1/recordings" + (session ? "?session=" + encodeURIComponent(session) : "")));
    } catch (error) {
      return write(said, error.message);
    }
    write(said, recordings.length ? "" : "No recording yet. An output \"Record to a file\" makes one.");
    const ids = new Set(recordings.map(one => one.id));
    for (const [id, row] of rows) if (!ids.has(id)) {
      row.element.remove();
      rows.delete(id);
    }
    for (const one of recordings.toReversed()) {
      if (!rows.has(one.id)) {
        rows.set(one.id, add(one));
        list.prepend(rows.get(one.id).element);
      }
      const row = rows.get(one.id);
      write(row.state, states[one.state]);
      row.state.dataset.state = one.state === "recording" ? "live" : one.state;
      write(row.about, [lengthOf(one.duration), sizeOf(one.size), day(one.started), one.problem].filter(Boolean).join(", "));
      row.remove.disabled = one.state === "recording";
    }
  }

  return { element: make("div", {}, list, said), end: repeat(refresh, 3000) };
}

function open(one, title) {
  const video = make("video", { controls: true, autoplay: true, playsInline: true, src: path(one) + "/file", "aria-label": title });
  const said = make("p", { role: "status", class: "problem" });
  video.onerror = () => write(said, "This browser can't play the file. Download it instead.");
  const close = make("button", { type: "button", class: "plain" }, "Close");
  const dialog = make("dialog", { class: "watch", "aria-label": title }, make("h2", {}, title), video, said, close);
  close.onclick = () => dialog.close();
  dialog.onclose = () => {
    video.removeAttribute("src");
    video.load();
    dialog.remove();
  };
  addEventListener("hashchange", () => dialog.close(), { once: true });
  document.body.append(dialog);
  dialog.showModal();
}

export function showRecordings(main) {
  document.title = "Recordings · Upright";
  const { element, end } = makeRecordings();
  main.append(make("h1", {}, "Recordings"), make("section", { class: "panel" }, element));
  return end;
}
