// Requests to the service. The browser adds the cookie of the login by itself; the header proves that the request comes
// from this page, because other sites can't send it.
const proof = { "X-Upright-Console": "1" };

export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

// `isNeeded` is called when the service no longer knows the login. `count` is the number of logins: the
// answers to requests before the last login don't count.
export const login = { isNeeded: () => {}, count: 0 };

// The parts of the answer that aren't its content are set in `seen`: its entity tag.
export async function ask(method, path, body, headers = {}, seen = {}) {
  const count = login.count;
  let answer;
  try {
    answer = await fetch(path, {
      method, headers: { ...proof, ...headers }, body: body === undefined ? undefined : JSON.stringify(body)
    });
  } catch {
    throw new Refused(0, "The service doesn't answer.");
  }
  seen.tag = answer.headers.get("ETag");
  if (answer.status === 204) return null;
  const isJSON = answer.headers.get("Content-Type")?.includes("json");
  const content = isJSON ? await answer.json() : await answer.text();
  if (answer.ok) return content;
  if (answer.status === 401 && !headers.Authorization && count === login.count) login.isNeeded();
  throw new Refused(answer.status, content.detail ?? "The service answered " + answer.status + ".");
}

export const session = name => "/v1/sessions/" + encodeURIComponent(name);
