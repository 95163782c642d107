import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const REPOSITORY = join(import.meta.dirname, "../..");

/** Debian's names of architectures; those of the artefacts too. */
export const ARCHITECTURES = ["amd64", "arm64"] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** Of a list as on a command line, `amd64,arm64`. */
export function architecturesOf(list: string): Architecture[] {
  return list.split(",").map((name) => {
    const known = ARCHITECTURES.find((each) => each === name);
    if (known === undefined) throw new Error(`--arch ${name} is unknown: use ${ARCHITECTURES.join(" or ")}`);
    return known;
  });
}

/** What is the same for everything that one build makes. */
export interface Release {
  readonly version: string;
  /**
   * Seconds since 1970: the only time that gets into an artefact (reproducible-builds.org,
   * SOURCE_DATE_EPOCH).
   */
  readonly epoch_s: number;
  /** Where finished artefacts go. */
  readonly out: string;
  /** Smaller packages, which take two minutes to compress; or quick ones. */
  readonly compression: "best" | "fast";
  /**
   * minisign's public key of the project, which installers and agents accept without being asked;
   * null before there is one.
   */
  readonly releaseKey: string | null;
}

export function versionHere(): string {
  const { version } = JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8")) as {
    version: string;
  };
  return version;
}

/** The commit that is built. */
export function commitHere(): string {
  return execFileSync("git", ["rev-parse", "HEAD"], { cwd: REPOSITORY, encoding: "utf8" }).trim();
}

/** The environment's, else the time of the last commit. */
export function epochHere(env: NodeJS.ProcessEnv): number {
  const given = env["SOURCE_DATE_EPOCH"];
  const text =
    given ?? execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: REPOSITORY, encoding: "utf8" });
  if (!/^[0-9]{1,11}\n?$/.test(text))
    throw new Error(`SOURCE_DATE_EPOCH is "${text}", but must be seconds since 1970`);
  return Number(text);
}
