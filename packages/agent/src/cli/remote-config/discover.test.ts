import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { ConfigAnswer, MAX_BODY_BYTES } from "@attestore/contract";
import { Value } from "typebox/value";
import { afterEach, expect, test } from "vitest";
import type { Config } from "../../config/config.ts";
import { discover } from "./discover.ts";

const made = realpathSync(mkdtempSync(join(tmpdir(), "attestore-discover-")));
afterEach(() => rmSync(made, { recursive: true, force: true }));

test("the service takes an answer about sixteen directories with hundreds of long names below each", async () => {
  const [root, scratchDir] = [join(made, "root"), join(made, "scratch")];
  for (const each of [root, scratchDir]) mkdirSync(each);
  const remoteConfigPaths = Array.from({ length: 16 }, (_, at) => join(made, `data-${at}`));
  for (const path of remoteConfigPaths) {
    mkdirSync(path);
    for (let n = 0; n < 600; n++) mkdirSync(join(path, `${"\u00e9".repeat(120)}-${n}`));
  }
  const config = { remoteConfigPaths, sources: new Map() } as unknown as Config;
  const result = await discover(config, root, { scratchDir, signal: new AbortController().signal });
  expect(Value.Check(ConfigAnswer, { result })).toBe(true);
  expect(result.user).toBe(userInfo().username);
  expect(Buffer.byteLength(JSON.stringify({ result }))).toBeLessThan(MAX_BODY_BYTES);
  const files = result.servers.filter(({ engine }) => engine === "files");
  expect(files).toHaveLength(16);
  for (const { databases } of files) {
    expect(databases[0]).toEqual({ name: "." });
    expect(databases.length).toBeGreaterThan(100);
  }
});
