/// The page at `/publish/{session}`: publishes the camera and the microphone by WHIP.
enum PublishPage {
  /// The Content-Security-Policy of the page and its parts, which allows nothing inline and nothing from other hosts.
  static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; media-src 'self' blob:; "
    + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

  static let html = """
    <!doctype html>
    <html lang="en">
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Publish with Upright</title>
    <link rel="stylesheet" href="/publish/page/style.css">
    <script type="module" src="/publish/page/script.js"></script>
    <main>
    <h1>Publish</h1>
    <video id="preview" muted playsinline aria-label="What the camera sees"></video>
    <p id="status" role="status">Starting.</p>
    <dl>
    <div><dt>Held</dt><dd id="held">unknown</dd></div>
    <div><dt>Frame</dt><dd id="frame">none</dd></div>
    <div><dt>Bitrate</dt><dd id="bitrate">0 kbit/s</dd></div>
    </dl>
    <fieldset>
    <legend>Settings</legend>
    <label for="camera">Camera</label>
    <select id="camera"><option value="environment">Back</option><option value="user">Front</option></select>
    <label for="limit">Bitrate limit</label>
    <select id="limit">
    <option value="500000">0.5 Mbit/s</option><option value="1500000">1.5 Mbit/s</option>
    <option value="3000000" selected>3 Mbit/s</option><option value="6000000">6 Mbit/s</option>
    </select>
    <label for="microphone">Microphone</label><input id="microphone" type="checkbox" checked>
    </fieldset>
    <button id="toggle" type="button">Start publishing</button>
    <noscript><p>This page needs JavaScript.</p></noscript>
    </main>
    </html>

    """

  static let css = """
    :root { color-scheme: light dark }
    * { box-sizing: border-box }
    body { margin: 0; font: 1rem/1.5 system-ui, sans-serif }
    main { max-width: 40rem; margin: 0 auto; padding: 1rem }
    h1 { font-size: 1.25rem; margin: 0 0 .5rem }
    video { display: block; width: 100%; max-height: 55vh; background: #000; border-radius: .5rem; object-fit: contain }
    #status { min-height: 3em; margin: .75rem 0 }
    #status.error { font-weight: 600 }
    #status.error::before { content: "\\26A0  " }
    dl { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: 0 0 1rem }
    dl div { display: flex; gap: .5rem }
    dt { opacity: .75 }
    dd { margin: 0; font-variant-numeric: tabular-nums }
    fieldset { display: grid; grid-template-columns: auto 1fr; gap: .5rem 1rem; align-items: center; margin: 0 0 1rem;
      border: 1px solid #8888; border-radius: .5rem }
    select { font: inherit; min-height: 2.5rem; width: 100% }
    input[type=checkbox] { width: 1.5rem; height: 1.5rem }
    button { font: inherit; font-weight: 600; width: 100%; min-height: 3rem; border: 0; border-radius: .5rem; color: #fff;
      background: #007a3d }
    button.live { background: #b22 }
    button:disabled { opacity: .5 }
    :focus-visible { outline: 3px solid #28f; outline-offset: 2px }

    """

  static let script = #"""
    const find = id => document.getElementById(id);
    const session = decodeURIComponent(location.pathname.split("/")[2]);
    const path = encodeURIComponent(session);
    const store = "upright-publish-token:" + session;
    const delays = [1, 2, 4, 8];

    let token, stream, peer, publication, wanted = false, attempts = 0, timer, lastBytes = 0;

    function say(text, isError = false) {
      find("status").textContent = text;
      find("status").classList.toggle("error", isError);
    }

    // The link's code is in the fragment. It is exchanged for a token once, so that a reload works and a copy of the link
    // doesn't.
    async function unlock() {
      const code = location.hash.slice(1);
      token = sessionStorage.getItem(store);
      if (!token && code) {
        const answer = await fetch("/publish/" + path, { method: "POST", headers: { Authorization: "Bearer " + code } });
        const body = await answer.json();
        if (!answer.ok) throw new Error(body.detail);
        token = body.token;
        sessionStorage.setItem(store, token);
      }
      history.replaceState(null, "", location.pathname);
      if (!token) throw new Error("This address has no code. Open the link that you were given.");
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
      if (answer.status === 401) sessionStorage.removeItem(store);
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

    let sendsGravity = false, gravity, lastGravity = 0;

    async function askForMotion() {
      if (typeof DeviceMotionEvent?.requestPermission === "function") {
        await DeviceMotionEvent.requestPermission().catch(() => {});
      }
    }

    // Android gives the force that holds the phone, iOS its weight.
    const isWeight = typeof globalThis.DeviceMotionEvent?.requestPermission === "function";
    addEventListener("devicemotion", ({ accelerationIncludingGravity: force }) => {
      if (force?.x == null) return;
      const scale = (isWeight ? 1 : -1) / 9.80665;
      gravity = [force.x * scale, force.y * scale, force.z * scale];
      showHeld();
      if (!sendsGravity || peer?.connectionState !== "connected" || performance.now() - lastGravity < 100) return;
      lastGravity = performance.now();
      fetch("/v1/sessions/" + path + "/events", {
        method: "POST", headers: authorization(), body: JSON.stringify({ gravity })
      }).catch(() => {});
    });

    function showHeld() {
      const angle = screen.orientation?.angle ?? 0;
      let words = { 0: "as usual", 90: "turned to the left", 180: "upside down", 270: "turned to the right" }[angle];
      if (gravity) {
        const [x, y, z] = gravity;
        words = Math.abs(z) > 0.9 ? "flat"
          : Math.abs(y) > Math.abs(x) ? (y < 0 ? "upright" : "upside down")
          : x < 0 ? "on its left side" : "on its right side";
      }
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
      await unlock();
      find("toggle").disabled = false;
      await openCamera();
      say("Ready. Nobody sees the camera until you start.");
    } catch (error) { say(error.message, true); }
    showHeld();

    """#
}
