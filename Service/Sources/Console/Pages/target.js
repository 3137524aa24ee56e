// Lets the user choose a point of a video: by a click, or by the arrow keys and Enter. Escape ends the choice.
import { canvasBox, clamp } from "./focus.js";
import { make } from "./dom.js";

const step = 0.05;
const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };

// `chosen` is called with a point of the window, or with null.
export function makeTarget(video, chosen) {
  const mark = make("span", { class: "target", hidden: true });
  let point, isOpen = false;

  // Returns where the mark is in the window, and puts it there.
  function place() {
    const box = canvasBox(video.getBoundingClientRect(), [video.videoWidth, video.videoHeight]);
    const at = [box.left + point[0] * box.width, box.top + point[1] * box.height];
    const around = video.parentElement.getBoundingClientRect();
    mark.style.left = at[0] - around.left + "px";
    mark.style.top = at[1] - around.top + "px";
    mark.hidden = false;
    return at;
  }

  video.onclick = ({ clientX, clientY }) => { if (isOpen) chosen([clientX, clientY]); };
  video.onkeydown = event => {
    if (!isOpen) return;
    const move = moves[event.key];
    if (move) {
      point = point.map((value, axis) => clamp(value + move[axis]));
      place();
    } else if (event.key === "Enter") chosen(place());
    else if (event.key === "Escape") chosen(null);
    else return;
    event.preventDefault();
  };

  return {
    element: mark,
    open() {
      isOpen = true;
      point = [0.5, 0.5];
      video.tabIndex = 0;
    },
    close() {
      isOpen = false;
      mark.hidden = true;
      video.removeAttribute("tabindex");
    }
  };
}
