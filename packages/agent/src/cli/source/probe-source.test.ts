import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { parseSourceConfig } from "../../config/source-config.ts";
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
