// Finds the place of an error in a text, from the service's path: `controllers.list.supported[0]`, `line 3`, or
// `line 3, column 5`. Returns the range of characters to select.
export function positionOf(path, text) {
  const line = path.match(/^line (\d+)(?:, column (\d+))?/);
  if (line) {
    const lines = text.split("\n");
    const number = Math.min(Number(line[1]), lines.length);
    const start = lines.slice(0, number - 1).reduce((sum, one) => sum + one.length + 1, 0);
    if (!line[2]) return [start, start + lines[number - 1].length];
    const at = Math.min(start + Number(line[2]) - 1, text.length);
    return [at, Math.min(at + 1, text.length)];
  }
  const names = [...path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g)].map(([, quoted, index, plain]) =>
    index === undefined ? quoted ?? plain : Number(index));
  return find(text, names) ?? [0, 0];
}

// The range of the value at a path, or of the last of its keys that is there.
function find(text, names) {
  let at = 0;
  const space = () => { while (/\s/.test(text[at] ?? "")) at++; };
  const string = () => {
    const start = at++;
    while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
    at++;
    try { return JSON.parse(text.slice(start, at)); } catch { return ""; }
  };
  // Reads a value. `depth` names of the path lead to it, or undefined where it isn't on the path.
  function value(depth) {
    space();
    const start = at;
    let found;
    if (text[at] === "{" || text[at] === "[") {
      const isObject = text[at] === "{";
      at++;
      for (let index = 0; at < text.length; index++) {
        space();
        if (text[at] === "}" || text[at] === "]") break;
        const from = at;
        const name = isObject ? string() : index;
        const to = at;
        if (isObject) {
          space();
          at++;
        }
        const isNext = depth !== undefined && names[depth] === name;
        const inner = value(isNext ? depth + 1 : undefined);
        if (isNext) found ??= inner ?? (isObject ? [from, to] : null);
        space();
        if (text[at] === ",") at++;
        else if (text[at] !== "}" && text[at] !== "]") break;
      }
      at++;
    } else if (text[at] === '"') string();
    else while (at < text.length && !/[\s,\]}]/.test(text[at])) at++;
    return depth === names.length ? [start, at] : found;
  }
  return value(0);
}
