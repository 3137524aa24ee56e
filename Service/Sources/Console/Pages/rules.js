// The rules by which a turn is decided, each in a sentence. The first that applies decides.
import { make } from "./dom.js";

const rules = [
  [1, ["automatic"], "A phone that lies flat, or whose position is unknown, asks for no turn."],
  [2, ["automatic"], "After the app has turned itself, its picture stays until the phone is held in another upright way."],
  [3, ["automatic"], "With the rotation lock on, the picture doesn't follow the phone. The app can still turn itself."],
  [4, ["automatic", "manual"], "An app in the background that ignores rotation meanwhile doesn't turn."],
  [5, ["automatic", "manual"], "A screen of the app that answers no to shouldAutorotate doesn't turn."],
  [6, ["automatic", "manual"], "The app and its screen must have an orientation in common. Without one, UIKit would end the app."],
  [7, ["automatic", "manual"], "A turn to an orientation that the app or its screen doesn't allow is refused."],
  [8, ["automatic", "manual"], "An allowed orientation that isn't the present one is turned to. The present one is kept."]
];

const titles = { automatic: "When the phone is turned", manual: "When the app turns itself" };

export function showRules(main, chosen) {
  document.title = "Rules · Upright";
  main.append(make("h1", {}, "How a turn is decided"),
    make("p", {}, "UIKit's rules, in their order: the first that applies decides. \"Screen\" is the view controller that is asked."));
  for (const [kind, title] of Object.entries(titles)) {
    const list = make("dl", { class: "rules" }, ...rules.filter(([, kinds]) => kinds.includes(kind)).map(([number, , text]) => {
      const id = kind + "-" + number;
      const row = make("div", { id, class: id === chosen ? "is-chosen" : "" }, make("dt", {}, "Rule " + number), make("dd", {}, text));
      if (id === chosen) requestAnimationFrame(() => row.scrollIntoView({ block: "center" }));
      return row;
    }));
    main.append(make("section", { class: "panel" }, make("h2", {}, title), list));
  }
}
