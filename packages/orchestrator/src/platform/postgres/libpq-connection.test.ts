import { expect, test } from "vitest";
import { libpqConnection } from "./libpq-connection.ts";

test.each([
  ["postgresql://me:p%40ss@db.example.org:5432/attestore", "postgresql://me@db.example.org:5432/attestore"],
  ["postgres://me:p%40ss@one:1,two:2/x", "postgres://me@one:1,two:2/x?target_session_attrs=read-write"],
  [
    "postgres://me:p%40ss@one:1,two:2/x?target_session_attrs=read-write",
    "postgres://me@one:1,two:2/x?target_session_attrs=read-write",
  ],
  ["postgresql://me@db/x?password=p%40ss&sslmode=require", "postgresql://me@db/x?sslmode=require"],
  ["postgresql://me@db/x?sslmode=require&password=p%40ss", "postgresql://me@db/x?sslmode=require"],
])("the password of %s is in no argument", (connectionString, plain) => {
  expect(libpqConnection({ connectionString })).toEqual({
    args: [`--dbname=${plain}`],
    environment: { PGPASSWORD: "p@ss" },
  });
});

test("a database without a password has none in the environment", () => {
  expect(libpqConnection({ connectionString: "postgresql://db/x" })).toEqual({
    args: ["--dbname=postgresql://db/x"],
    environment: {},
  });
  const connection = { host: "/run", port: 5432, user: "attestore", database: "postgres" };
  expect(libpqConnection(connection).args).toEqual([
    "--host=/run",
    "--port=5432",
    "--username=attestore",
    "--dbname=postgres",
  ]);
});
