// What shows and sets the position in a file: a button, and a bar that shows a small picture of the place that one seeks.
import { make, write } from "./dom.js";
import { lengthOf } from "./recordings.js";
import { pause } from "./source.js";

// Seconds of a time in WebVTT.
const secondsOf = text => text.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);

// Reads a list of small pictures: times, each with a part of a sheet.
function parse(text) {
  const pictures = [];
  for (const [, start, file, part] of text.matchAll(/^(\S+) --> \S+\n(\S+)#xywh=(\S+)$/gm)) {
    const [x, y, width, height] = part.split(",").map(Number);
    pictures.push({ start: secondsOf(start), file, x, y, width, height });
  }
  return pictures;
}

// Returns the element, and what ends it. `folder` is the address of the file's own files.
export function makeSeekBar(video, folder) {
  const button = make("button", { type: "button" }, "Play");
  const bar = make("input", { type: "range", min: 0, max: 0, step: 0.1, value: 0, "aria-label": "Position" });
  const clock = make("output", { "aria-live": "off" });
  const canvas = make("canvas", { hidden: true, "aria-hidden": "true" });
  const end = new AbortController();
  const sheets = new Map();
  // The time whose picture is wanted, which may come later.
  let pictures = [], wanted = null, isHeld = false, timer;

  // Asks again while the service makes too much at once.
  async function load() {
    const answer = await fetch(folder + "sprites.vtt", { signal: end.signal });
    if (answer.ok) {
      pictures = parse(await answer.text());
      draw();
    } else if (answer.status === 429) {
      await pause(1000);
      await load();
    }
  }

  // Shows the picture of the wanted time above its place.
  function draw() {
    const picture = wanted === null ? null : pictures.findLast(one => one.start <= wanted);
    const sheet = picture && sheets.get(picture.file);
    canvas.hidden = !sheet?.complete || !sheet.naturalWidth;
    if (picture && !sheet) {
      const image = new Image();
      image.onload = draw;
      image.onerror = () => sheets.delete(picture.file);
      image.src = folder + picture.file;
      sheets.set(picture.file, image);
    }
    if (canvas.hidden) return;
    const { x, y, width, height } = picture;
    Object.assign(canvas, { width, height });
    canvas.style.left = bar.offsetLeft + bar.offsetWidth * wanted / (Number(bar.max) || 1) + "px";
    canvas.getContext("2d").drawImage(sheet, x, y, width, height, 0, 0, width, height);
  }

  function show(time) {
    clearTimeout(timer);
    wanted = time;
    draw();
  }

  const hide = () => show(null);

  function update() {
    if (Number.isFinite(video.duration)) bar.max = video.duration;
    if (!isHeld) bar.value = video.currentTime;
    const text = lengthOf(Number(bar.value)) + " of " + lengthOf(Number(bar.max));
    write(clock, text);
    bar.setAttribute("aria-valuetext", text);
    write(button, video.paused ? "Play" : "Pause");
  }

  bar.oninput = () => {
    isHeld = true;
    show(Number(bar.value));
    timer = setTimeout(hide, 1500);
    update();
  };
  bar.onchange = () => {
    isHeld = false;
    video.currentTime = Number(bar.value);
  };
  bar.onpointermove = event => {
    if (!isHeld && event.pointerType === "mouse") show(event.offsetX / bar.offsetWidth * Number(bar.max));
  };
  bar.onpointerleave = hide;
  const turn = () => { if (video.paused) video.play().catch(() => {}); else video.pause(); };
  button.onclick = turn;
  video.onclick = turn;
  for (const name of ["timeupdate", "durationchange", "play", "pause", "ended", "seeked"]) video.addEventListener(name, update);
  update();
  load().catch(() => {});
  return {
    element: make("div", { class: "seek" }, button, bar, clock, canvas),
    end() {
      clearTimeout(timer);
      end.abort();
    }
  };
}
