/** One value in a JSON document replaced, taken out or added; `path` is a JSON Pointer. */
export interface Change {
  path: string;
  how: string;
  value: unknown;
}

/**
 * Every change that keeps the document's JSON types: what somebody would do who wants to say
 * something else.
 */
export function* everyValueChanged(document: unknown): Generator<Change> {
  for (const [path, leaf] of values(document))
    yield { path, how: "changed", value: edit(document, path, () => other(leaf)) };
}

/** Every member or item taken out, alone. */
export function* everyMemberRemoved(document: unknown): Generator<Change> {
  for (const path of containers(document)) {
    for (const name of Object.keys(at(document, path) as object)) {
      const inner = `${path}/${name}`;
      yield { path: inner, how: "removed", value: edit(document, inner, () => undefined) };
    }
  }
}

/** Every value given another JSON type. */
export function* everyTypeChanged(document: unknown): Generator<Change> {
  for (const [path, leaf] of values(document)) {
    for (const wrong of [null, true, -1, 0.5, "", [], {}]) {
      if (JSON.stringify(wrong) !== JSON.stringify(leaf))
        yield { path, how: `made ${JSON.stringify(wrong)}`, value: edit(document, path, () => wrong) };
    }
  }
}

/** One unknown member added to every object, alone. */
export function* everyObjectExtended(document: unknown): Generator<Change> {
  for (const path of containers(document)) {
    if (!Array.isArray(at(document, path)))
      yield {
        path,
        how: "extended",
        value: edit(document, path, (object) => ({ ...(object as object), extra: 1 })),
      };
  }
}

function other(value: unknown): unknown {
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (value === null) return "0".repeat(64);
  const text = value as string;
  const last = text.at(-1) ?? "";
  if (text === "passed") return "failed";
  // Stays in the alphabet of hex, base64 and ids.
  return text.slice(0, -1) + (last === "a" ? "b" : "a");
}

function* values(value: unknown, path = ""): Generator<[string, unknown]> {
  if (typeof value !== "object" || value === null) yield [path, value];
  else for (const [name, member] of Object.entries(value)) yield* values(member, `${path}/${name}`);
}

function* containers(value: unknown, path = ""): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  yield path;
  for (const [name, member] of Object.entries(value)) yield* containers(member, `${path}/${name}`);
}

const steps = (path: string): string[] => path.split("/").slice(1);

function at(document: unknown, path: string): unknown {
  return steps(path).reduce((value, step) => (value as Record<string, unknown>)[step], document);
}

/** A deep copy with one place replaced; undefined takes it out. */
function edit(document: unknown, path: string, change: (value: unknown) => unknown): unknown {
  if (path === "") return change(structuredClone(document));
  const copy: unknown = structuredClone(document);
  const names = steps(path);
  const last = names.pop() ?? "";
  const parent = at(copy, names.map((name) => `/${name}`).join(""));
  const changed = change(at(copy, path));
  if (changed !== undefined) (parent as Record<string, unknown>)[last] = changed;
  else if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete (parent as Record<string, unknown>)[last];
  return copy;
}
