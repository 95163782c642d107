import { expect, test } from "vitest";
import { NOT_READ } from "../../content/compare-declared.ts";
import { DeclaredSql } from "./declared-sql.ts";

/** pg_dump's text is read without its rows, in pieces that may be cut anywhere. */

const head = (name: string, type: string, data = ""): string =>
  `--\n-- ${data}Name: ${name}; Type: ${type}; Schema: public; Owner: ann\n--\n\n`;
const START = `--
-- PostgreSQL database dump
--

\\restrict abc

-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;

`;
const TABLE =
  "CREATE TABLE public.orders (\n    id integer\n);\n\n\nALTER TABLE public.orders OWNER TO ann;\n\n";
const DATA = `COPY public.orders (id) FROM stdin;\n1\n-- Name: fake; Type: TABLE; Schema: public; Owner: ann\n\\.\n\n\n`;
const END = "--\n-- PostgreSQL database dump complete\n--\n\n";
const read = (text: string, piece = text.length) => {
  const sql = new DeclaredSql();
  for (let at = 0; at < text.length; at += piece) sql.add(Buffer.from(text.slice(at, at + piece), "latin1"));
  return sql.end();
};
const dump = (owner: string): string =>
  START +
  head("orders", "TABLE").replace("ann", owner) +
  TABLE.replace("ann", owner) +
  `SET default_tablespace = '';\n\n` +
  head("orders", "TABLE DATA", "Data for ") +
  DATA +
  head("orders_id", "INDEX") +
  "CREATE INDEX orders_id ON public.orders USING btree (id);\n\n\n" +
  END;

test("the objects, their kinds and the versions are read, and no row", () => {
  const declared = read(dump("ann"));
  expect(declared).toMatchObject({ server: "15.18", program: "15.18" });
  expect(declared?.objects.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    "table public.orders",
    "index public.orders_id",
  ]);
  for (const piece of [1, 2, 3, 7, 100]) expect(read(dump("ann"), piece)).toEqual(declared);
  // The owner, and settings between two objects, are not part of a definition.
  expect(read(dump("bob").replace("SET default_tablespace = '';\n\n", ""))).toEqual(declared);
  expect(read(dump("ann").replace("integer", "bigint"))?.objects[0]).not.toEqual(declared?.objects[0]);
});

test("a dump says by its names whether all of them are quoted", () => {
  const quoted = dump("ann").replaceAll("public.orders", '"public"."orders"');
  expect(read(dump("ann"))?.quotesAll).toBe(false);
  expect(read(quoted)?.quotesAll).toBe(true);
  expect(read(START + END)?.quotesAll).toBe(false);
  // One name that needs its quotes is not enough.
  expect(read(dump("ann").replace("CREATE TABLE public.", 'CREATE TABLE "public".'))?.quotesAll).toBe(false);
});

test("tables without rows, and rows that look like the end of their table, are read right", () => {
  const empty = DATA.replace(/1\n.*\n/, "");
  expect(empty).toContain("stdin;\n\\.\n");
  expect(read(dump("ann").replace(DATA, empty), 3)?.objects).toHaveLength(2);
  expect(read(dump("ann").replace("\n1\n", "\n\\\\.\n"), 3)?.objects).toHaveLength(2);
});

test("a dump that begins before the previous one is complete is noticed", () => {
  const isCutShort = (text: string): boolean => {
    const sql = new DeclaredSql();
    sql.add(Buffer.from(text));
    return sql.isCutShort;
  };
  const whole = dump("ann");
  expect(isCutShort(whole + whole)).toBe(false);
  for (const end of ["CREATE TABLE", "CREATE INDEX", END])
    expect(isCutShort(whole.slice(0, whole.indexOf(end)) + whole)).toBe(true);
});

test("lines inside quotes that look like pg_dump's own do not count, however the text is cut", () => {
  const fake = START + head("fake", "TABLE") + "CREATE TABLE fake ();\n" + END;
  const bodies: readonly string[] = [
    `CREATE FUNCTION public.f() AS $_$\n${fake}it's $$ "\n$_$;`,
    `CREATE FUNCTION public.f() AS '\n${fake}it''s \\';`,
    `CREATE FUNCTION public.f() AS E'\n${fake}it\\'s '' \\\\';`,
    `/* /* */\n${fake}*/`,
    `CREATE TABLE a$b$c (\n    "x\n${fake}" integer -- it's\n);`,
  ];
  for (const body of bodies) {
    const text =
      START + head("f()", "FUNCTION") + `${body}\n\n\n` + dump("ann").slice(START.length, -END.length) + END;
    const whole = read(text);
    expect(
      whole?.objects.map(({ name }) => name),
      body,
    ).toEqual(["public.f()", "public.orders", "public.orders_id"]);
    for (const piece of [1, 5, 79, 80, 81, 200]) expect(read(text, piece), body).toEqual(whole);
    const sql = new DeclaredSql();
    sql.add(Buffer.from(text));
    expect(sql.isCutShort, body).toBe(false);
    sql.add(Buffer.from(START));
    expect(sql.isCutShort).toBe(false);
    sql.add(Buffer.from(START));
    expect(sql.isCutShort).toBe(true);
  }
  // Rows as INSERT statements, of a source where a backslash in a string is special.
  const rows = `INSERT INTO public.orders VALUES ('\\'${fake.replaceAll("'", "")}');\n`;
  const inserted = dump("ann")
    .replace("SET statement_timeout = 0;", "SET standard_conforming_strings = off;")
    .replace(DATA, rows);
  for (const piece of [1, 50, inserted.length])
    expect(read(inserted, piece)?.objects.map(({ name }) => name)).toEqual([
      "public.orders",
      "public.orders_id",
    ]);
});

test("a line that looks like the end of an object counts as a part of it if more follows", () => {
  const body = (line: string): string =>
    START + head("f()", "FUNCTION") + `CREATE FUNCTION public.f() AS '\n\n${line}\n  x;\n';\n\n\n` + END;
  const one = read(body("ALTER TABLE t OWNER TO ann;"));
  for (const other of ["ALTER TABLE t OWNER TO bob;", "SET default_tablespace = x;", "--", ""])
    expect(read(body(other))?.objects).not.toEqual(one?.objects);
});

test("an object with a line longer than 1 MiB is not read, and of too many objects none is", () => {
  const long = dump("ann").replace("integer", "x".repeat(1 << 21));
  const [table, index] = read(long, 1 << 16)?.objects ?? [];
  expect(table).toEqual({ kind: "table", name: "public.orders", definition: NOT_READ });
  expect(index?.definition).not.toBe(NOT_READ);
  const blank = dump("ann").replace("(\n", `(\n${"\n".repeat(1 << 17)}`);
  expect(read(blank, 1 << 16)?.objects[0]?.definition).toBe(NOT_READ);
  const many = Array.from({ length: 100_001 }, (_, at) => `${head(`t${at}`, "TABLE")}x\n`).join("");
  expect(read(many)).toBeNull();
});
