import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadEnvironmentFile, parseEnvironmentFile } from "./environment-file.ts";

test("the environment file is read as systemd reads it", () => {
  const text = `# a comment
; another
PLAIN=postgresql://shop:p#ss$word@db/shop?x=1
 INDENTED = no name ends in a space
  SPACED=value  ${""}
SINGLE='a "b" \\ $c'
DOUBLE="a \\"b\\" \\\\ \\$c \\d"
ESCAPED=a\\ b
EMPTY=
nonsense
`;
  expect(Object.fromEntries(parseEnvironmentFile(text))).toEqual({
    PLAIN: "postgresql://shop:p#ss$word@db/shop?x=1",
    SPACED: "value",
    SINGLE: 'a "b" \\ $c',
    DOUBLE: 'a "b" \\ $c \\d',
    ESCAPED: "a b",
    EMPTY: "",
  });
});

test("the environment file overrides no variable that is set, and may be missing", () => {
  const directory = mkdtempSync(join(tmpdir(), "environment-file-"));
  try {
    writeFileSync(join(directory, "env"), "GIVEN=file\nEMPTY=file\nNEW=file\n");
    const env: Record<string, string | undefined> = { GIVEN: "shell", EMPTY: "" };
    loadEnvironmentFile(join(directory, "env"), env);
    expect(env).toEqual({ GIVEN: "shell", EMPTY: "", NEW: "file" });
    loadEnvironmentFile(join(directory, "absent"), env);
    expect(env).toEqual({ GIVEN: "shell", EMPTY: "", NEW: "file" });
  } finally {
    rmSync(directory, { recursive: true });
  }
});
