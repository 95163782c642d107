import { text } from "node:stream/consumers";
import { startChild } from "../../processes/child.ts";
import { findProgram } from "../../processes/find-program.ts";
import { RunError } from "../../errors/run-error.ts";
import type { Product } from "./product.ts";

export interface ServerProgram {
  readonly path: string;
  readonly product: Product;
  /** As in a backup's metadata. */
  readonly version: string;
}

/**
 * Finds `mongodump` or `mongorestore`.
 * @throws RunError `tool_missing`
 */
export async function findTool(name: "mongodump" | "mongorestore"): Promise<string> {
  const path = await findProgram(name);
  if (path !== null) return path;
  throw new RunError("tool_missing", `${name} is not installed here: install mongodb-database-tools`);
}

/** The version that the tool prints; `unknown` for a private build that knows none. */
export async function versionOfTool(path: string): Promise<string> {
  return /version: r?([0-9][0-9A-Za-z.+-]*)/.exec(await outputOf(path))?.[1]?.slice(0, 40) ?? "unknown";
}

/**
 * Finds a server of that product to restore into, or of any product if none is named.
 * @throws RunError `tool_missing`
 */
export async function findServer(wanted: Product | null): Promise<ServerProgram> {
  const product = wanted ?? ((await findProgram("mongod")) === null ? "FerretDB" : "MongoDB");
  const name = product === "MongoDB" ? "mongod" : "ferretdb";
  const path = await findProgram(name);
  if (path === null) {
    const package_ = product === "MongoDB" ? "mongodb-org-server" : "ferretdb";
    throw new RunError(
      "tool_missing",
      `a ${product} server to restore into (${name}) is not installed here: install ${package_}; its service does not need to run`,
    );
  }
  const version = /version: ?v?([0-9]+\.[0-9]+\.[0-9]+)|db version v([0-9]+\.[0-9]+\.[0-9]+)/.exec(
    await outputOf(path),
  );
  const number = version?.[1] ?? version?.[2];
  if (number === undefined) throw new RunError("tool_missing", `${path} reports no known version`);
  return { path, product, version: product === "FerretDB" ? `${number}-FerretDB` : number };
}

async function outputOf(path: string): Promise<string> {
  const child = await startChild({ command: path, args: ["--version"], signal: AbortSignal.timeout(10_000) });
  child.stdin.end();
  const output = await text(child.stdout);
  await child.exited;
  return output;
}
