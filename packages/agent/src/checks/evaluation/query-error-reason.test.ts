import fc from "fast-check";
import { expect, test } from "vitest";
import { queryErrorReason } from "./query-error-reason.ts";

test.each([
  ["42P01", `relation "orders" does not exist`, `relation "orders" does not exist (SQLSTATE 42P01)`],
  [
    "42703",
    `ERROR:  column "n" does not exist\nLINE 1: select n`,
    `column "n" does not exist (SQLSTATE 42703)`,
  ],
  ["42601", `syntax error at or near "hunter2"`, "syntax error at or near … (SQLSTATE 42601)"],
  [
    "22P02",
    `invalid input syntax for type integer: "hunter2"`,
    "invalid input syntax for type integer: … (SQLSTATE 22P02)",
  ],
  [
    "22P02",
    `invalid input syntax for type integer: "a"hunter2"`,
    "invalid input syntax for type integer: … (SQLSTATE 22P02)",
  ],
  ["22012", "division by zero", "division by zero (SQLSTATE 22012)"],
  ["22003", `value "4000000000" is out of range`, "value … (SQLSTATE 22003)"],
  ["23505", `duplicate key\nDETAIL:  Key (email)=(a@example.com) exists`, "duplicate key (SQLSTATE 23505)"],
  ["P0001", "hunter2", "the database's own code raised an exception (SQLSTATE P0001)"],
  [
    "58P01",
    "could not open file /var/lib/postgresql/15/main/base/1: No such file",
    "could not open file …: No such file (SQLSTATE 58P01)",
  ],
  [undefined, "no such table: orders", "no such table: orders"],
  [undefined, "couldn't open postgres://app:hunter2@db/orders now", "couldn't open … now"],
  [undefined, "value 'hunter2' is wrong", "value …"],
  [undefined, "\u0000a\u001b[31mb\tc", "a [31mb c"],
  [undefined, "  \n ", "no message"],
  ["not a state", "no", "no"],
])("%s: %j", (sqlstate, message, reason) => {
  expect(queryErrorReason(message, sqlstate)).toBe(`the query failed: ${reason}`);
});

test("any message makes one bounded line of well-formed text", () => {
  const message = fc.string({ unit: "binary", maxLength: 3_000 });
  fc.assert(
    fc.property(message, fc.option(fc.string(), { nil: undefined }), (each, sqlstate) => {
      for (const text of [each, `${each}\ud800`, each.repeat(10)]) {
        const reason = queryErrorReason(text, sqlstate);
        expect(reason.isWellFormed()).toBe(true);
        expect(reason).not.toMatch(/\p{Cc}/u);
        expect(reason.length).toBeLessThan(400);
      }
    }),
  );
});
