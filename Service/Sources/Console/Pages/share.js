// The dialog "Use this phone": a link for a phone's browser, as a QR code.
import { ask, session } from "./api.js";
import { draw, make } from "./dom.js";

// `isPublisher` tells whether the phone may send its camera, not only how it is held.
export function makeShareButton(name, isPublisher) {
  const button = make("button", { type: "button", class: "plain" }, "Use this phone");
  button.onclick = () => open(name, isPublisher);
  return button;
}

async function open(name, isPublisher) {
  const place = make("div", { class: "code" });
  const said = make("p", { role: "status" });
  const link = make("a", { target: "_blank", rel: "noreferrer" });
  const close = make("button", { type: "button", class: "plain" }, "Close");
  const dialog = make("dialog", { "aria-label": "Use this phone" },
    make("h2", {}, "Use this phone"),
    make("p", {}, isPublisher
      ? "Open this link on a phone: it sends its camera, and how it is held."
      : "Open this link on a phone: it sends only how it is held. Another program sends the video."),
    place, make("p", { class: "address" }, link), said, close);
  close.onclick = () => dialog.close();
  dialog.onclose = () => dialog.remove();
  addEventListener("hashchange", () => dialog.close(), { once: true });
  document.body.append(dialog);
  dialog.showModal();
  try {
    const seconds = 600;
    const { url, qr } = await ask("POST", session(name) + (isPublisher ? "/publish-url" : "/sensor-url"), { seconds });
    if (qr) place.append(picture(qr, "QR code of the link"));
    link.href = link.textContent = url;
    said.textContent = "It works once, for ten minutes, and gives the phone no other right."
      + (url.startsWith("https:") ? "" : " Browsers give camera and sensor only to pages over HTTPS.")
      + (/\/\/(localhost|127\.)/.test(url) ? " This address is this machine's own: a phone can't reach it." : "");
  } catch (error) {
    said.textContent = error.message;
  }
}

// Always dark on light, as cameras expect it, with the quiet zone of four modules.
export function picture({ size, path }, label) {
  return draw("svg", { viewBox: [-4, -4, size + 8, size + 8].join(" "), role: "img", "aria-label": label },
    draw("rect", { x: -4, y: -4, width: size + 8, height: size + 8, fill: "#fff" }), draw("path", { d: path, fill: "#000" }));
}
