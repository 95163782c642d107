import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { parseSourceConfig } from "../../config/source-config.ts";
import type { Config } from "../../config/config.ts";
import { layoutOf } from "../../state/layout.ts";
import { examineSources } from "../doctor/sources.ts";
import { probeSource } from "./probe-source.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "attestore-probe-"));
});
afterEach(() => rmSync(base, { recursive: true }));

/** What this process has open below the test's directory. */
function openHere(): string[] {
  const paths = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return "";
    }
  });
  return paths.filter((path) => path.startsWith(base));
}

it.each(["sqlite", "files"])(
  "a source of %s that was tried leaves no file open and nothing in scratch",
  async (engine) => {
    const path = join(base, "data");
    if (engine === "files") {
      mkdirSync(path);
      // More than what is read of it.
      writeFileSync(join(path, "large"), Buffer.alloc(8 * 2 ** 20, "x"));
    } else {
      const database = new DatabaseSync(path);
      database.exec("create table t (x text); insert into t values (zeroblob(8000000))");
      database.close();
    }
    const scratchDir = join(base, "scratch");
    mkdirSync(scratchDir);
    const source = parseSourceConfig("tried", { engine, path }, base);
    await probeSource(source, { scratchDir, signal: new AbortController().signal });
    expect(openHere()).toEqual([]);
    expect(readdirSync(scratchDir)).toEqual([]);
  },
);

it("a directory of which the agent may not read everything is refused when it is tried", async () => {
  const path = join(base, "data");
  mkdirSync(path);
  writeFileSync(join(path, "a"), Buffer.alloc(8 * 2 ** 20, "x"));
  writeFileSync(join(path, "z"), "", { mode: 0 });
  chmodSync(base, 0o755);
  const signal = new AbortController().signal;
  const source = parseSourceConfig("tried", { engine: "files", path }, base);
  const config = { sources: new Map([["tried", source]]) } as unknown as Config;
  const isRoot = process.geteuid?.() === 0;
  const message = `cannot read 1 file or directory of ${path}, first ${path}/z: let it read`;
  if (isRoot) process.seteuid?.("nobody");
  try {
    await expect(probeSource(source, { scratchDir: base, signal })).rejects.toThrow(message);
    const findings = await examineSources(layoutOf(join(base, "root")), config, signal);
    expect(findings).toMatchObject([{ level: "failed", message: expect.stringContaining(message) }]);
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
});
