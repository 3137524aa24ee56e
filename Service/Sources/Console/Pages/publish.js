import { askForMotion, heldWords, makeSender, watchGravity } from "./gravity.js";
import { lock, path, unlock } from "./link.js";

const find = id => document.getElementById(id);
const delays = [1, 2, 4, 8];

let token, stream, peer, publication, wanted = false, attempts = 0, timer, lastBytes = 0;

function say(text, isError = false) {
  find("status").textContent = text;
  find("status").classList.toggle("error", isError);
}

const cameraErrors = {
  NotAllowedError: "The browser may not use the camera and the microphone. Allow both for this page, then start again.",
  NotFoundError: "There is no camera, or no microphone. Connect one, or switch the microphone off.",
  NotReadableError: "Another program uses the camera or the microphone. Close it, then start again.",
  OverconstrainedError: "The camera can't deliver this. Choose the other camera."
};

async function openCamera() {
  if (!navigator.mediaDevices) throw new Error("The browser gives the camera only to pages over HTTPS.");
  stream?.getTracks().forEach(track => track.stop());
  try {
    stream = await navigator.mediaDevices.getUserMedia({
      video: { facingMode: find("camera").value, width: { ideal: 1280 }, height: { ideal: 720 } },
      audio: find("microphone").checked
    });
  } catch (error) {
    throw new Error(cameraErrors[error.name] ?? "The camera can't be opened: " + error.message);
  }
  find("preview").srcObject = stream;
  await find("preview").play().catch(() => {});
}

// RFC 9725. Candidates follow in a PATCH.
async function publish() {
  const current = peer = new RTCPeerConnection({ bundlePolicy: "max-bundle" });
  for (const track of stream.getTracks()) peer.addTransceiver(track, { direction: "sendonly", streams: [stream] });
  await limitBitrate();
  let candidates = [], place, tag;
  const send = async () => {
    if (!place || !candidates.length) return;
    const body = candidates.join("\r\n") + "\r\n";
    candidates = [];
    await fetch(place, {
      method: "PATCH", body, headers: { ...authorization(), "Content-Type": "application/trickle-ice-sdpfrag", "If-Match": tag }
    });
  };
  peer.onicecandidate = ({ candidate }) => {
    if (candidate?.candidate) candidates.push("a=mid:" + candidate.sdpMid, "a=" + candidate.candidate);
    if (!candidate) { candidates.push("a=end-of-candidates"); send(); }
  };
  peer.onconnectionstatechange = () => { if (current === peer) connectionChanged(); };
  await peer.setLocalDescription();
  const answer = await fetch("/whip/" + path, {
    method: "POST", body: peer.localDescription.sdp, headers: { ...authorization(), "Content-Type": "application/sdp" }
  });
  if (answer.status === 401) lock();
  if (!answer.ok) throw new Error((await answer.json()).detail);
  publication = place = answer.headers.get("Location");
  tag = answer.headers.get("ETag");
  const sdp = await answer.text();
  sendsGravity = !sdp.includes("urn:3gpp:video-orientation");
  await peer.setRemoteDescription({ type: "answer", sdp });
  await send();
}

const authorization = () => ({ Authorization: "Bearer " + token });

async function limitBitrate() {
  const sender = peer?.getSenders().find(sender => sender.track?.kind === "video");
  if (!sender) return;
  const parameters = sender.getParameters();
  for (const encoding of parameters.encodings) encoding.maxBitrate = Number(find("limit").value);
  await sender.setParameters(parameters);
}

function connectionChanged() {
  if (peer.connectionState === "connected") {
    attempts = 0;
    say("You are live.");
  } else if (["failed", "disconnected"].includes(peer.connectionState)) {
    again("The connection is lost.");
  }
}

// Tries again, until the user stops.
function again(reason) {
  if (!wanted || timer) return;
  const delay = delays[Math.min(attempts++, delays.length - 1)];
  say(reason + (navigator.onLine ? "" : " There is no network.") + " Trying again in " + delay + " s.", true);
  timer = setTimeout(async () => {
    timer = undefined;
    await leave();
    await start().catch(error => again(error.message));
  }, delay * 1000);
}

async function leave() {
  peer?.close();
  const place = publication;
  peer = publication = undefined;
  if (place) await fetch(place, { method: "DELETE", headers: authorization(), keepalive: true }).catch(() => {});
}

async function start() {
  say("Connecting.");
  await publish();
}

async function toggle() {
  wanted = !wanted;
  find("toggle").textContent = wanted ? "Stop publishing" : "Start publishing";
  find("toggle").classList.toggle("live", wanted);
  if (!wanted) {
    clearTimeout(timer);
    timer = undefined;
    leave();
    return say("You are not live.");
  }
  await askForMotion();
  try {
    if (!stream?.active) await openCamera();
  } catch (error) {
    await toggle();
    return say(error.message, true);
  }
  await start().catch(error => again(error.message));
}

// MARK: Which way up

let sendsGravity = false, gravity;

const send = makeSender(path, authorization);
watchGravity(reading => {
  gravity = reading;
  showHeld();
  if (sendsGravity && peer?.connectionState === "connected") send(gravity);
});

function showHeld() {
  const angle = screen.orientation?.angle ?? 0;
  let words = { 0: "as usual", 90: "turned to the left", 180: "upside down", 270: "turned to the right" }[angle];
  if (gravity) words = heldWords(gravity);
  find("held").textContent = words ?? "unknown";
  const { videoWidth: width, videoHeight: height } = find("preview");
  find("frame").textContent = width ? width + " × " + height + (width > height ? ", landscape" : ", portrait") : "none";
}

async function showStatistics() {
  showHeld();
  if (!peer) return find("bitrate").textContent = "0 kbit/s";
  let bytes = 0;
  (await peer.getStats()).forEach(entry => { if (entry.type === "outbound-rtp") bytes += entry.bytesSent; });
  find("bitrate").textContent = Math.max(0, Math.round((bytes - lastBytes) * 8 / 1000)) + " kbit/s";
  lastBytes = bytes;
}

// MARK: Events of the page

find("toggle").onclick = toggle;
find("limit").onchange = () => limitBitrate();
for (const id of ["camera", "microphone"]) {
  find(id).onchange = async () => {
    try {
      await openCamera();
      if (!wanted) return;
      await leave();
      await start();
    } catch (error) { say(error.message, true); }
  };
}
find("preview").onresize = showHeld;
addEventListener("offline", () => again("There is no network."));
addEventListener("pagehide", leave);
setInterval(showStatistics, 1000);

find("toggle").disabled = true;
try {
  token = await unlock();
  find("toggle").disabled = false;
  await openCamera();
  say("Ready. Nobody sees the camera until you start.");
} catch (error) { say(error.message, true); }
showHeld();
