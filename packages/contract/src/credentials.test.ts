import { expect, it } from "vitest";
import { CODE_ALPHABET, normalizeCode } from "./credentials.ts";

it("a one-time code uses 30 characters that people do not confuse", () => {
  expect(CODE_ALPHABET).toHaveLength(30);
  for (const character of "0O1ILU") expect(CODE_ALPHABET).not.toContain(character);
});

it("a one-time code is read regardless of case and hyphen, and other text is refused", () => {
  expect(normalizeCode("abcd-efgh")).toBe("ABCD-EFGH");
  expect(normalizeCode("ABCDEFGH")).toBe("ABCD-EFGH");
  for (const wrong of ["ABCD EFGH", "ABCD-EFG", "ABCD-EFGHJ", "ABCD-EFG0", "AB-CD-EFGH", ""])
    expect(normalizeCode(wrong), wrong).toBeNull();
});
