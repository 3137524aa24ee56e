// Plays a file of the library in a video element: a playlist that is complete, whose segments are loaded where one plays.
import { parse, typeOf } from "./playlist.js";
import { MediaBuffer, pause } from "./source.js";

// How many seconds are loaded ahead, and kept behind.
const distance = { ahead: 20, behind: 20 };

// Returns a function that ends the playback. `say` is called with what is wrong, and "" while the file plays.
export function playFile(video, address, say) {
  const end = new AbortController();
  const player = new Player(video, say, end.signal);
  player.run(new URL(address, location)).catch(error => { if (!end.signal.aborted) say(error.message); });
  return () => {
    end.abort();
    video.removeAttribute("src");
    video.load();
  };
}

class Player {
  constructor(video, say, signal) {
    Object.assign(this, {
      video, say, signal, units: [], empty: new Set(), buffer: new MediaBuffer(video, "file"), map: null, loading: null,
      wake: () => {}
    });
  }

  async run(place) {
    if (!window.MediaSource) {
      this.video.src = place;
      return;
    }
    this.say("Loading.");
    this.units = parse(await this.fetch(place, this.signal).then(answer => answer.text())).units;
    this.video.addEventListener("seeking", () => this.leave(), { signal: this.signal });
    for (const name of ["timeupdate", "seeking"]) this.video.addEventListener(name, () => this.wake(), { signal: this.signal });
    this.signal.addEventListener("abort", () => this.wake());
    while (!this.signal.aborted) {
      const unit = this.next();
      if (unit) await this.load(unit, place);
      // Until the position may need another one.
      else await new Promise(done => { this.wake = done; });
    }
  }

  get end() { return this.units.at(-1).end; }

  isLoaded(unit) {
    const { buffered } = this.video, middle = (unit.start + unit.end) / 2;
    for (let range = 0; range < buffered.length; range++) {
      if (buffered.start(range) <= middle && middle < buffered.end(range)) return true;
    }
    return false;
  }

  // The first unit that is missing from the position on.
  next() {
    const now = Math.min(this.video.currentTime, this.end - 0.01);
    return this.units.find(unit => unit.end > now && unit.start < now + distance.ahead && !this.isLoaded(unit) && !this.empty.has(unit));
  }

  // A segment that isn't shown any more isn't waited for.
  leave() {
    const now = this.video.currentTime;
    const { loading } = this;
    if (loading && (loading.unit.end <= now || loading.unit.start > now + distance.ahead)) loading.abort.abort();
  }

  async load(unit, place) {
    this.loading = { unit, abort: new AbortController() };
    const signal = AbortSignal.any([this.signal, this.loading.abort.signal]);
    try {
      const map = unit.map === this.map ? null : await this.bytes(new URL(unit.map, place), signal);
      const bytes = await this.bytes(new URL(unit.file, place), signal);
      if (map) await this.begin(unit.map, map);
      await this.append(bytes);
      // What the browser shows nothing of isn't asked for again.
      if (!this.isLoaded(unit)) this.empty.add(unit);
      this.say("");
      const last = this.units.at(-1), { source } = this.buffer;
      if ((this.isLoaded(last) || this.empty.has(last)) && source.readyState === "open") source.endOfStream();
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    } finally {
      this.loading = null;
    }
  }

  async begin(name, bytes) {
    const isFirst = !this.buffer.source;
    await this.buffer.open(typeOf(bytes));
    await this.buffer.append(bytes);
    this.map = name;
    if (!isFirst) return;
    this.buffer.source.duration = this.end;
    this.video.play().catch(() => {});
  }

  async append(bytes) {
    const { buffer, video: { buffered, currentTime: now } } = this;
    if (buffered.length && buffered.start(0) < now - 2 * distance.behind) await buffer.remove(0, now - distance.behind);
    try {
      await buffer.append(bytes);
    } catch (error) {
      if (error.name !== "QuotaExceededError") throw error;
      // What was loaded before one sought elsewhere.
      if (now > 1) await buffer.remove(0, now - 1);
      await buffer.remove(now + distance.ahead, Infinity);
      await buffer.append(bytes);
    }
  }

  // Asks again while the service makes too many segments at once.
  async fetch(place, signal) {
    while (true) {
      const answer = await fetch(place, { signal });
      if (answer.ok) return answer;
      if (answer.status !== 429) {
        const problem = await answer.json().catch(() => ({}));
        throw new Error(problem.detail ?? "The file can't be loaded (" + answer.status + ").");
      }
      await pause(1000);
    }
  }

  async bytes(place, signal) { return new Uint8Array(await (await this.fetch(place, signal)).arrayBuffer()); }
}
