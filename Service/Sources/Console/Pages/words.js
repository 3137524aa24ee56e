// What happens to a session, in the words of the person who streams. UIKit's are in the reason that the service gives.
import { make } from "./dom.js";

// How a phone is held, by the names of `UIDeviceOrientation`.
const held = {
  portrait: "upright", portraitUpsideDown: "upside down", landscapeLeft: "turned left", landscapeRight: "turned right",
  faceUp: "flat on its back", faceDown: "flat on its face", unknown: "in an unknown position"
};
export const heldAs = device => held[device] ?? device;

// The shape of the picture, by the names of `UIInterfaceOrientation`.
const shapes = {
  portrait: "portrait", portraitUpsideDown: "portrait, upside down", landscapeLeft: "landscape", landscapeRight: "landscape"
};
export const shapeOf = orientation => shapes[orientation] ?? orientation;

const refusals = {
  rotationLocked: "rotation is locked", applicationInactive: "the app is in the background",
  autorotationDisabled: "the app doesn't turn by itself", notSupported: "the app doesn't allow that"
};

// What was decided, as a clause.
export function outcome({ decision, reason, from, to }) {
  switch (decision) {
    case "rotate": return shapeOf(from) === shapeOf(to) ? "the picture turns to the other " + shapeOf(to) : "the picture turns to " + shapeOf(to);
    case "refuse": return "the picture stays " + shapeOf(to) + ", because " + (refusals[reason] ?? "that is refused");
    case "invalid": return "the policy can't answer that";
    default: return "the picture stays " + shapeOf(to);
  }
}

// A name in any script, which doesn't reorder the words around it: between FSI and PDI (UAX #9).
const isolated = name => "\u2068" + name + "\u2069";

// What happened, as a sentence's beginning.
export function cause(event) {
  const [action] = Object.keys(event).filter(key => key !== "at");
  const value = event[action];
  switch (action) {
    case "device": return "Phone " + heldAs(value);
    case "gravity": return "Phone's sensor";
    case "rotate": return "App turned to " + shapeOf(value);
    case "lock": return value ? "Rotation locked" : "Rotation unlocked";
    case "active": return value ? "App in front" : "App in the background";
    case "focus": return "Focus moved";
    default: return typeof value === "string" ? action + " " + isolated(value) : action;
  }
}

export const sentence = decision => cause(decision.event) + ": " + outcome(decision);

export const stateWords = {
  waiting: "waiting for its stream", live: "live", inputLost: "stream lost", recovering: "recovering", ended: "ended", failed: "failed"
};

// Reasons of libraries for a normal end aren't news.
export const endOf = ({ state, reason }) => state === "ended" && (!reason || /stopped|alert|close notify|end of file|the input ended/i.test(reason))
  ? "" : reason;

// The service's reason, where the number of a rule is a link to its sentence.
export function reasoned(why) {
  return (why ?? "").replace(/`([^`]*)`/g, (_, name) => "`" + isolated(name) + "`").split(/(Rule \d of (?:automatic|manual) rotation)/).map(part => {
    const [, number, kind] = part.match(/^Rule (\d) of (automatic|manual)/) ?? [];
    return number ? make("a", { href: "#/rules/" + kind + "-" + number }, part) : part;
  });
}
