import { expect, it } from "vitest";
import { CODE_ALPHABET, normalizeCode } from "./credentials.ts";

it("has the 30 characters that people don't mistake", () => {
  expect(CODE_ALPHABET).toHaveLength(30);
  for (const character of "0O1ILU") expect(CODE_ALPHABET).not.toContain(character);
});

it("reads a code without regard to case and hyphen, and nothing else", () => {
  expect(normalizeCode("abcd-efgh")).toBe("ABCD-EFGH");
  expect(normalizeCode("ABCDEFGH")).toBe("ABCD-EFGH");
  for (const wrong of ["ABCD EFGH", "ABCD-EFG", "ABCD-EFGHJ", "ABCD-EFG0", "AB-CD-EFGH", ""])
    expect(normalizeCode(wrong), wrong).toBeNull();
});
