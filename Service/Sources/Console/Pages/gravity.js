// How the phone is held, by its motion sensor.

// Browsers may ask the user, and only in answer to a click.
export async function askForMotion() {
  if (typeof globalThis.DeviceMotionEvent?.requestPermission !== "function") return true;
  return await DeviceMotionEvent.requestPermission().catch(() => "denied") === "granted";
}

// WebKit, which all browsers of iOS are, gives the weight of the phone; others the force that holds it.
const isWeight = navigator.vendor.startsWith("Apple");

// Calls `body` with each reading, in units of standard gravity: x to the right of the screen, y to its top, z out of it.
export function watchGravity(body) {
  addEventListener("devicemotion", ({ accelerationIncludingGravity: force }) => {
    if (force?.x == null) return;
    const scale = (isWeight ? 1 : -1) / 9.80665;
    body([force.x * scale, force.y * scale, force.z * scale]);
  });
}

// How a phone with this gravity is held, in words.
export function heldWords([x, y, z]) {
  if (Math.abs(z) > 0.9) return "flat";
  if (Math.abs(y) > Math.abs(x)) return y < 0 ? "upright" : "upside down";
  return x < 0 ? "on its left side" : "on its right side";
}

// Posts readings to a session, ten a second. `fail` is called with the answer to one that is refused.
export function makeSender(path, headers, fail = () => {}) {
  let last = 0;
  return gravity => {
    if (performance.now() - last < 100) return;
    last = performance.now();
    fetch("/v1/sessions/" + path + "/events", { method: "POST", headers: headers(), body: JSON.stringify({ gravity }) })
      .then(async answer => { if (!answer.ok) fail(answer.status, (await answer.json()).detail); })
      .catch(() => fail(0, "There is no network."));
  };
}
