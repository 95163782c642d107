import { isMap, isNode, isScalar, isSeq, type LineCounter, type Document } from "yaml";

export type ConfigPath = readonly (string | number)[];

export interface ConfigPosition {
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
}

/** Where in the file the path is; if not all of it exists, its deepest existing part. */
export function positionOf(document: Document, lines: LineCounter, path: ConfigPath): ConfigPosition {
  let node: unknown = document.contents;
  let offset = 0;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (pair === undefined) break;
      offset = startOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node) && typeof step === "number") {
      node = node.items[step];
      offset = startOf(node) ?? offset;
    } else break;
  }
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
