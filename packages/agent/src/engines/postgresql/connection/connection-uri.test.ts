import fc from "fast-check";
import { expect, test } from "vitest";
import { RunError } from "../../../errors/run-error.ts";
import { connectionEnvironment } from "./connection-uri.ts";

const parse = (uri: string): Record<string, string> => connectionEnvironment(uri, "the test");

test.each([
  ["postgresql://", {}],
  ["postgres://db.example", { PGHOST: "db.example" }],
  ["postgresql://db.example:5433/orders", { PGHOST: "db.example", PGPORT: "5433", PGDATABASE: "orders" }],
  [
    "postgresql://app:s%40cr%3At@db/orders\n",
    { PGUSER: "app", PGPASSWORD: "s@cr:t", PGHOST: "db", PGDATABASE: "orders" },
  ],
  [
    "postgresql://app@/orders?host=/var/run/postgresql",
    { PGUSER: "app", PGDATABASE: "orders", PGHOST: "/var/run/postgresql" },
  ],
  ["postgresql://%2Frun%2Fpg/orders", { PGHOST: "/run/pg", PGDATABASE: "orders" }],
  ["postgresql://[2001:db8::1]:5432/x", { PGHOST: "2001:db8::1", PGPORT: "5432", PGDATABASE: "x" }],
  ["postgresql://a:1,b:2,c/x", { PGHOST: "a,b,c", PGPORT: "1,2,", PGDATABASE: "x" }],
  [
    "postgresql://db/x?sslmode=verify-full&sslrootcert=%2Fca.pem&application_name=me",
    { PGHOST: "db", PGDATABASE: "x", PGSSLMODE: "verify-full", PGSSLROOTCERT: "/ca.pem", PGAPPNAME: "me" },
  ],
  ["postgresql://db/x?ssl=true", { PGHOST: "db", PGDATABASE: "x", PGSSLMODE: "require" }],
])("%s", (uri, environment) => {
  expect(parse(uri)).toEqual(environment);
});

test.each([
  ["mysql://db/x", "not a postgresql:// URI"],
  ["host=db user=app password=hush-hush", "not a postgresql:// URI"],
  ["postgresql://db:port/hush-hush", "host or port"],
  ["postgresql://app:%zz@db/hush-hush", "%"],
  ["postgresql://db/x?hush_hush=1", "not known"],
  ["postgresql://db/x?toString=1", "not known"],
  ["postgresql://root:12?hush-hush=x@db/shop", "%3F"],
  ["postgresql://root:12/hush-hush@db/shop", "%2F"],
  ["postgresql://db/x?sslmode", "no value"],
  ["postgresql://app:hush-hush%00@db", "zero byte"],
])("%s is refused, and the error repeats nothing that may be secret", (uri, reason) => {
  const error = thrown(uri);
  expect(error).toMatchObject({ code: "connection_reference", message: expect.stringContaining(reason) });
  expect(String(error)).not.toContain("hush-hush");
});

test("arbitrary text gives an environment or our error", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map((text) => `postgresql://${text}`),
        fc.webUrl().map((url) => url.replace(/^https?/, "postgres")),
      ),
      (uri) => {
        const result = thrown(uri);
        if (result !== null) expect(result).toBeInstanceOf(RunError);
      },
    ),
    { numRuns: 2_000 },
  );
});

function thrown(uri: string): unknown {
  try {
    parse(uri);
    return null;
  } catch (error) {
    return error;
  }
}
