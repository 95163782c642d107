import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sha256Command } from "./sha256-command.ts";

const LARGE = 1 << 30;
const rows = Buffer.from("1\tone\n2\ttwo\n");
const expected = createHash("sha256").update(rows).digest("hex");

let bin: string;
beforeAll(() => {
  bin = mkdtempSync(join(tmpdir(), "attestore-sha256-"));
  symlinkSync("/usr/bin/sha256sum", join(bin, "sha256sum"));
});
afterAll(() => rmSync(bin, { recursive: true, force: true }));

function digest(bytes: number, openssl: string | null): string {
  rmSync(join(bin, "openssl"), { force: true });
  if (openssl !== null) {
    writeFileSync(join(bin, "openssl"), `#!/bin/sh\n${openssl}\n`);
    chmodSync(join(bin, "openssl"), 0o755);
  }
  return execFileSync("/bin/sh", ["-c", sha256Command(bytes)], {
    input: rows,
    env: { PATH: bin },
    encoding: "utf8",
    stdio: ["pipe", "pipe", "ignore"],
  });
}

test.each([
  ["a small table", 1, null],
  ["OpenSSL's program", LARGE, 'exec /usr/bin/openssl "$@"'],
  ["a host without it", LARGE, null],
  ["one that fails", LARGE, "echo 'unable to load config' >&2; exit 1"],
  ["one that prints something else", LARGE, "echo 'SHA2-256(stdin)= 00'"],
])("the same digest with %s", (_, bytes, openssl) => {
  expect(digest(bytes, openssl)).toMatch(new RegExp(`^${expected} [ *](?:-|stdin)\\n$`));
});

test("OpenSSL's program is used where it works", () => {
  // Right for nothing, and then to be told apart.
  const empty = createHash("sha256").digest("hex");
  const either = `if [ -z "$(/bin/cat)" ]; then echo '${empty} *stdin'; else echo 'its own *stdin'; fi`;
  expect(digest(LARGE, either)).toBe("its own *stdin\n");
  expect(digest(1, either)).toBe(`${expected}  -\n`);
});
