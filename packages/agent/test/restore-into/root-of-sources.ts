import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { readIdentities } from "../../src/crypto/age-identity.ts";
import type { Target } from "../../src/engines/target.ts";
import { restoreIntoTarget } from "../../src/runs/restore-into-target.ts";
import { SecondReading } from "../../src/runs/second-reading.ts";
import type { TestPlace } from "../runs/scratch.ts";
import { type Finished, runCli } from "../service/cli.ts";

export const PASSWORD = "s3cret-of-the-server";

/** A standalone root in `root` of the place, which stores in `stored`. */
export interface RootOfSources {
  cli(...args: string[]): Promise<Finished>;
  restore(source: string, ...args: string[]): Promise<Finished>;
}

/** Makes one with these `sources:`, and backs the first of them up. */
export async function makeRootOf(
  place: TestPlace,
  sources: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
): Promise<RootOfSources> {
  const root = join(place.dir, "root");
  const cli = (...args: string[]): Promise<Finished> =>
    runCli(args, { cwd: place.dir, env: { ATTESTORE_HOME: root, ...env } });
  const done = async (...args: string[]): Promise<void> => {
    const { code, stderr } = await cli(...args);
    expect(code, stderr).toBe(0);
  };
  await done("init", "--standalone", "--storage", join(place.dir, "stored"), "--name", "lone");
  const lines = Object.entries(sources).map(([name, source]) => `  ${name}: ${source}\n`);
  const config = join(root, "config.yaml");
  writeFileSync(config, `${readFileSync(config, "utf8")}\nsources:\n${lines.join("")}`);
  await done("backup", "--source", Object.keys(sources)[0] ?? "");
  return { cli, restore: (source, ...args) => cli("restore", "--source", source, ...args) };
}

export async function refused(pending: Promise<Finished>, code: number, ...texts: string[]): Promise<void> {
  const done = await pending;
  expect(done.code, done.stdout + done.stderr).toBe(code);
  for (const text of texts) expect(done.stderr).toContain(text);
  expect(done.stdout + done.stderr).not.toContain(PASSWORD);
}

/** Restores a copy of a stored backup; of it a bit flips once, before it is loaded. */
export async function restoreChangingCopy(
  place: TestPlace,
  source: string,
  target: Target,
): Promise<{ readings: number }> {
  const directory = join(place.dir, "stored", source);
  const [name = ""] = readdirSync(directory).filter((each) => each.endsWith(".age"));
  const stored = readFileSync(join(directory, name));
  const path = join(place.dir, `${source}.age`);
  writeFileSync(path, stored);
  let readings = 1;
  const reading = new SecondReading(async () => {
    readings++;
    await writeFile(path, stored);
  });
  const identities = await readIdentities([join(place.dir, "root/keys/age.key")]);
  try {
    await reading.orAgain(() =>
      restoreIntoTarget({
        ciphertext: { path },
        identities,
        target,
        signal: new AbortController().signal,
        onProgress: ({ phase }) => {
          const other = Buffer.from(stored);
          other[other.length - 20]! ^= 1;
          if (phase === "decrypt" && readings === 1) writeFileSync(path, other);
        },
      }),
    );
  } finally {
    await target.close();
  }
  return { readings };
}
