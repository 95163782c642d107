import type { QueryOutcome } from "../../../checks/index.ts";
import type { Ruined } from "../../engine.ts";

/** How a tree is looked at as if it were ruined. */
export type TreeRuin =
  /** A directory without anything in it, a file without a byte. */
  | "empty"
  /** Every file is there and has no byte. */
  | "no_bytes"
  /** Every file was written a year earlier. */
  | "older"
  /** Every byte of a file is zero; its size stays. */
  | "zeroed";

interface Way {
  readonly ruin: TreeRuin;
  readonly how: (path: string) => string;
  /** What changes in the row. Absent if everything may. */
  readonly columns?: readonly string[];
  readonly of: "file" | "directory" | "both";
}

const WAYS: readonly Way[] = [
  { ruin: "empty", how: (path) => `an empty ${path}`, of: "both" },
  {
    ruin: "no_bytes",
    how: (path) => `every file of ${path} empty`,
    columns: ["bytes"],
    of: "directory",
  },
  { ruin: "older", how: (path) => `${path} a year older`, columns: ["newest"], of: "both" },
  { ruin: "zeroed", how: (path) => `${path} zeroed`, columns: ["sha256"], of: "file" },
];

/**
 * Asks for the row of a path as if the tree were ruined, each time in another way. The tree itself
 * does not change: only the result of the walk is changed, before the row is made of it.
 */
export async function ruinTree(
  path: string,
  /** `ruin` is null for the tree as it is. */
  ask: (ruin: TreeRuin | null) => Promise<QueryOutcome>,
): Promise<Ruined[]> {
  const notTried = (how: string, reason: string): Ruined => ({
    how,
    outcome: { kind: "not_tried", reason },
  });
  const [row] = rowsOf(await ask(null));
  if (row === undefined) return [notTried("ruined data", "the query does not run on the restored copy")];
  const { files, bytes, sha256 } = JSON.parse(row) as { files: number; bytes: number; sha256: unknown };
  const isFile = typeof sha256 === "string";
  if (isFile ? bytes === 0 : files === 0) return [notTried(`an empty ${path}`, "there is nothing in it")];
  const ruined: Ruined[] = [];
  for (const { ruin, how, columns, of } of WAYS) {
    if (of !== "both" && of !== (isFile ? "file" : "directory")) continue;
    const outcome = await ask(ruin);
    ruined.push(
      rowsOf(outcome)[0] === row
        ? notTried(how(path), "it is so already")
        : { how: how(path), outcome, ...(columns === undefined ? {} : { columns }) },
    );
  }
  return ruined;
}

function rowsOf(outcome: QueryOutcome): readonly string[] {
  return outcome.kind === "rows" ? outcome.rows : [];
}
