import type { Import } from "./read-imports.ts";

/**
 * Entries of one folder (files, or folders with all that is in them) that import each other round
 * in a circle.
 */
export interface Circle {
  /** The folder, relative to the repository's root. */
  readonly in: string;
  /** Names of its entries, sorted. A folder's ends with "/". */
  readonly entries: readonly string[];
}

/** Imports between two entries of a folder. */
export interface Edge {
  readonly in: string;
  readonly from: string;
  readonly to: string;
  readonly imports: readonly Import[];
}

/**
 * What the entries of each folder import of each other, for every folder at or below `packages`.
 */
export function edgesOfFolders(imports: readonly Import[]): Edge[] {
  const edges = new Map<string, { in: string; from: string; to: string; imports: Import[] }>();
  for (const each of imports) {
    const edge = edgeOf(each);
    if (edge === null) continue;
    const key = `${edge.in}\n${edge.from}\n${edge.to}`;
    const known = edges.get(key);
    if (known === undefined) edges.set(key, { ...edge, imports: [each] });
    else known.imports.push(each);
  }
  return [...edges.values()];
}

/** Where the paths of two files part. */
function edgeOf({ from, to }: Import): { in: string; from: string; to: string } | null {
  if (from === to) return null;
  const a = from.split("/");
  const b = to.split("/");
  let depth = 0;
  while (a[depth] === b[depth]) depth += 1;
  const entry = (parts: string[]): string => `${parts[depth]}${depth < parts.length - 1 ? "/" : ""}`;
  return { in: a.slice(0, depth).join("/"), from: entry(a), to: entry(b) };
}

/**
 * Every circle, sorted. Entries of which each can be reached from each are one circle, however many
 * ways there are through it.
 */
export function circlesOf(edges: readonly Edge[]): Circle[] {
  const circles: Circle[] = [];
  for (const [folder, inFolder] of Map.groupBy(edges, (edge) => edge.in)) {
    const next = new Map<string, string[]>();
    for (const { from, to } of inFolder) {
      next.set(from, [...(next.get(from) ?? []), to]);
      if (!next.has(to)) next.set(to, []);
    }
    for (const entries of stronglyConnected(next))
      if (entries.length > 1) circles.push({ in: folder, entries: entries.toSorted() });
  }
  return circles.toSorted((a, b) => (circleName(a) < circleName(b) ? -1 : 1));
}

export function circleName(circle: Circle): string {
  return `${circle.in}: ${circle.entries.join(" ")}`;
}

/** Tarjan's algorithm. */
function stronglyConnected(next: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (node: string): number => {
    const own = index.size;
    let lowest = own;
    index.set(node, own);
    stack.push(node);
    for (const to of next.get(node) ?? []) {
      const at = index.get(to);
      if (at === undefined) lowest = Math.min(lowest, visit(to));
      else if (stack.includes(to)) lowest = Math.min(lowest, at);
    }
    if (lowest === own) found.push(stack.splice(stack.indexOf(node)));
    return lowest;
  };
  for (const node of next.keys()) if (!index.has(node)) visit(node);
  return found;
}
