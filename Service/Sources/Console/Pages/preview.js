// The preview of a session: a player for each canvas, with the choice of a focus.
import { ask, session } from "./api.js";
import { makeControls } from "./controls.js";
import { make, write } from "./dom.js";
import { focusAt } from "./focus.js";
import { play } from "./player.js";
import { makeTarget } from "./target.js";

// Returns the path of a session's playlist; that of a signed session has a signature. Null without an HLS output.
export async function playlistOf(one) {
  if (!one.outputs.some(output => output.type === "hls")) return null;
  if (one.playback !== "signed") return "/live/" + encodeURIComponent(one.id) + "/index.m3u8";
  const { url } = await ask("POST", session(one.id) + "/playback-url", { seconds: 12 * 3600 });
  return new URL(url, location).pathname;
}

export class Preview {
  // `post` posts an event, `tell` shows a text.
  constructor(name, post, tell) {
    Object.assign(this, { name, post, tell, players: [], targets: [] });
    this.stage = make("div", { class: "stages" });
    this.controls = make("div", {});
    this.focus = make("button", { type: "button", class: "plain", "aria-pressed": "false", hidden: true }, "Set focus");
    this.focus.onclick = () => this.setsFocus(this.focus.getAttribute("aria-pressed") !== "true");
    this.missing = make("p", { class: "missing" }, "No picture yet.");
    this.stage.append(make("div", { class: "stage" }, this.missing));
    this.whenShown = () => document.hidden ? this.stop() : this.start();
    document.addEventListener("visibilitychange", this.whenShown);
  }

  close() {
    document.removeEventListener("visibilitychange", this.whenShown);
    this.stop();
  }

  // Shows a session. The focus can be moved only where a canvas crops the frame.
  show(one) {
    this.focus.hidden = !one.layouts.some(({ part }) => part[2] < 0.999 || part[3] < 0.999);
    if (this.focus.hidden && this.focus.getAttribute("aria-pressed") === "true") this.setsFocus(false);
    this.one = one;
    this.start();
  }

  start() {
    const { one } = this;
    if (this.players.length || !one || document.hidden) return;
    if (!one.outputs.some(output => output.type === "hls")) {
      return write(this.missing, "This session has no output for browsers, so it has no preview. Add one below.");
    }
    const isDual = one.options.canvas === "dual";
    this.stage.replaceChildren();
    this.controls.replaceChildren();
    for (const file of isDual ? ["portrait", "landscape"] : ["index"]) {
      const video = make("video", { playsInline: true, muted: true, "aria-label": isDual ? "Preview, " + file : "Preview" });
      const said = make("p", { class: "missing" }, "No picture yet.");
      const target = makeTarget(video, point => this.chosen(video, point));
      this.targets.push(target);
      this.stage.append(make("div", { class: "stage " + file }, video, target.element, said));
      this.controls.append(makeControls(video, isDual ? file : ""));
      this.players.push(play(video, async () => (await playlistOf(one)).replace("index.m3u8", file + ".m3u8"), text => write(said, text)));
    }
  }

  stop() {
    for (const end of this.players) end();
    this.players = [];
    this.setsFocus(false);
    this.targets = [];
  }

  setsFocus(sets) {
    this.focus.setAttribute("aria-pressed", sets);
    this.stage.classList.toggle("is-target", sets);
    for (const target of this.targets) {
      if (sets) target.open();
      else target.close();
    }
    if (!sets) return;
    this.tell("Click the point of the preview to keep in the middle, or move there with the arrow keys and press Enter.");
    this.stage.querySelector("video")?.focus();
  }

  // Keeps a point of the window in the middle; null ends the choice.
  async chosen(video, point) {
    this.setsFocus(false);
    this.focus.focus();
    if (!point) return this.tell("");
    try {
      const { layouts } = await ask("GET", session(this.name));
      const focus = focusAt(point, video.getBoundingClientRect(), [video.videoWidth, video.videoHeight], layouts);
      if (focus) await this.post({ focus });
    } catch (error) {
      this.tell(error.message);
    }
  }
}
