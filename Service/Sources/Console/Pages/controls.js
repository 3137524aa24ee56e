// What a player has below its picture: sound, volume, picture in picture, full screen.
import { make } from "./dom.js";

export function makeControls(video, name = "") {
  const label = text => name ? text + ", " + name : text;
  const sound = make("button", { type: "button", class: "plain", "aria-pressed": !video.muted, "aria-label": label("Sound") }, "Sound");
  const volume = make("input", { type: "range", min: 0, max: 1, step: 0.05, "aria-label": label("Volume") });
  volume.value = video.volume;
  const show = () => {
    sound.setAttribute("aria-pressed", !video.muted);
    volume.value = video.volume;
  };
  sound.onclick = () => {
    video.muted = !video.muted;
    if (!video.muted && video.volume === 0) video.volume = 0.5;
    show();
  };
  volume.oninput = () => {
    video.volume = Number(volume.value);
    video.muted = video.volume === 0;
    show();
  };
  video.addEventListener("volumechange", show);
  const buttons = [sound, volume];
  if (document.pictureInPictureEnabled) {
    const apart = make("button", { type: "button", class: "plain", "aria-label": label("Picture in picture") }, "Picture in picture");
    apart.onclick = () => (document.pictureInPictureElement === video ? document.exitPictureInPicture() : video.requestPictureInPicture()).catch(() => {});
    buttons.push(apart);
  }
  const full = make("button", { type: "button", class: "plain", "aria-label": label("Full screen") }, "Full screen");
  full.onclick = () => {
    if (video.requestFullscreen) video.requestFullscreen().catch(() => {});
    // Safari on the iPhone.
    else video.webkitEnterFullscreen?.();
  };
  return make("div", { class: "buttons controls" }, name ? make("span", { class: "faint" }, name) : null, ...buttons, full);
}
