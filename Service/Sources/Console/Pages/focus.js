// Returns the box in which an element shows a video of this size (`object-fit: contain`).
export function canvasBox(box, [width, height]) {
  const scale = Math.min(box.width / width, box.height / height);
  const [across, down] = [width * scale, height * scale];
  return { left: box.left + (box.width - across) / 2, top: box.top + (box.height - down) / 2, width: across, height: down };
}

// Returns the point of the upright frame, each axis 0 to 1, that a video element shows at a point of the page.
//
// The frame is placed twice: the element fits the canvas into its box, and the canvas shows a part of the frame at a place of
// its own (a session's `layouts`). A point on a margin is that of the nearest edge. `layouts` are those of all canvases: that of
// the video has its shape. Returns null while the video has no size.
export function focusAt([x, y], box, size, layouts = []) {
  const [width, height] = size;
  if (!(width > 0 && height > 0 && box.width > 0 && box.height > 0)) return null;
  const canvas = canvasBox(box, size);
  const { part, place } = nearest(layouts, width / height) ?? whole;
  const point = [(x - canvas.left) / canvas.width, (y - canvas.top) / canvas.height];
  return point.map((value, axis) => {
    const within = clamp((value - place[axis]) / place[axis + 2]);
    return Math.round(clamp(part[axis] + within * part[axis + 2]) * 1000) / 1000;
  });
}

const whole = { part: [0, 0, 1, 1], place: [0, 0, 1, 1] };

export const clamp = value => Math.min(1, Math.max(0, value));

// The layout of the canvas whose shape is the most like this one.
function nearest(layouts, shape) {
  const difference = ({ canvas }) => {
    const [width, height] = canvas.split("x").map(Number);
    return Math.abs(Math.log(width / height / shape));
  };
  return layouts.toSorted((one, other) => difference(one) - difference(other))[0];
}
