// The link that opened this page. Its code is in the fragment, which browsers don't send. It is exchanged for a token once,
// so that a reload works and a copy of the link doesn't.
export const session = decodeURIComponent(location.pathname.split("/")[2]);
export const path = encodeURIComponent(session);
const store = "upright-publish-token:" + session;

export async function unlock() {
  const code = location.hash.slice(1);
  let token = sessionStorage.getItem(store);
  if (!token && code) {
    const answer = await fetch("/publish/" + path, { method: "POST", headers: { Authorization: "Bearer " + code } });
    const body = await answer.json();
    if (!answer.ok) throw new Error(body.detail);
    token = body.token;
    sessionStorage.setItem(store, token);
  }
  history.replaceState(null, "", location.pathname);
  if (!token) throw new Error("This address has no code. Open the link that you were given.");
  return token;
}

// Forgets a token that the service doesn't accept any more.
export function lock() { sessionStorage.removeItem(store); }
