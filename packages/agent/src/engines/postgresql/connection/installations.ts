import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { startChild } from "../../../processes/child.ts";
import { findProgram, isExecutable } from "../../../processes/find-program.ts";
import { RunError } from "../../../errors/run-error.ts";

export interface Installation {
  /** The directory with psql and the other programs. */
  readonly bin: string;
  /** Such as 15. */
  readonly major: number;
  /** Such as 15.20. */
  readonly version: string;
}

/**
 * Debian's packages and those of the PostgreSQL project; `*` is the major version. Debian's PATH
 * contains only wrappers.
 */
const PLACES = [
  { parent: "/usr/lib/postgresql", name: /^[0-9]+$/, bin: "bin" },
  { parent: "/usr", name: /^pgsql-[0-9]+$/, bin: "bin" },
  { parent: "/opt/homebrew/opt", name: /^postgresql@[0-9]+$/, bin: "bin" },
];

/** Finds every installation that has psql and the given programs, the oldest first. */
export async function findInstallations(programs: readonly string[]): Promise<Installation[]> {
  const candidates: string[] = [];
  for (const { parent, name, bin } of PLACES) {
    const entries = await readdir(parent).catch(() => []);
    candidates.push(...entries.filter((entry) => name.test(entry)).map((entry) => join(parent, entry, bin)));
  }
  const onPath = await findProgram("psql");
  if (onPath !== null) candidates.push(dirname(onPath));

  const found: Installation[] = [];
  for (const bin of new Set(candidates)) {
    const there = await Promise.all(["psql", ...programs].map((program) => isExecutable(join(bin, program))));
    if (there.includes(false)) continue;
    const version = await versionOf(join(bin, programs[0] ?? "psql"));
    if (version !== null) found.push({ bin, version, major: Number.parseInt(version, 10) });
  }
  return found.toSorted((a, b) => a.major - b.major);
}

/**
 * The installation of that major version, or else of the next newer one, because PostgreSQL's
 * programs handle only older servers and dumps.
 */
export function atLeast(installations: readonly Installation[], major: number): Installation | null {
  return installations.find((each) => each.major >= major) ?? null;
}

async function versionOf(program: string): Promise<string | null> {
  const child = await startChild({
    command: program,
    args: ["--version"],
    signal: AbortSignal.timeout(10_000),
  });
  child.stdin.end();
  const output = await text(child.stdout);
  await child.exited;
  return /\(PostgreSQL\) ([0-9]+(?:\.[0-9]+)?)/.exec(output)?.[1] ?? null;
}

export function missing(what: string, package_: string): RunError {
  return new RunError("tool_missing", `${what} is not installed here: install ${package_}`);
}
