// The library: its files, found by their paths, and a page that plays one of them.
import { ask } from "./api.js";
import { makeControls } from "./controls.js";
import { make, write } from "./dom.js";
import { lengthOf, sizeOf } from "./recordings.js";
import { makeSeekBar } from "./seek.js";
import { playFile } from "./vod.js";

// The number of files that are listed at a time.
const most = 60;

// `path` is percent-encoded, as in addresses.
const folder = path => "/vod/" + path + "/";

function makeCard(one) {
  const path = new URL(one.url).pathname.slice("/vod/".length, -"/index.m3u8".length);
  const picture = make("img", { class: "thumbnail", alt: "", loading: "lazy", decoding: "async" });
  picture.onerror = () => picture.removeAttribute("src");
  const link = make("a", {}, picture, make("span", { class: "name" }, one.path));
  if (one.problem) link.append(make("span", { class: "reason" }, one.problem));
  else {
    picture.src = folder(path) + "poster.jpg";
    link.href = "#/library/" + encodeURIComponent(path);
    const turned = one.turns ? "turns " + (one.turns === 1 ? "once" : one.turns + " times") : one.orientation === "up" ? "" : "stored turned";
    link.append(make("span", { class: "faint" },
      [one.size.width + "x" + one.size.height, lengthOf(one.duration), sizeOf(one.bytes), one.hdr, turned].filter(Boolean).join(", ")));
  }
  return make("li", { class: "card" }, link);
}

export function showLibrary(main) {
  document.title = "Library · Upright";
  const said = make("p", { role: "status" }, "Loading.");
  const list = make("ul", { class: "cards" });
  const find = make("input", { id: "find", type: "search", autocomplete: "off", spellcheck: false });
  const finder = make("p", { class: "find", hidden: true }, make("label", { for: "find" }, "Find a file"), " ", find);
  const more = make("button", { type: "button", class: "plain", hidden: true }, "More files");
  main.append(make("h1", {}, "Library"), said, finder, list, more);
  // The end of what is listed, where more follows. Only the answer to the newest request counts.
  let next, newest = 0, timer;

  async function load(after) {
    const request = newest += 1;
    const query = new URLSearchParams({ limit: most });
    const text = find.value.trim();
    if (text) query.set("find", text);
    if (after) query.set("after", after);
    let page;
    try {
      // A plus is one in the service.
      page = await ask("GET", "/vod?" + query.toString().replaceAll("+", "%20"));
    } catch (error) {
      if (request === newest) write(said, error.status === 404 ? "This service has no library. Start it with --library FOLDER." : error.message);
      return;
    }
    if (request !== newest) return;
    if (!after) list.replaceChildren();
    list.append(...page.files.map(makeCard));
    next = page.next;
    more.hidden = !next;
    const count = list.childElementCount;
    // A few are seen at a glance. A word in the field keeps it.
    finder.hidden = count < 12 && !next && !text;
    write(said, count ? count + (next ? " of the files" : count === 1 ? " file" : " files") : text ? "No file has this in its path." : "There is no video file in the library.");
  }

  more.onclick = () => load(next);
  find.oninput = () => {
    clearTimeout(timer);
    timer = setTimeout(load, 200);
  };
  load();
  return () => {
    clearTimeout(timer);
    newest += 1;
  };
}

export function showFile(main, path) {
  let name = path;
  // Names may have any bytes.
  try { name = decodeURIComponent(path); } catch {}
  document.title = name + " · Upright";
  const video = make("video", { playsInline: true, "aria-label": name });
  const said = make("p", { role: "status", class: "missing" });
  const seek = makeSeekBar(video, folder(path));
  main.append(make("p", {}, make("a", { href: "#/library" }, "All files")), make("h1", {}, name),
    make("div", { class: "stages" }, make("div", { class: "stage" }, video, said)), seek.element, makeControls(video));
  const end = playFile(video, folder(path) + "index.m3u8?codec=h264", text => write(said, text));
  return () => {
    seek.end();
    end();
  };
}
