import type { FileKindProfile, FilesProfile, Suspicion } from "@attestore/proof";
import { MIN_ROWS } from "./column-profiler.ts";

/** A tree in an earlier test, which nobody found suspicious. */
export interface PastFiles {
  /** When its backup was made. */
  readonly madeAt: string;
  readonly files: FilesProfile;
}

/** The table that a tree's suspicions name, and that somebody accepts. */
export const TREE = ".";

/** With fewer earlier tests, only numbers that are far off are suspicious. */
const FEW_TESTS = 3;
/** Fewer files are not told. */
const MIN_FILES = 5;

/**
 * Suspicious changes in a tree. As with tables, each number is compared with the value of the whole
 * history that is closest to normal. Numbers that varied in its older half may vary again.
 */
export function findFileSuspicions(now: FilesProfile, past: readonly PastFiles[]): Suspicion[] {
  const before = past.toSorted((a, b) => (a.madeAt < b.madeAt ? -1 : 1)).map(({ files }) => files);
  if (before.length === 0) return [];
  const found: (Found | null)[] = [...notes(now, before), renamed(now, before), ...gone(now, before)];
  for (const kind of now.kinds) {
    const same = before.flatMap(({ kinds }) => kinds.find(({ name }) => name === kind.name) ?? []);
    const [first] = [
      ...(["random", "mismatched"] as const).map((measure) =>
        more(
          measure,
          kind,
          same.flatMap((each) => each[measure] ?? []),
          kind.name,
        ),
      ),
      entropy(kind, same),
    ].flatMap((each) => each ?? []);
    found.push(first ?? null);
  }
  return found.flatMap((each) => (each === null ? [] : [{ table: TREE, ...each }]));
}

/** Suspicious facts of a tree without a history. */
export function notesIn(now: FilesProfile): Suspicion[] {
  return notes(now, []).map((each) => ({ table: TREE, ...each }));
}

type Found = Omit<Suspicion, "table">;

function notes({ notes: now }: FilesProfile, past: readonly FilesProfile[]): Found[] {
  const most = Math.max(0, ...past.map(({ notes: had }) => had));
  return now > most ? [{ column: "names", measure: "notes", now, before: most }] : [];
}

function renamed(now: FilesProfile, past: readonly FilesProfile[]): Found | null {
  return more(
    "renamed",
    now,
    past.map(({ renamed: had }) => had),
    "names",
  );
}

/**
 * Kinds of which less than half of the files are left, including those without a file left to
 * profile.
 */
function gone(now: FilesProfile, past: readonly FilesProfile[]): Found[] {
  const names = new Set(past.flatMap(({ kinds }) => kinds.map(({ name }) => name)));
  return [...names].flatMap((name): Found[] => {
    const had = past.flatMap(({ kinds }) => kinds.find((kind) => kind.name === name)?.files ?? []);
    const { most, spread } = rangeOf(had);
    const found = now.kinds.find((kind) => kind.name === name);
    const left = found?.files ?? 0;
    // A kind without a profile has fewer files than this, and nobody knows how many.
    if (most < 2 * MIN_ROWS || left >= most / 2 - 1.5 * spread) return [];
    return [
      { column: name, measure: "files", now: found === undefined ? `under ${MIN_ROWS}` : left, before: most },
    ];
  });
}

function more<Measure extends "random" | "mismatched" | "renamed">(
  measure: Measure,
  { files, [measure]: now }: { readonly files: number } & { readonly [Each in Measure]?: number | undefined },
  had: readonly number[],
  column: string,
): Found | null {
  if (now === undefined || had.length === 0) return null;
  const { least, spread } = rangeOf(had);
  const allowed = Math.max(had.length < FEW_TESTS ? 50 : 3, least / 2, 1.5 * spread) + noise(least, files);
  const isMany = ((now - least) * files) / 1000 >= MIN_FILES;
  return isMany && now - least >= allowed ? { column, measure, now, before: least } : null;
}

/** By how much a share of this many files varies. */
function noise(share: number, files: number): number {
  return 5 * Math.sqrt((share * (1000 - share)) / files);
}

function entropy(kind: FileKindProfile, past: readonly FileKindProfile[]): Found | null {
  const had = past.flatMap((each) => each.entropy ?? []);
  if (kind.entropy === undefined || had.length === 0) return null;
  const { least, most, spread } = rangeOf(had);
  const allowed = 100 + 1.5 * spread;
  const [now, column] = [kind.entropy, kind.name];
  if (now > least + allowed) return { column, measure: "entropy", now, before: least };
  return now < most - allowed ? { column, measure: "entropy", now, before: most } : null;
}

/** A number's usual value, and by how much it varied in the older half of the history. */
function rangeOf(values: readonly number[]): {
  readonly least: number;
  readonly most: number;
  readonly spread: number;
} {
  const older = values.slice(0, Math.ceil(values.length / 2));
  return {
    least: Math.min(...values),
    most: Math.max(...values),
    spread: Math.max(...older) - Math.min(...older),
  };
}
