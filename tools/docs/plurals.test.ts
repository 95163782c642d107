import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const NOUNS =
  "agents|backups|changes|checks|codes|collections|commands|databases|days|deliveries|entries|errors|events|files|hours|keys|leaves|links|logs|members|minutes|months|objects|passkeys|receipts|recipients|restore tests|rows|seconds|sources|tables|tests|times|weeks|witnesses";
/**
 * A count in a text, and what it counts. Names in capitals are our own bounds, none of which is 1.
 */
const COUNTED = new RegExp(
  String.raw`\$\{(?![A-Z_\d\s/*.]+\}|plural\(|[^{}]*(?:join\(|"[✓✗!]"))[^{}]*\} (?:more )?(?:${NOUNS})\b`,
);

/** Packs made by this version have this page word for word. */
const EXCEPT = ["packages/proof/src/evidence/index-page.ts"];

test("a count stands before a noun only through plural(), or where it cannot be one", () => {
  const files = globSync("packages/*/src/**/*.{ts,tsx}", {
    cwd: ROOT,
    exclude: (path) => path.endsWith(".test.ts"),
  });
  expect(files.length).toBeGreaterThan(1000);
  const found = files
    .filter((file) => !EXCEPT.includes(file))
    .flatMap((file) =>
      readFileSync(join(ROOT, file), "utf8")
        .split("\n")
        // Whoever asks whether it is one has thought of it.
        .filter((line) => COUNTED.test(line) && !line.includes("=== 1"))
        .map((line) => `${file}: ${line.trim()}`),
    );
  expect(found).toEqual([]);
});
