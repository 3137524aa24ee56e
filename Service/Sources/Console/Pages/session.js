// One session: its preview, a phone that turns it, and why it did what it did.
import { ask, session } from "./api.js";
import { makeChart } from "./charts.js";
import { make, repeat, stateWords, words, write } from "./dom.js";
import { focusAt } from "./focus.js";
import { makeHierarchy } from "./hierarchy.js";
import { makePhone } from "./phone.js";
import { play } from "./player.js";
import { makeShareButton } from "./share.js";
import { makeTarget } from "./target.js";
import { headline, makeTimeline } from "./timeline.js";

export function showSession(main, name) {
  document.title = name + " · Upright";
  const view = new SessionView(main, name);
  return () => view.close();
}

const panel = (title, ...children) => make("section", { class: "panel" }, make("h2", {}, title), ...children);

// A panel beside two others.
function tallPanel(...content) {
  const element = panel(...content);
  element.classList.add("tall");
  return element;
}

class SessionView {
  constructor(main, name) {
    this.name = name;
    this.players = [];
    this.targets = [];
    // The events that were posted, and those that have no answer yet.
    this.posted = this.waiting = 0;
    this.state = make("span", { class: "state" });
    this.reason = make("p", { class: "reason" });
    this.said = make("p", { role: "status", class: "said" });
    this.stage = make("div", { class: "stages" });
    this.numbers = make("dl", { class: "numbers" });
    this.charts = {
      rate: makeChart("Frames out", "/s"), latency: makeChart("Event to frame", "ms"), queue: makeChart("Waiting frames", ""),
      bitrate: makeChart("Output", "kbit/s"), memory: makeChart("Memory of the service", "MB")
    };
    this.phone = makePhone(device => this.post({ device }));
    this.hierarchy = makeHierarchy();
    this.timeline = makeTimeline(name, (kind, data) => this.tell(kind, data));
    main.append(
      make("h1", {}, name, " ", this.state), this.reason,
      make("div", { class: "columns" },
        panel("Preview", this.stage, this.buttons()),
        panel("Phone", this.phone.element, this.said),
        panel("Who decides", this.hierarchy.element,
          make("p", {}, make("a", { href: "#/policy/" + encodeURIComponent(name) }, "Edit the policy"))),
        tallPanel("Timeline", this.timeline.element),
        panel("Counters", make("div", { class: "charts" }, ...Object.values(this.charts).map(one => one.element)), this.numbers)));
    const ends = [repeat(() => this.refresh(), 1000), repeat(() => this.readMemory(), 5000)];
    this.end = () => { for (const end of ends) end(); };
    this.showPolicy();
    this.whenShown = () => document.hidden ? this.stop() : this.start();
    document.addEventListener("visibilitychange", this.whenShown);
  }

  close() {
    document.removeEventListener("visibilitychange", this.whenShown);
    this.end();
    this.timeline.close();
    this.stop();
  }

  buttons() {
    const toggle = (text, change) => {
      const button = make("button", { type: "button", class: "plain", "aria-pressed": "false" }, text);
      button.onclick = () => this.post(change(button.getAttribute("aria-pressed") !== "true"));
      return button;
    };
    this.lock = toggle("Rotation lock", lock => ({ lock }));
    this.active = toggle("App active", active => ({ active }));
    const chosen = make("select", { "aria-label": "Orientation of the app" },
      ...["portrait", "portraitUpsideDown", "landscapeRight", "landscapeLeft"].map(one => make("option", { value: one }, words(one))));
    const turn = make("button", { type: "button", class: "plain" }, "Turn the app");
    turn.onclick = () => this.post({ rotate: chosen.value });
    this.focus = make("button", { type: "button", class: "plain", "aria-pressed": "false" }, "Set focus");
    this.focus.onclick = () => this.setsFocus(this.focus.getAttribute("aria-pressed") !== "true");
    return this.controls = make("div", { class: "buttons" }, this.lock, this.active, make("span", { class: "pair" }, chosen, turn), this.focus);
  }

  setsFocus(sets) {
    this.focus.setAttribute("aria-pressed", sets);
    this.stage.classList.toggle("is-target", sets);
    for (const target of this.targets) {
      if (sets) target.open();
      else target.close();
    }
    if (!sets) return;
    write(this.said, "Click the point of the preview to keep in the middle, or move there with the arrow keys and press Enter.");
    this.stage.querySelector("video")?.focus();
  }

  // Posts an event, and tells what was decided.
  async post(event) {
    this.posted++;
    this.waiting++;
    try {
      const { decisions } = await ask("POST", session(this.name) + "/events", event);
      const [decision] = decisions;
      write(this.said, decision ? headline(decision) + ". " + decision.why : "Sent. It is decided at the next frame.");
      this.said.dataset.outcome = decision?.decision ?? "";
    } catch (error) {
      write(this.said, error.message);
      this.said.dataset.outcome = "refuse";
    }
    this.waiting--;
    this.showPolicy();
  }

  tell(kind, data) {
    if (kind === "decision" || kind === "change") this.showPolicy();
    if (kind === "state") this.showState(data);
  }

  showState({ state, reason }) {
    write(this.state, stateWords[state]);
    this.state.dataset.state = state;
    write(this.reason, reason);
  }

  // The policy's state, once for several changes at a time.
  showPolicy() {
    this.asked ??= setTimeout(async () => {
      this.asked = undefined;
      const { posted } = this;
      try {
        const policy = await ask("GET", session(this.name) + "/policy");
        // An older state would undo for a moment what the user has just chosen. The answer asks for the next one.
        if (this.waiting || posted !== this.posted) return;
        this.hierarchy.show(policy);
        if (!document.querySelector(".is-dragged")) this.phone.show(policy.state.device);
        this.lock.setAttribute("aria-pressed", policy.state.rotationLock);
        this.active.setAttribute("aria-pressed", policy.state.active);
      } catch (error) {
        write(this.said, error.message);
      }
    }, 50);
  }

  async refresh() {
    let one;
    try {
      one = await ask("GET", session(this.name));
    } catch (error) {
      write(this.reason, error.message);
      return;
    }
    this.showState(one);
    this.showNumbers(one);
    if (this.one) return;
    this.one = one;
    this.controls.append(makeShareButton(this.name, one.input.url === "whip:"));
    this.start();
  }

  // MARK: The preview

  start() {
    if (this.players.length || !this.one || document.hidden) return;
    const { one } = this;
    if (!one.outputs.some(output => output.type === "hls")) {
      write(this.reason, "This session has no HLS output, so it has no preview.");
      return;
    }
    const isDual = one.options.canvas === "dual";
    for (const file of isDual ? ["portrait", "landscape"] : ["index"]) {
      const video = make("video", { playsInline: true, "aria-label": isDual ? "Preview, " + file : "Preview" });
      const said = make("p", { class: "missing" });
      const target = makeTarget(video, point => this.chosen(video, point));
      this.targets.push(target);
      this.stage.append(make("div", { class: "stage " + file }, video, target.element, said));
      this.players.push(play(video, () => this.address(file), text => write(said, text)));
    }
  }

  stop() {
    for (const end of this.players) end();
    this.players = [];
    this.setsFocus(false);
    this.targets = [];
    this.stage.replaceChildren();
  }

  // The address of a playlist. That of a signed session has a signature.
  async address(file) {
    let path = "/live/" + encodeURIComponent(this.name) + "/index.m3u8";
    if (this.one.playback === "signed") {
      const { url } = await ask("POST", session(this.name) + "/playback-url", { seconds: 12 * 3600 });
      path = new URL(url, location).pathname;
    }
    return path.replace("index.m3u8", file + ".m3u8");
  }

  // Keeps a point of the window in the middle; null ends the choice.
  async chosen(video, point) {
    this.setsFocus(false);
    this.focus.focus();
    if (!point) return write(this.said, "");
    try {
      const { layouts } = await ask("GET", session(this.name));
      const focus = focusAt(point, video.getBoundingClientRect(), [video.videoWidth, video.videoHeight], layouts);
      if (focus) await this.post({ focus });
    } catch (error) {
      write(this.said, error.message);
    }
  }

  // MARK: The counters

  async readMemory() {
    const metrics = await ask("GET", "/metrics").catch(() => "");
    const bytes = metrics.match(/^process_resident_memory_bytes (\S+)/m)?.[1];
    this.charts.memory.add(bytes ? Number(bytes) / 1e6 : null);
  }

  showNumbers(one) {
    const { counters } = one;
    const now = performance.now();
    const passed = this.before ? (now - this.before.now) / 1000 : 1;
    const rate = (key, digits = 0) => this.before ? ((counters[key] - this.before.counters[key]) / passed).toFixed(digits) : "0";
    const dropped = Object.values(counters.dropped).reduce((sum, count) => sum + count, 0);
    const rows = {
      "Format": one.encodeResolution ? one.encodeResolution + ", " + words(one.appOrientation) : "none yet",
      "Media time": one.seconds.toFixed(1) + " s",
      "Frames in": rate("framesIn") + " per second",
      "Frames out": rate("framesOut") + " per second",
      "Dropped": dropped,
      "Input": (rate("bytesIn") * 8 / 1000).toFixed(0) + " kbit/s",
      "Output": (rate("bytesOut") * 8 / 1000).toFixed(0) + " kbit/s",
      "Waiting frames": counters.queueDepth,
      "Format changes": counters.formatChanges,
      "Input losses": counters.inputLosses
    };
    if (this.before) {
      this.charts.rate.add(Number(rate("framesOut", 1)));
      this.charts.latency.add(counters.eventToFrame == null ? null : counters.eventToFrame * 1000);
      this.charts.queue.add(counters.queueDepth);
      this.charts.bitrate.add(Number(rate("bytesOut")) * 8 / 1000);
    }
    this.before = { now, counters };
    if (!this.numbers.children.length) {
      for (const key of Object.keys(rows)) this.numbers.append(make("div", {}, make("dt", {}, key), make("dd", {})));
    }
    for (const [index, value] of Object.values(rows).entries()) write(this.numbers.children[index].lastChild, value);
  }
}
