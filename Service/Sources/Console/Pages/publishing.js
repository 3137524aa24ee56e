// What to enter in the program that publishes to a session.
import { ask, session } from "./api.js";
import { makeField } from "./copy.js";
import { make } from "./dom.js";
import { picture } from "./share.js";

// Returns a panel's content, or null if the session has no publisher.
export async function makePublishing(name) {
  let address;
  try {
    address = await ask("GET", session(name) + "/publish-address");
  } catch (error) {
    if (error.status === 409) return null;
    throw error;
  }
  const said = make("p", { role: "status", class: "faint" });
  const fields = [];
  const field = (title, value, isSecret) => {
    const one = makeField(title, value, { isSecret, said });
    fields.push(one);
    return one.element;
  };
  const show = make("button", { type: "button", class: "plain", "aria-pressed": "false" }, "Show the keys");
  show.onclick = () => {
    const isShown = show.getAttribute("aria-pressed") !== "true";
    show.setAttribute("aria-pressed", isShown);
    for (const one of fields) one.show(isShown);
  };
  const parts = address.protocol === "whip" ? whip(address, field) : [...obs(address, field), ...phone(address, field), ...ffmpeg(address, field)];
  return make("div", {}, make("p", { class: "faint" }, "Whoever has the key can publish to this session."), show, ...parts, said);
}

const part = (title, ...content) => make("section", { class: "way" }, make("h3", {}, title), ...content);

function obs({ protocol, server, key, url }, field) {
  const where = make("p", { class: "faint" }, "Settings, Stream. Service: Custom.");
  if (protocol === "udp") return [];
  if (protocol === "srt") return [part("OBS", where, field("Server", url, true), make("p", { class: "faint" }, "Leave the stream key empty."))];
  return [part("OBS", where, field("Server", server), field("Stream key", key, true))];
}

function phone({ protocol, phone }, field) {
  if (protocol === "udp") return [];
  if (!phone) {
    return [part("Phone app", make("p", {}, "The address above is this computer's own, where no phone can reach it. Make a session that listens on the network."))];
  }
  const code = phone.qr ? make("div", { class: "code" }, picture(phone.qr, "QR code of the address")) : null;
  if (code) code.hidden = true;
  const show = make("button", { type: "button", class: "plain", "aria-expanded": "false" }, "QR code");
  show.onclick = () => {
    code.hidden = !code.hidden;
    show.setAttribute("aria-expanded", !code.hidden);
  };
  return [part("Phone app", make("p", { class: "faint" }, "Larix Broadcaster, Moblin and others take the address as it is."),
    field("Address", phone.url, true), code && show, code)];
}

function ffmpeg({ protocol, url }, field) {
  const isFLV = protocol.startsWith("rtmp");
  const extra = protocol === "srt" ? (url.includes("?") ? "&" : "?") + "pkt_size=1316" : "";
  const command = "ffmpeg -re -i clip.mp4 -c:v libx264 -preset veryfast -tune zerolatency -pix_fmt yuv420p -g 60 -c:a aac -f "
    + (isFLV ? "flv" : "mpegts") + " '" + url + extra + "'";
  return [part("ffmpeg", field("Command", command, true))];
}

function whip({ server, key }, field) {
  return [part("OBS 30 or later", make("p", { class: "faint" }, "Settings, Stream. Service: WHIP."), field("Server", server), field("Bearer token", key, true)),
    part("Phone's browser", make("p", { class: "faint" }, "\"Use this phone\" above has a link that needs no key."))];
}

// The addresses at which a session is watched.
export function makeWatching(path) {
  const said = make("p", { role: "status", class: "faint" });
  const place = new URL(path, location);
  const signature = path.match(/\/(~[^/]+)\//)?.[1];
  const page = new URL("/watch/" + path.split("/")[2] + (signature ? "#" + signature : ""), location);
  const frame = '<iframe src="' + page + '" width="640" height="640" allow="autoplay; fullscreen; picture-in-picture"></iframe>';
  const open = make("a", { href: page.href, target: "_blank", rel: "noreferrer" }, "Open the page");
  return make("div", {}, makeField("Playback URL (HLS)", place.href, { said }).element, makeField("Page", page.href, { said }).element,
    makeField("Embed in your page", frame, { said }).element, make("p", {}, open),
    signature ? make("p", { class: "faint" }, "These addresses are signed and work for twelve hours.") : null, said);
}

// Shows that a phone's browser can't publish, and what to do.
export function makeHelp() {
  const said = make("p", { role: "status", class: "faint" });
  return make("section", { class: "panel help" }, make("h2", {}, "A phone's browser needs Janus"),
    make("p", {}, "Publishing from a browser goes through the WebRTC server Janus, which this service was started without. Install it, and start the service again with this option:"),
    makeField("Install", "sudo apt install janus", { said }).element,
    makeField("Start", "upright serve --webrtc auto", { said }).element,
    make("p", {}, "A phone's app such as Larix needs none of this: make a session with RTMP or SRT."), said);
}

export const needsJanus = error => /--webrtc/.test(error.message);
