import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { UserError } from "../errors/user-error.ts";
import { readConfig, readSettings } from "./read-config.ts";

let directory: string;
let file: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "attestore-settings-"));
  file = join(directory, "server.env");
});
afterAll(() => rmSync(directory, { recursive: true }));

function refusal(text: string): string {
  writeFileSync(file, text);
  try {
    readConfig({ ATTESTORE_CONFIG: file });
  } catch (error) {
    if (error instanceof UserError && error.code === "invalid_setting") return error.message;
    throw error;
  }
  throw new Error("it should have been refused");
}

test("a file sets the settings that the environment does not, and the sources say which is which", () => {
  writeFileSync(
    file,
    '# the service\n\nATTESTORE_DATA="/srv/att store"\nATTESTORE_LOG_LEVEL=warn\nDATABASE_URL=postgresql://a:secret@db/x\n',
  );
  const { config, sources } = readSettings({ ATTESTORE_CONFIG: file, ATTESTORE_LOG_LEVEL: "error" });
  expect([config.data, config.logLevel]).toEqual(["/srv/att store", "error"]);
  expect(config.databaseUrl).toContain("secret");
  expect(sources.data).toEqual({ source: "file", text: "/srv/att store", line: 3 });
  expect(sources.logLevel).toEqual({ source: "environment", text: "error" });
  expect(sources.listen).toMatchObject({ source: "default" });
  expect(sources.s3Bucket).toEqual({ source: "unset", text: undefined });
  expect(JSON.stringify(sources)).not.toContain("secret");
});

test.each([
  [
    "ATTESTORE_LOGLEVEL=warn",
    "line 1: unknown setting ATTESTORE_LOGLEVEL. Did you mean ATTESTORE_LOG_LEVEL?",
  ],
  ["\nATTESTORE_LISTEN=abc", 'line 2: ATTESTORE_LISTEN is "abc"'],
  ["ATTESTORE_DATA", "line 1: must be NAME=value"],
  ["ATTESTORE_DATA='/srv", "line 1: the value begins with a quote"],
  ["ATTESTORE_DATA=/a\nATTESTORE_DATA=/b", "line 2: ATTESTORE_DATA is already set in line 1"],
])("%j is refused with its line", (text, expected) => {
  expect(refusal(text)).toContain(expected);
});

test("a file that is not there is a mistake, not the defaults", () => {
  expect(() => readConfig({ ATTESTORE_CONFIG: join(directory, "absent") })).toThrow(/cannot be read/);
});
