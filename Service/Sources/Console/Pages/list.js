// The list of sessions. It is updated in place: a row stays the same element while its session exists.
import { ask, session } from "./api.js";
import { make, repeat, stateWords, words, write } from "./dom.js";

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
  write(part.detail, one.appOrientation ? words(one.appOrientation) + ", " + one.encodeResolution : "no frame yet");
  write(part.reason, one.reason);
  refreshPicture(part, one);
}

// What to do while there is no session.
function makeFirst() {
  const said = make("p", { role: "status" });
  const start = (text, body) => {
    const button = make("button", { type: "button" }, text);
    button.onclick = async () => {
      button.disabled = true;
      try {
        location.hash = "#/sessions/" + encodeURIComponent((await body()).id);
      } catch (error) {
        said.textContent = error.message;
      }
      button.disabled = false;
    };
    return button;
  };
  return make("section", { class: "panel first" },
    make("h2", {}, "See it turn"),
    make("p", {}, "The sample is a recording of a phone that turns, played as a live source. It turns by itself until you turn it."),
    make("div", { class: "buttons" },
      start("Play the sample", () => ask("POST", "/v1/sample")),
      start("Publish from a phone", () => ask("POST", "/v1/sessions", {
        name: "phone", input: { whip: {} }, latency: "low", policy: "phone", options: { frames: "metadata" }
      }))),
    said,
    make("p", { class: "faint" }, "Or send a stream: ", make("code", {}, "POST /v1/sessions"), " makes a session. ",
      make("a", { href: "/openapi.yaml" }, "The API")));
}

export function showList(main) {
  document.title = "Sessions · Upright";
  const said = make("p", { role: "status" });
  const list = make("ul", { class: "cards" });
  const first = makeFirst();
  first.hidden = true;
  main.append(make("h1", {}, "Sessions"), said, list, first);
  const cards = new Map();

  return repeat(async () => {
    let sessions;
    try {
      ({ sessions } = await ask("GET", "/v1/sessions"));
    } catch (error) {
      write(said, error.message);
      return;
    }
    write(said, sessions.length ? sessions.length + (sessions.length === 1 ? " session" : " sessions") : "There is no session yet.");
    first.hidden = sessions.some(one => one.id === "sample" && one.state === "live");
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
    }
  }, 2000);
}
