// The policy editor: errors where they are, and the decisions on a list of events as you type.
import { ask, session } from "./api.js";
import { make, set, write } from "./dom.js";
import { positionOf } from "./position.js";
import { outcome, reasoned, sentence } from "./words.js";

const sample = ['{"at": 1, "device": "landscapeLeft"}', '{"at": 3, "lock": true}', '{"at": 4, "device": "portrait"}',
  '{"at": 5, "lock": false}', ""].join("\n");

// Edits the policy of a session, or one that is only a file.
export function showPolicy(main, name) {
  document.title = "Policy editor · Upright";
  const editor = new Editor(main, name);
  return () => editor.close();
}

class Editor {
  constructor(main, name) {
    this.name = name;
    this.texts = {
      policy: this.text("policy", "Policy, as JSON", 18, "{}"), events: this.text("events", "Events, one on each line", 8, sample)
    };
    this.choice = make("select", { id: "built-in" }, make("option", { value: "" }, "choose one"));
    this.choice.onchange = () => this.load(this.policies[this.choice.value]);
    this.said = make("p", { role: "status", class: "said" });
    this.conflict = make("div", { class: "buttons", hidden: true }, this.choose("Show the other policy", () => this.showOther()),
      this.choose("Apply mine all the same", () => this.applyOver()));
    const download = make("button", { type: "button", class: "plain" }, "Download");
    download.onclick = () => this.download();
    const apply = this.applyButton = make("button", { type: "button", hidden: !name }, "Apply to " + name);
    apply.onclick = () => this.apply();
    this.start = make("p", {});
    // Both can be scrolled by keyboard.
    this.list = make("ol", { class: "timeline", tabIndex: 0, "aria-label": "Decisions" });
    this.drawing = make("div", { class: "drawing", role: "region", tabIndex: 0, "aria-label": "Drawing of the decisions" });
    main.append(make("h1", {}, name ? "Policy of " + name : "Policy editor"),
      make("div", { class: "columns even" },
        make("section", { class: "panel" },
          make("label", { for: "built-in" }, "Start from a built-in policy"), " ", this.choice,
          this.texts.policy.element, this.texts.events.element,
          make("div", { class: "buttons" }, apply, download), this.said, this.conflict),
        make("section", { class: "panel" }, make("h2", {}, "What it decides"), this.drawing, this.start, this.list)));
    this.open();
  }

  close() { clearTimeout(this.timer); }

  text(id, title, rows, value) {
    const area = make("textarea", {
      id, rows, value, spellcheck: false, autocomplete: "off", "aria-describedby": id + "-error", wrap: "off"
    });
    const error = make("p", { id: id + "-error", class: "problem", "aria-live": "polite" });
    area.oninput = () => this.wait();
    return { area, error, element: make("div", { class: "text" }, make("label", { for: id }, title), area, error) };
  }

  async open() {
    try {
      this.policies = (await ask("GET", "/v1/policies")).policies;
      for (const name of Object.keys(this.policies)) this.choice.append(make("option", { value: name }, name));
      const policy = this.name ? await this.current() : this.policies.phone;
      // Not over what has been typed meanwhile.
      if (!this.isEdited) this.load(policy);
    } catch (error) {
      write(this.said, error.message);
    }
  }

  choose(text, body) {
    const button = make("button", { type: "button", class: "plain" }, text);
    button.onclick = () => body().catch(error => write(this.said, error.message));
    return button;
  }

  // The session's policy now. Its tag is that of the policy that the text replaces.
  async current() {
    const seen = {};
    const { policy } = await ask("GET", session(this.name) + "/policy", undefined, {}, seen);
    this.tag = seen.tag;
    return policy;
  }

  load(policy) {
    if (!policy) return;
    this.texts.policy.area.value = JSON.stringify(policy, null, 2) + "\n";
    this.explain();
  }

  wait() {
    this.isEdited = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.explain(), 150);
  }

  // Asks again only when the answer is there, with what is written then.
  async explain() {
    if (this.isAsking) return this.isStale = true;
    this.isAsking = true;
    const { policy, events } = this.texts;
    try {
      this.show(await ask("POST", "/v1/explain", { policy: policy.area.value, events: events.area.value }));
      // What was said of an applied policy stays.
      if (this.hasFailed) write(this.said, "");
      this.hasFailed = false;
    } catch (error) {
      this.hasFailed = true;
      write(this.said, error.message);
    }
    this.isAsking = false;
    if (!this.isStale) return;
    this.isStale = false;
    this.explain();
  }

  show({ error, start, decisions, svg }) {
    for (const [name, { area, error: place }] of Object.entries(this.texts)) {
      const isHere = error?.in === name;
      set(area, { "aria-invalid": isHere });
      if (!isHere) {
        place.replaceChildren();
        continue;
      }
      const go = make("button", { type: "button", class: "plain" }, error.path);
      go.onclick = () => {
        area.focus();
        area.setSelectionRange(...positionOf(error.path, area.value));
      };
      place.replaceChildren(go, " " + error.message + ": " + error.remedy);
    }
    // Decisions of an older text beside an error would be wrong.
    this.applyButton.disabled = error?.in === "policy";
    if (error) {
      write(this.start, "No decisions: the " + error.in + " above must be corrected first.");
      this.list.replaceChildren();
      this.drawing.replaceChildren();
      return;
    }
    write(this.start, start);
    this.list.replaceChildren(...decisions.map(decision => make("li", { "data-kind": decision.decision },
      make("span", { class: "at" }, decision.at.toFixed(2) + " s"),
      make("span", {}, make("strong", {}, sentence(decision)), make("span", { class: "why" }, ...reasoned(decision.why))))));
    const drawing = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    drawing.setAttribute("role", "img");
    drawing.setAttribute("aria-label", "Timeline of the decisions");
    this.drawing.replaceChildren(document.importNode(drawing, true));
  }

  // Replaces the policy that was shown, and no other one: somebody else may have changed it meanwhile.
  async apply() {
    try {
      const policy = JSON.parse(this.texts.policy.area.value);
      const seen = {};
      const { decisions } = await ask("PATCH", session(this.name), { policy }, this.tag ? { "If-Match": this.tag } : {}, seen);
      this.tag = seen.tag;
      this.conflict.hidden = true;
      write(this.said, ["Applied.", ...decisions.map(one => outcome(one) + ".")].join(" "));
    } catch (error) {
      const isConflict = error.status === 412;
      this.conflict.hidden = !isConflict;
      write(this.said, isConflict ? "Somebody else has changed the policy since you opened it. Nothing was applied." : error.message);
    }
  }

  async showOther() {
    this.load(await this.current());
    this.conflict.hidden = true;
    write(this.said, "This is the policy now.");
    this.texts.policy.area.focus();
  }

  async applyOver() {
    await this.current();
    await this.apply();
  }

  download() {
    const link = make("a", { download: "policy.json", href: URL.createObjectURL(new Blob([this.texts.policy.area.value])) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
}
