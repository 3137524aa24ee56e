/// The page at `/`: a list of the sessions, with a player for those with an HLS output.
enum StartPage {
  /// The page's Content-Security-Policy, which allows nothing from other hosts.
  static let policy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
    + "media-src 'self' blob:"

  static let text = """
    <!doctype html>
    <html lang="en">
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Upright</title>
    <style>
    body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 48rem; padding: 0 1rem }
    table { border-collapse: collapse; width: 100% }
    td, th { text-align: left; padding: .25rem .5rem; border-bottom: 1px solid #ccc }
    video { max-width: 100%; max-height: 70vh; background: #000 }
    </style>
    <h1>Upright</h1>
    <form id="form"><label>Admin token <input id="token" type="password" size="44"></label>
    <button>Show sessions</button></form>
    <p id="said" role="status"></p>
    <table id="table" hidden><thead><tr><th>Session<th>State<th>Orientation<th>Size<th></tr></thead>
    <tbody></tbody></table>
    <video id="player" controls muted hidden></video>
    <p>The API is described in <a href="/openapi.yaml">openapi.yaml</a>; a session's stream is at
    <code>/live/{id}/index.m3u8</code>.
    <script>
    const find = id => document.getElementById(id);
    function cell(row, text) { row.insertCell().textContent = text ?? ""; }
    async function play(session) {
      const player = find("player");
      player.hidden = false;
      player.src = "/live/" + encodeURIComponent(session.id) + "/index.m3u8";
      if (session.playback === "signed") {
        const answer = await fetch("/v1/sessions/" + encodeURIComponent(session.id) + "/playback-url", {
          method: "POST", body: JSON.stringify({ seconds: 3600 }),
          headers: { Authorization: "Bearer " + find("token").value }
        });
        const body = await answer.json();
        if (!answer.ok) { find("said").textContent = body.detail; return; }
        player.src = new URL(body.url, location).pathname;
      }
      player.play().catch(error => { find("said").textContent = "This browser can't play HLS: " + error; });
    }
    async function show() {
      const headers = { Authorization: "Bearer " + find("token").value };
      const answer = await fetch("/v1/sessions", { headers });
      const body = await answer.json();
      if (!answer.ok) { find("said").textContent = body.detail; return; }
      find("said").textContent = body.sessions.length ? "" : "There are no sessions.";
      find("table").hidden = !body.sessions.length;
      const rows = find("table").tBodies[0];
      rows.replaceChildren();
      for (const session of body.sessions) {
        const row = rows.insertRow();
        cell(row, session.id);
        cell(row, session.state + (session.reason ? ": " + session.reason : ""));
        cell(row, session.appOrientation);
        cell(row, session.encodeResolution);
        const button = document.createElement("button");
        button.textContent = "Play";
        button.onclick = () => play(session);
        if (session.outputs.some(output => output.type === "hls")) row.insertCell().append(button);
      }
    }
    let timer;
    find("form").onsubmit = event => {
      event.preventDefault();
      clearInterval(timer);
      timer = setInterval(show, 2000);
      show();
    };
    </script>
    </html>

    """
}
