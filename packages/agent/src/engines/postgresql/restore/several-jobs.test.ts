import { expect, test } from "vitest";
import { jobsFor, jobsForFiles } from "./several-jobs.ts";

const table = (name: string, rows: number | null) => ({ name, ...(rows === null ? {} : { rows }) });
const metadata = {
  dump_format: "pg_dump-custom",
  plaintext_size_bytes: 1 << 30,
  tables: [table("public.a", 500), table("public.b", 400), table("public.c", 300)],
};
const host = { cores: 8, engine_version: "15.18" };

test("several jobs where no table has most of the rows", () => {
  expect(jobsFor(metadata, host)).toBe(4);
  expect(jobsFor(metadata, { ...host, cores: 2 })).toBe(2);
});

test("several jobs for a dump of very many tables, whose rows would not keep their order with one", () => {
  const many = { ...metadata, table_count: 1_001, plaintext_size_bytes: 1 << 20 };
  expect(jobsFor(many, { ...host, cores: 1 })).toBe(2);
  expect(jobsFor({ ...many, tables: [table("a", null)] }, host)).toBe(4);
  expect(jobsFor({ ...many, table_count: 1_000 }, host)).toBe(1);
  expect(jobsFor(many, { ...host, engine_version: "13.9" })).toBe(1);
});

test("several jobs for a dump in directory format, also on one core", () => {
  expect(jobsForFiles(1)).toBe(2);
  expect(jobsForFiles(4)).toBe(4);
  expect(jobsForFiles(64)).toBe(8);
});

test.each([
  ["one core", {}, { cores: 1 }],
  ["a pg_restore that may not find the tables in a dump from a pipe", {}, { engine_version: "13.9" }],
  ["another format", { dump_format: "pg_dump-tar" }, {}],
  ["a small dump", { plaintext_size_bytes: 1 << 20 }, {}],
  ["a dump whose size nobody signed", { plaintext_size_bytes: undefined }, {}],
  ["no tables", { tables: [] }, {}],
  ["one table with most rows", { tables: [table("a", 501), table("b", 499)] }, {}],
  ["a table that was not counted", { tables: [table("a", 1), table("b", null), table("c", 1)] }, {}],
])("one stream for %s", (_, changed, otherHost) => {
  expect(jobsFor({ ...metadata, ...changed }, { ...host, ...otherHost })).toBe(1);
});
