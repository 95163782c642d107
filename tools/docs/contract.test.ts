import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as contract from "@attestore/contract";
import { expect, test } from "vitest";
import { readPage, rowsOf, sectionOf } from "./error-codes.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const page = readPage("contract.md");
const sections = Array.from(page.matchAll(/^## (\d+)\. /gm), ([, number]) => Number(number));

/** `(contract, section 10)`, `the contract's section 9`, `contract, sections 5 and 6` */
const CITED = /contract(?:'s)?,? sections? (\d+)(?:(?: and |, )(\d+))?/g;

function citations(): { file: string; section: number }[] {
  const files = globSync("{packages,tests,tools,packaging}/**/*.{ts,tsx,sql}", {
    cwd: ROOT,
    exclude: (path) => path.includes("node_modules"),
  });
  return files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), "utf8").matchAll(CITED)].flatMap(([, first, second]) =>
      [first, second].filter((each) => each !== undefined).map((each) => ({ file, section: Number(each) })),
    ),
  );
}

test("the sections of docs/contract.md are numbered without a gap", () => {
  expect(sections).toEqual(sections.map((_, index) => index + 1));
});

test("every section of the contract that the code cites is in docs/contract.md", () => {
  const cited = citations();
  expect(cited.length).toBeGreaterThan(20);
  expect(cited.filter(({ section }) => !sections.includes(section))).toEqual([]);
});

test("docs/contract.md has every error of the API with its status, and no other", () => {
  const told = sectionOf(page, "2. Errors")
    .split("\n")
    .flatMap((line) => {
      const [, status, codes = ""] = /^\| (\d{3}) \| ([^|]+) \|/.exec(line) ?? [];
      return Array.from(codes.matchAll(/`([a-z_]+)`/g), ([, code = ""]) => [code, Number(status)] as const);
    });
  expect(Object.fromEntries(told)).toEqual(contract.ERROR_STATUS);
  expect(told).toHaveLength(Object.keys(contract.ERROR_STATUS).length);
});

test("docs/contract.md has every code of an agent that troubleshooting.md has, and no other", () => {
  const told = [...sectionOf(page, "12. Reasons that an agent gives").matchAll(/`([a-z_]+)`/g)]
    .map(([, code = ""]) => code)
    .filter((code) => !["error"].includes(code));
  const known = rowsOf(sectionOf(readPage("troubleshooting.md"), "Errors of attestore")).flatMap(
    ([first = ""]) => Array.from(first.matchAll(/`([a-z_]+)`/g), ([, code = ""]) => code),
  );
  expect(new Set(told)).toEqual(new Set(known));
});

/** The records of section 10 and their schemas. */
const RECORDS = {
  org: contract.OrgRecord,
  user: contract.UserRecord,
  agent: contract.AgentRecord,
  source: contract.SourceRecord,
  backup: contract.BackupRecord,
  receipt: contract.ReceiptDetail,
  event: contract.EventRecord,
  command: contract.CommandRecord,
  "API log": contract.ApiLogRecord,
};

test.each(Object.entries(RECORDS))("docs/contract.md has the fields of a record: %s", (name, schema) => {
  const row = sectionOf(page, "10. Records")
    .split("\n")
    .find((line) => line.startsWith(`| ${name} |`));
  // What stands in brackets is of a field, not of the record.
  const told = [...(row ?? "").replaceAll(/\([^)]*\)/g, "").matchAll(/`([a-z_0-9]+)\??`/g)].map(
    ([, field = ""]) => field,
  );
  const common = ["id", "created_at", "org_id"];
  const fields = Object.keys(schema.properties).filter((field) => !common.includes(field));
  expect(told.toSorted()).toEqual(fields.toSorted());
});

test("docs/contract.md has every prefix of an id", () => {
  const told = [
    ...sectionOf(page, "1. Names, ids, time")
      .split("- **Times**")[0]!
      .matchAll(/`([a-z]+)`/g),
  ].map(([, prefix = ""]) => prefix);
  const prefixes = contract.ID_KINDS.map((kind) => contract.idPattern(kind).slice(1).split("_")[0]);
  expect(new Set(told)).toEqual(new Set(prefixes));
});
