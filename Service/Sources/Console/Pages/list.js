// The list of sessions. It is updated in place: a row stays the same element while its session exists.
import { ask, session } from "./api.js";
import { make, repeat, write } from "./dom.js";
import { makeStart } from "./start.js";
import { endOf, shapeOf, stateWords } from "./words.js";

// The time between two pictures of a session, in milliseconds.
const age = 5000;
// Only what is on the screen is loaded.
const seen = new IntersectionObserver(entries => {
  for (const { target, isIntersecting } of entries) target.isSeen = isIntersecting;
}, { rootMargin: "200px" });

function makeCard(name) {
  const part = {
    picture: make("img", { class: "thumbnail", alt: "", decoding: "async" }), shownAt: -Infinity,
    state: make("span", { class: "state" }), detail: make("span", { class: "faint" }), reason: make("span", { class: "reason" })
  };
  const card = make("li", { class: "card" },
    make("a", { href: "#/sessions/" + encodeURIComponent(name) },
      part.picture, make("span", { class: "name" }, name), part.state, part.detail, part.reason));
  seen.observe(part.picture);
  part.picture.onerror = () => part.picture.removeAttribute("src");
  return { card, part };
}

function refreshPicture(part, one) {
  const now = performance.now();
  if (!part.picture.isSeen || !["live", "inputLost"].includes(one.state) || now - part.shownAt < age) return;
  part.shownAt = now;
  part.picture.src = session(one.id) + "/thumbnail?" + Math.round(now);
}

function update({ part }, one) {
  write(part.state, stateWords[one.state]);
  if (part.state.dataset.state !== one.state) part.state.dataset.state = one.state;
  write(part.detail, one.appOrientation ? shapeOf(one.appOrientation) + ", " + one.encodeResolution : "no picture yet");
  write(part.reason, endOf(one));
  refreshPicture(part, one);
}

export function showList(main) {
  document.title = "Sessions · Upright";
  const said = make("p", { role: "status" });
  const list = make("ul", { class: "cards" });
  const hint = make("p", { class: "faint", hidden: true }, "A session takes one stream from OBS, a phone or a camera, keeps its picture upright, and sends it on. ",
    "The sample shows it without a camera. ", make("a", { href: "/openapi.yaml" }, "The API"));
  const find = make("input", { id: "find", type: "search", autocomplete: "off", spellcheck: false });
  const finder = make("p", { class: "find", hidden: true }, make("label", { for: "find" }, "Find a session"), " ", find);
  main.append(make("h1", {}, "Sessions"), makeStart(), said, finder, hint, list);
  const cards = new Map();
  const choose = (card, name) => { card.hidden = !finder.hidden && !name.toLowerCase().includes(find.value.trim().toLowerCase()); };
  find.oninput = () => { for (const [name, { card }] of cards) choose(card, name); };

  return repeat(async () => {
    let sessions;
    try {
      ({ sessions } = await ask("GET", "/v1/sessions"));
    } catch (error) {
      write(said, error.message);
      return;
    }
    write(said, sessions.length ? sessions.length + (sessions.length === 1 ? " session" : " sessions") : "There is no session yet.");
    hint.hidden = sessions.length > 0;
    // A few are seen at a glance. A word in the field keeps it.
    finder.hidden = sessions.length < 12 && !find.value;
    const names = new Set(sessions.map(one => one.id));
    for (const [name, { card }] of cards) {
      if (names.has(name)) continue;
      card.remove();
      cards.delete(name);
    }
    for (const one of sessions) {
      if (!cards.has(one.id)) {
        cards.set(one.id, makeCard(one.id));
        list.append(cards.get(one.id).card);
      }
      update(cards.get(one.id), one);
      choose(cards.get(one.id).card, one.id);
    }
  }, 2000);
}
