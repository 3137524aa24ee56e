// The console: logs in, and shows the view that the address names: `#/`, `#/new`, `#/sessions/NAME`, `#/recordings`, `#/library`,
// `#/library/PATH`, `#/policy`, `#/policy/NAME`, `#/rules` or `#/rules/KIND-NUMBER`. `#/login/CODE` logs in with a code that works once.
import { ask, login } from "./api.js";
import { showCreate } from "./create.js";
import { make } from "./dom.js";
import { showFile, showLibrary } from "./library.js";
import { showList } from "./list.js";
import { showPolicy } from "./policy.js";
import { showRecordings } from "./recordings.js";
import { showRules } from "./rules.js";
import { showSession } from "./session.js";

const main = document.getElementById("main");
const leave = document.getElementById("leave");
let shown;
// Ends the timers and streams of the view that is shown.
let close = () => {};

function show(view, ...parameters) {
  close();
  main.replaceChildren();
  shown = view;
  close = view(main, ...parameters) ?? (() => {});
}

function route() {
  const [, first, part] = location.hash.split("/");
  const name = part && decoded(part);
  leave.hidden = false;
  if (first === "login" && name) logInWithCode(name);
  else if (first === "sessions" && name) show(showSession, name);
  else if (first === "policy") show(showPolicy, name);
  else if (first === "new") show(showCreate);
  else if (first === "recordings") show(showRecordings);
  else if (first === "library") show(name ? showFile : showLibrary, name);
  else if (first === "rules") show(showRules, name);
  else show(showList);
}

// A part of the address that isn't encoded is taken as it is.
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// The code leaves the address, so that going back or reloading doesn't send it again.
async function logInWithCode(code) {
  history.replaceState(null, "", "#/");
  try {
    await ask("POST", "/v1/login", undefined, { Authorization: "Bearer " + code });
    login.count += 1;
    route();
  } catch (error) {
    show(showLogin, error.status === 401 ? "The code was used already, or is too old. The service prints another one when it starts." : error.message);
  }
}

// The token is sent once and kept nowhere in the page: the service answers with a cookie that scripts can't read.
function showLogin(main, reason = "") {
  leave.hidden = true;
  const token = make("input", {
    id: "token", type: "password", autocomplete: "current-password", required: true, "aria-describedby": "token-help"
  });
  const said = make("p", { role: "alert", class: "problem" }, reason);
  const form = make("form", { class: "panel login" },
    make("h1", {}, "Log in"),
    // For password managers.
    make("input", { type: "text", autocomplete: "username", value: "admin", hidden: true }),
    make("label", { for: "token" }, "Admin token"), token,
    make("p", { id: "token-help", class: "faint" }, "The service printed it at its first start. It is in the data folder, in ",
      make("code", {}, ".upright/token"), "."),
    make("button", {}, "Log in"), said);
  form.onsubmit = async event => {
    event.preventDefault();
    said.textContent = "";
    try {
      await ask("POST", "/v1/login", undefined, { Authorization: "Bearer " + token.value.trim() });
      login.count += 1;
      route();
      main.focus();
    } catch (error) {
      said.textContent = error.status === 401 ? "This is not the service's token." : error.message;
      token.select();
    }
  };
  main.append(form);
  token.focus();
}

// What is typed stays: several requests may be refused.
login.isNeeded = () => {
  if (shown !== showLogin) show(showLogin);
};

leave.onclick = async () => {
  await ask("DELETE", "/v1/login").catch(() => {});
  show(showLogin);
};

addEventListener("hashchange", () => {
  route();
  main.focus();
});
route();
