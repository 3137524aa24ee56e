// Plays a live stream in a video element, about half a second behind its last part. A browser's own HLS stays several
// parts behind, so it is used only where there is no MediaSource.
import { isAfter, parse, typeOf } from "./playlist.js";
import { MediaBuffer, pause } from "./source.js";

// The distance to the end of what is loaded, in seconds: the wanted one; the one from which playback is a little faster; the one from
// which it jumps.
const distance = { wanted: 0.4, fast: 0.65, jump: 1.1 };

// Returns a function that ends the playback. `say` is called with what is missing, and "" while the stream plays. The video is muted
// until its user wants the sound.
export function play(video, address, say) {
  const end = new AbortController();
  video.muted = true;
  follow(video, address, say, end.signal);
  return () => {
    end.abort();
    video.removeAttribute("src");
    video.load();
  };
}

// Starts again where the stream can't be followed, and where a new one has the place of one that has ended.
async function follow(video, address, say, signal) {
  while (!signal.aborted) {
    try {
      const loader = new Loader(video, signal, say);
      await loader.run(address);
      await loader.waitForAnother(address);
    } catch (error) {
      if (signal.aborted) return;
      say(error.message);
      await pause(1000);
    }
  }
}

class Loader {
  constructor(video, signal, say) {
    Object.assign(this, { video, signal, say, buffer: new MediaBuffer(video, "stream"), map: null });
  }

  // Returns the media playlist and its place.
  async find(address) {
    const ask = typeof address === "function" ? await address() : address;
    let place = new URL(ask, location);
    let list = parse(await this.text(place));
    while (list.variants.length) {
      place = new URL(list.variants[0], place);
      list = parse(await this.text(place));
    }
    return { place, list };
  }

  // Waits until the playlist is that of another stream, which has not ended.
  async waitForAnother(address) {
    while (!this.signal.aborted) {
      await pause(1000);
      const list = await this.find(address).then(found => found.list, () => null);
      if (list && !list.isEnded && list.units.length) return;
    }
  }

  async run(address) {
    let { place, list } = await this.find(address);
    if (!window.MediaSource) return this.playNatively(place);
    let last = list.units.findLast(unit => unit.isIndependent);
    if (!last) throw new Error("The stream has no segment yet.");
    // The first unit to load is that one.
    last = { ...last, part: last.part - 1 };
    while (!this.signal.aborted) {
      for (const unit of list.units) {
        if (!isAfter(unit, last)) continue;
        await this.load(unit, place);
        last = unit;
      }
      if (list.isEnded) return this.say("The stream has ended.");
      list = await this.reload(place, list);
      // Another session has the name now, and counts anew.
      if (!isAfter(list.next, last)) throw new Error("The stream begins again.");
    }
  }

  async reload(place, { blocks, next, target }) {
    const query = new URL(place);
    if (blocks) {
      query.searchParams.set("_HLS_msn", next.sequence);
      query.searchParams.set("_HLS_part", next.part);
    } else await pause(target * 500);
    return parse(await this.text(query));
  }

  async load(unit, place) {
    if (unit.map !== this.map) {
      const bytes = await this.bytes(new URL(unit.map, place));
      await this.buffer.open(typeOf(bytes));
      await this.append(bytes);
      this.map = unit.map;
    }
    await this.append(await this.bytes(new URL(unit.file, place)));
    this.keepUp();
  }

  async append(bytes) {
    await this.buffer.append(bytes);
    const old = this.video.currentTime - 10;
    if (this.video.buffered.length && this.video.buffered.start(0) < old - 10) await this.buffer.remove(0, old);
  }

  // Stays near the end of what is loaded. After a gap, and where the times start again, the end is in another range.
  keepUp() {
    const { video } = this;
    if (!video.buffered.length) return;
    const range = video.buffered.length - 1;
    const [start, end] = [video.buffered.start(range), video.buffered.end(range)];
    const behind = end - video.currentTime;
    if (video.currentTime < start || behind < 0 || behind > distance.jump) {
      video.currentTime = Math.max(start, end - distance.wanted);
    }
    const rate = behind > distance.fast ? 1.15 : 1;
    if (video.playbackRate !== rate) video.playbackRate = rate;
    if (video.paused) video.play().catch(() => {});
    this.say("");
  }

  async playNatively(place) {
    this.video.src = place;
    await this.video.play().catch(error => { throw new Error("This browser can't play the stream: " + error.message); });
    this.say("");
    await new Promise(done => this.signal.addEventListener("abort", done));
  }

  async fetch(place) {
    const answer = await fetch(place, { signal: this.signal });
    if (answer.status === 503) throw new Error("No picture yet.");
    if (answer.status === 404) throw new Error("There is no stream here.");
    if (!answer.ok) throw new Error("The stream can't be loaded (" + answer.status + ").");
    return answer;
  }

  async text(place) { return (await this.fetch(place)).text(); }

  async bytes(place) { return new Uint8Array(await (await this.fetch(place)).arrayBuffer()); }
}
