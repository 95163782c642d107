import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { CopyDigests } from "./copy-digests.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const HOSTILE = `a"; COPY public.no (x) FROM stdin;\n\\.\nCOPY public.no (y) FROM stdin;\n`;
const quoted = `"${HOSTILE.replaceAll('"', '""')}"`;
const SCRIPT = `--
-- PostgreSQL database dump
--

\\restrict abc

SET statement_timeout = 0;
SET client_encoding = 'UTF8';
SELECT pg_catalog.set_config('search_path', '', false);

--
-- Data for Name: orders; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.orders (id, "select", name) FROM stdin;
1\t\\N\tbäcker
2\t\\\\.\tx
\\\\.
\\.


COPY public.empty (id) FROM stdin;
\\.


COPY public.nothing  FROM stdin;



\\.


SELECT pg_catalog.setval('public.${quoted.replaceAll("'", "''")}', 3, true);
SELECT pg_catalog.setval('s."it''s"', -5, false);


COPY ${quoted}.${quoted} (${quoted}, b) FROM stdin;
one\ttwo
\\.


BEGIN;

SELECT pg_catalog.lo_open('16400', 131072);
SELECT pg_catalog.lowrite(0, '\\x${"61".repeat(16_384)}');
SELECT pg_catalog.lowrite(0, '\\x6263');
SELECT pg_catalog.lo_close(0);

SELECT pg_catalog.lo_open('4294967295', 131072);
SELECT pg_catalog.lo_close(0);

COMMIT;

\\unrestrict abc

`;

const piecesOf = (...pieces: string[]): string =>
  createHash("sha256")
    .update(Buffer.concat(pieces.map((piece) => createHash("sha256").update(piece).digest())))
    .digest("hex");
const LARGE_OBJECTS = sha256(`16400 ${piecesOf("a".repeat(16_384), "bc")}\n4294967295 ${piecesOf()}\n`);

const TABLES = [
  {
    schema: "public",
    table: "orders",
    columns: ["id", "select", "name"],
    sha256: sha256("1\t\\N\tbäcker\n2\t\\\\.\tx\n\\\\.\n"),
  },
  { schema: "public", table: "empty", columns: ["id"], sha256: sha256("") },
  { schema: "public", table: "nothing", columns: [], sha256: sha256("\n\n\n") },
  { schema: HOSTILE, table: HOSTILE, columns: [HOSTILE, "b"], sha256: sha256("one\ttwo\n") },
];

function digestsOf(script: string | Buffer, pieceBytes: number) {
  const digests = new CopyDigests();
  const bytes = typeof script === "string" ? Buffer.from(script) : script;
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    // As in a stream: a piece is overwritten once the next one comes.
    const piece = Buffer.from(bytes.subarray(at, at + pieceBytes));
    digests.add(piece);
    piece.fill(0);
  }
  return digests.end();
}

test("each table's rows are hashed, wherever the pieces of the script begin and whatever its names hold", () => {
  for (const pieceBytes of [1, 2, 3, 5, 7, 64, 4096, 1 << 20])
    expect(digestsOf(SCRIPT, pieceBytes), `pieces of ${pieceBytes}`).toEqual({
      encoding: "UTF8",
      tables: TABLES,
      sequences: [
        { schema: "public", sequence: HOSTILE, value: "3", start: null },
        { schema: "s", sequence: "it's", value: null, start: "-5" },
      ],
      largeObjects: LARGE_OBJECTS,
    });
});

test("a sequence value that is not understood makes only the sequences unknown", () => {
  const script = SCRIPT.replace("-5, false", "least(1, 2), false");
  expect(digestsOf(script, 64)).toMatchObject({ tables: TABLES, sequences: null });
});

test("large objects in another order or shape make only the large objects unknown", () => {
  for (const [from, to] of [
    ["4294967295", "16400"],
    ["'\\x6263'", "'bc'"],
    ["SELECT pg_catalog.lowrite(0, '\\x6263');\n", ""],
    ["SELECT pg_catalog.lo_close(0);\n\nSELECT", "SELECT"],
    ["SELECT pg_catalog.lo_open('16400', 131072);\n", ""],
  ] as const) {
    const script = SCRIPT.replace(from, to);
    const isShorter = from.includes("lowrite")
      ? { largeObjects: expect.not.stringMatching(LARGE_OBJECTS) }
      : { largeObjects: null };
    expect(script, from).not.toBe(SCRIPT);
    expect(digestsOf(script, 64), from).toMatchObject({ tables: TABLES, ...isShorter });
  }
});

test("a script that is cut short, or is not pg_restore's, gives no digests", () => {
  expect(digestsOf(SCRIPT.slice(0, SCRIPT.indexOf("2\t\\\\.")), 64)).toBeNull();
  expect(digestsOf(SCRIPT.replace("COPY public.empty (id)", "COPY (select 1)"), 64)).toBeNull();
  expect(digestsOf(`${SCRIPT}select 1`, 64)).toBeNull();
  expect(digestsOf("", 64)).toBeNull();
});

test("names are read in the dump's encoding", () => {
  const script = (encoding: string, name: Buffer) =>
    Buffer.concat([
      Buffer.from(`SET client_encoding = '${encoding}';\nCOPY public."`),
      name,
      Buffer.from('" (id) FROM stdin;\n\\.\n\n'),
    ]);
  const tableIn = (encoding: string, name: Buffer) =>
    digestsOf(script(encoding, name), 7)?.tables.map(({ table }) => table);
  expect(tableIn("LATIN1", Buffer.from("tä", "latin1"))).toEqual(["tä"]);
  expect(tableIn("EUC_JP", Buffer.from([0xc9, 0xbd]))).toEqual(["表"]);
  expect(tableIn("WIN1251", Buffer.from([0xf2]))).toEqual(["т"]);
  expect(tableIn("UTF8", Buffer.from("表"))).toEqual(["表"]);
});
