import { askForMotion, heldWords, makeSender, watchGravity } from "./gravity.js";
import { lock, path, session, unlock } from "./link.js";

const find = id => document.getElementById(id);
let token, wanted = false, hasReading = false;

function say(text, isError = false) {
  find("status").textContent = text;
  find("status").classList.toggle("error", isError);
}

function stop(text, isError) {
  wanted = false;
  find("toggle").textContent = "Start sending";
  find("toggle").classList.remove("live");
  say(text, isError);
}

const send = makeSender(path, () => ({ Authorization: "Bearer " + token }), (status, detail) => {
  if (status === 401) lock();
  // Without a network the next reading is sent again.
  if (status) stop(detail, true);
  else say(detail, true);
});

watchGravity(gravity => {
  hasReading = true;
  find("held").textContent = heldWords(gravity);
  find("gravity").textContent = gravity.map(value => value.toFixed(2)).join(", ");
  if (!wanted) return;
  say("Sending.");
  send(gravity);
});

find("toggle").onclick = async () => {
  if (wanted) return stop("Nothing is sent.");
  if (!await askForMotion()) return say("The browser may not read the motion sensor. Allow it for this page, then start again.", true);
  wanted = true;
  find("toggle").textContent = "Stop sending";
  find("toggle").classList.add("live");
  say("Waiting for the sensor.");
  setTimeout(() => {
    if (wanted && !hasReading) stop("This browser has no readings of a motion sensor. They need a phone, and a page over HTTPS.", true);
  }, 3000);
};

find("session").textContent = session;
try {
  token = await unlock();
  find("toggle").disabled = false;
  say("Ready. Nothing is sent until you start.");
} catch (error) {
  say(error.message, true);
}
