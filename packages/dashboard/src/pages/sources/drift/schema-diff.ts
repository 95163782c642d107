export type DiffMark = "added" | "removed" | "altered";

/** One line of a diff: a column, an index, or the object's definition. */
export interface DiffLine {
  mark: DiffMark;
  /** `column total`; empty for the object's definition. */
  name: string;
  before?: string;
  after?: string;
}

export interface ObjectDiff {
  /** `table orders` */
  title: string;
  mark: DiffMark;
  lines: DiffLine[];
}

export interface SchemaDiff {
  objects: ObjectDiff[];
  /** At least one of the two summaries was truncated. */
  isIncomplete: boolean;
}

interface SchemaObject {
  definition: string;
  parts: ReadonlyMap<string, string>;
}

interface Summary {
  objects: ReadonlyMap<string, SchemaObject>;
  isCut: boolean;
}

/**
 * Compares the schema summaries that an agent sent with two backups: `{objects: [{kind, name,
 * definition?, parts?}], omitted}`. Null if one is missing or malformed.
 */
export function diffSchemas(before: unknown, after: unknown): SchemaDiff | null {
  const [old, now] = [readSummary(before), readSummary(after)];
  if (old === null || now === null) return null;
  const titles = [...new Set([...old.objects.keys(), ...now.objects.keys()])].toSorted();
  const objects = titles.flatMap((title): ObjectDiff[] => {
    const [was, is] = [old.objects.get(title), now.objects.get(title)];
    // It may still exist: the other summary may have been truncated.
    if ((was === undefined && old.isCut) || (is === undefined && now.isCut)) return [];
    if (was === undefined) return [{ title, mark: "added", lines: linesOf(EMPTY, is ?? EMPTY) }];
    if (is === undefined) return [{ title, mark: "removed", lines: linesOf(was, EMPTY) }];
    const lines = linesOf(was, is);
    return lines.length === 0 ? [] : [{ title, mark: "altered", lines }];
  });
  return { objects, isIncomplete: old.isCut || now.isCut };
}

const EMPTY: SchemaObject = { definition: "", parts: new Map() };

function linesOf(was: SchemaObject, is: SchemaObject): DiffLine[] {
  const own: DiffLine[] = [];
  if (was.definition !== is.definition)
    own.push(lineOf("", was.definition || undefined, is.definition || undefined));
  const names = [...new Set([...was.parts.keys(), ...is.parts.keys()])].toSorted();
  return [
    ...own,
    ...names.flatMap((name) => {
      const [before, after] = [was.parts.get(name), is.parts.get(name)];
      return before === after ? [] : [lineOf(name, before, after)];
    }),
  ];
}

function lineOf(name: string, before: string | undefined, after: string | undefined): DiffLine {
  return {
    mark: before === undefined ? "added" : after === undefined ? "removed" : "altered",
    name,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  };
}

function readSummary(value: unknown): Summary | null {
  if (!isRecord(value) || !Array.isArray(value["objects"])) return null;
  const objects = new Map<string, SchemaObject>();
  for (const object of value["objects"] as unknown[]) {
    if (!isRecord(object)) return null;
    const { kind, name, definition, parts } = object;
    if (typeof kind !== "string" || typeof name !== "string") return null;
    const entries = isRecord(parts) ? Object.entries(parts) : [];
    objects.set(`${kind} ${name}`, {
      definition: textOf(definition),
      parts: new Map(entries.map(([part, text]) => [part, textOf(text)])),
    });
  }
  return { objects, isCut: value["omitted"] !== 0 };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
}
