// One session: its picture, how to publish to it and watch it, a phone that turns it, and what became of it.
import { ask, session } from "./api.js";
import { make, repeat, write } from "./dom.js";
import { makeHealth } from "./health.js";
import { makeHierarchy } from "./hierarchy.js";
import { makeOutputs } from "./outputs.js";
import { makePhone } from "./phone.js";
import { Preview, playlistOf } from "./preview.js";
import { makePublishing, makeWatching } from "./publishing.js";
import { makeRecordings } from "./recordings.js";
import { makeShareButton } from "./share.js";
import { makeTimeline } from "./timeline.js";
import { endOf, reasoned, sentence, shapeOf, stateWords } from "./words.js";

export function showSession(main, name) {
  document.title = name + " · Upright";
  const view = new SessionView(main, name);
  return () => view.close();
}

const panel = (title, ...children) => make("section", { class: "panel" }, make("h2", {}, title), ...children);

// A panel that is opened by its title.
function fold(title, isOpen, ...children) {
  return make("details", { class: "panel", open: isOpen }, make("summary", {}, make("h2", {}, title)), ...children);
}

class SessionView {
  constructor(main, name) {
    this.name = name;
    // The events that were posted, and those that have no answer yet.
    this.posted = this.waiting = 0;
    this.state = make("span", { class: "state" });
    this.reason = make("p", { class: "reason" });
    this.said = make("div", { role: "status", class: "said" });
    this.preview = new Preview(name, event => this.post(event), text => this.tell(text));
    this.phone = makePhone(device => this.post({ device }));
    this.hierarchy = makeHierarchy();
    this.health = makeHealth();
    this.outputs = makeOutputs(name);
    this.recordings = makeRecordings(name);
    this.timeline = makeTimeline(name, (kind, data) => this.heard(kind, data));
    this.publishing = panel("Publish");
    this.watching = fold("Watch and embed", false);
    this.publishing.hidden = this.watching.hidden = true;
    const content = make("div", { class: "columns", hidden: true },
      make("div", { class: "column" }, panel("Preview", this.preview.stage, this.preview.controls), this.publishing, this.watching,
        panel("Outputs", this.outputs.element), panel("Recordings", this.recordings.element), panel("Health", this.health.element)),
      make("div", { class: "column" }, panel("Turn it", this.phone.element, this.buttons(), this.said), panel("Timeline", this.timeline.element),
        fold("Who decides, in UIKit's terms", false, this.hierarchy.element,
          make("p", {}, make("a", { href: "#/policy/" + encodeURIComponent(name) }, "Edit the policy")))));
    this.gone = make("p", { hidden: true }, "There is no session of this name any more. ", make("a", { href: "#/" }, "All sessions"));
    main.append(make("h1", {}, name, " ", this.state), this.reason, this.endButtons(), this.gone, this.content = content);
    this.end = repeat(() => this.refresh(), 1000);
    this.showPolicy();
  }

  close() {
    this.isClosed = true;
    this.end();
    this.recordings.end();
    this.timeline.close();
    this.preview.close();
  }

  // MARK: Its end

  endButtons() {
    const button = (text, body) => {
      const element = make("button", { type: "button", class: "plain", hidden: true }, text);
      element.onclick = async () => {
        element.disabled = true;
        await body().catch(error => write(this.reason, error.message));
        element.disabled = false;
      };
      return element;
    };
    this.stopButton = button("Stop session", async () => {
      if (this.name !== "sample" && !confirm("Stop " + this.name + "? Its publisher is disconnected and its recordings are closed.")) return;
      await ask("DELETE", session(this.name));
      await this.refresh();
    });
    this.deleteButton = button("Delete session", async () => {
      await ask("DELETE", session(this.name));
      location.hash = "#/";
    });
    this.againButton = button("Play the sample again", async () => {
      await ask("POST", "/v1/sample");
      this.timeline.restart();
      await this.refresh();
    });
    return make("div", { class: "buttons ends" }, this.stopButton, this.deleteButton, this.againButton);
  }

  showEnd({ state }) {
    const hasEnded = ["ended", "failed"].includes(state);
    this.stopButton.hidden = hasEnded;
    this.deleteButton.hidden = !hasEnded;
    this.againButton.hidden = !hasEnded || this.name !== "sample";
    for (const one of [this.lock, this.active, this.turn]) one.disabled = hasEnded;
  }

  // MARK: Turning

  buttons() {
    const toggle = (text, change) => {
      const button = make("button", { type: "button", class: "plain", "aria-pressed": "false" }, text);
      button.onclick = () => this.post(change(button.getAttribute("aria-pressed") !== "true"));
      return button;
    };
    this.lock = toggle("Lock rotation", lock => ({ lock }));
    this.active = toggle("App in front", active => ({ active }));
    const chosen = make("select", { "aria-label": "Turn the app to" }, ...Object.entries({
      portrait: "portrait", landscapeRight: "landscape", landscapeLeft: "the other landscape", portraitUpsideDown: "portrait, upside down"
    }).map(([value, text]) => make("option", { value }, text)));
    this.turn = make("button", { type: "button", class: "plain" }, "Turn the app");
    this.turn.onclick = () => this.post({ rotate: chosen.value });
    return this.controls = make("div", { class: "buttons" }, this.lock, this.active, make("span", { class: "pair" }, chosen, this.turn), this.preview.focus);
  }

  // Shows a text, and a reason for who wants it.
  tell(text, why = "", kind = "") {
    const key = text + why;
    if (this.told === key) return;
    this.told = key;
    this.said.dataset.outcome = kind;
    this.said.replaceChildren(make("p", {}, text), why ? make("details", {}, make("summary", {}, "Why"), make("p", {}, ...reasoned(why))) : "");
  }

  // Posts an event, and tells what was decided.
  async post(event) {
    this.posted++;
    this.waiting++;
    try {
      const { decisions } = await ask("POST", session(this.name) + "/events", event);
      if (decisions.length) this.showDecision(decisions[0]);
      // The event stream tells the decision.
      else this.isAwaited = true;
    } catch (error) {
      this.tell(error.message, "", "refuse");
    }
    this.waiting--;
    this.showPolicy();
  }

  showDecision(decision) {
    this.isAwaited = false;
    this.tell(sentence(decision) + ".", decision.why, decision.decision);
  }

  heard(kind, data) {
    if (kind === "decision" || kind === "change") this.showPolicy();
    if (kind === "decision" && this.isAwaited) this.showDecision(data);
    if (kind === "state") this.showState(data);
  }

  // MARK: Its state

  showState(data) {
    write(this.state, stateWords[data.state]);
    this.state.dataset.state = data.state;
    write(this.reason, endOf(data));
  }

  // The policy's state, once for several changes at a time.
  showPolicy() {
    this.asked ??= setTimeout(async () => {
      this.asked = undefined;
      if (this.isClosed) return;
      const { posted } = this;
      try {
        const policy = await ask("GET", session(this.name) + "/policy");
        // An older state would undo for a moment what the user has just chosen. The answer asks for the next one.
        if (this.waiting || posted !== this.posted) return;
        this.hierarchy.show(policy);
        if (!document.querySelector(".is-dragged") && !this.isAwaited) this.phone.show(policy.state.device);
        this.lock.setAttribute("aria-pressed", policy.state.rotationLock);
        this.active.setAttribute("aria-pressed", policy.state.active);
        // Until somebody turns it here.
        if (!this.posted) this.tell("The picture is " + shapeOf(policy.state.app) + ".");
      } catch (error) {
        if (error.status !== 404) this.tell(error.message);
      }
    }, 50);
  }

  async refresh() {
    let one;
    try {
      one = await ask("GET", session(this.name));
    } catch (error) {
      this.content.hidden = error.status === 404;
      this.gone.hidden = error.status !== 404;
      if (error.status === 404) {
        write(this.state, "");
        for (const button of [this.stopButton, this.deleteButton, this.againButton]) button.hidden = true;
        this.preview.stop();
      }
      return write(this.reason, error.status === 404 ? "" : error.message);
    }
    if (this.isClosed) return;
    this.gone.hidden = true;
    this.showState(one);
    this.showEnd(one);
    this.health.show(one);
    this.outputs.show(one);
    this.preview.show(one);
    if (this.created !== one.created) await this.begin(one);
    // Not before, so that nothing moves when the panels come whose content is asked for.
    this.content.hidden = false;
  }

  // What is shown once for each session of this name.
  async begin(one) {
    const isFirst = this.created === undefined;
    this.created = one.created;
    if (isFirst) this.controls.append(makeShareButton(this.name, one.input.url === "whip:"));
    const replace = (element, content) => {
      element.hidden = !content;
      element.replaceChildren(element.firstChild, ...(content ? [content] : []));
    };
    try {
      replace(this.publishing, await makePublishing(this.name));
      const path = await playlistOf(one);
      replace(this.watching, path && makeWatching(path));
    } catch (error) {
      write(this.reason, error.message);
    }
  }
}
