import { ERROR_STATUS } from "@attestore/contract";
import { expect, test } from "vitest";
import { codesIn, declaredCodes, readPage, rowsOf, sectionOf, sourcesOf } from "./error-codes.ts";

const page = readPage("troubleshooting.md");

/**
 * What one part of the agent tells another, and no person: it becomes a result, or one of the codes
 * that are shown.
 */
const INSIDE_THE_AGENT = [
  "answer_unproven",
  "archive_malformed",
  "not_listed",
  "pattern_malformed",
  "restore_refused",
  "restore_too_large",
  "row_malformed",
  "session_ended",
  "set_malformed",
  "shares",
  "ssh_key",
];

const PROGRAMS: Record<string, string[]> = {
  "Errors of attestore": declaredCodes("agent").filter((code) => !INSIDE_THE_AGENT.includes(code)),
  "Errors of the API": Object.keys(ERROR_STATUS).toSorted(),
  "Errors of attestore-server": declaredCodes("orchestrator"),
  "Errors of attestore-verify": [
    ...new Set([...declaredCodes("verifier"), ...declaredCodes("proof")]),
  ].toSorted(),
};

test.each(Object.entries(PROGRAMS))("%s has every code once, and no other", (heading, codes) => {
  expect(codes.length).toBeGreaterThan(20);
  expect(codesIn(sectionOf(page, heading)).toSorted()).toEqual(codes);
});

test("every row of troubleshooting.md says what the code means and what to do", () => {
  const rows = rowsOf(page.split("## Errors of attestore\n")[1] ?? "");
  expect(rows.length).toBeGreaterThan(100);
  for (const row of rows) {
    expect(row.length, row[0]).toBeGreaterThanOrEqual(3);
    expect(
      row.every((cell) => cell !== ""),
      row.join(" | "),
    ).toBe(true);
  }
});

test("the table of the API's errors has the status of each", () => {
  const told = rowsOf(sectionOf(page, "Errors of the API")).map(([code = "", status]) => [
    code.replaceAll("`", ""),
    Number(status),
  ]);
  expect(Object.fromEntries(told)).toEqual(ERROR_STATUS);
});

/** How each program's source declares its exit codes. */
const EXIT_CODES: [program: string, of: string, declaration: RegExp][] = [
  ["attestore", "agent", /export type ExitCode = ([\d |]+);/],
  ["attestore-server", "orchestrator", /Exit codes:([^]*?)\*\//],
  ["attestore-verify", "verifier", /function exitCode\([^)]*\): ([\d |]+) \{/],
];

test.each(EXIT_CODES)(
  "troubleshooting.md has the exit codes of %s, and no other",
  (program, of, declaration) => {
    const declared = sourcesOf(of).flatMap((text) => declaration.exec(text)?.[1]?.match(/\b\d+\b/g) ?? []);
    const parts = sectionOf(page, "Exit codes").split(/^### /m);
    const told = codesIn(parts.find((each) => each.startsWith(`${program}\n`)) ?? "");
    expect(declared.length).toBeGreaterThan(2);
    expect(told).toEqual(declared);
  },
);
