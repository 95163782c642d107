import fc from "fast-check";
import { expect, test } from "vitest";
import type { RowLayout } from "../connection/programs.ts";
import { DumpCounter } from "./dump-counter.ts";

const DUMP = `-- MariaDB dump
USE \`a\`\`b\`;
CREATE TABLE \`t\` (
  \`id\` int
);
LOCK TABLES \`t\` WRITE;
/*!40000 ALTER TABLE \`t\` DISABLE KEYS */;
INSERT INTO \`t\` VALUES
(1,'a\\n(2,'),
(2,'${"x".repeat(3000)}');
INSERT INTO \`t\` VALUES
(3,NULL);
UNLOCK TABLES;
LOCK TABLES \`empty\` WRITE;
UNLOCK TABLES;
USE \`c\`;
LOCK TABLES \`t\` WRITE;
INSERT INTO \`t\` (\`id\`, row_start) VALUES (1,'2026'),
(1,'2027');
UNLOCK TABLES;
DELIMITER ;;
CREATE PROCEDURE p()
LOCK TABLES \`t\` WRITE;
INSERT INTO \`t\` VALUES
(9);
UNLOCK TABLES;
;;
DELIMITER ;
(1,2),
`;

test.each([1, 2, 7, 64, 1000, 100_000])("rows are counted in pieces of %i bytes", (size) => {
  const counter = new DumpCounter("one_a_line");
  const whole = Buffer.from(DUMP);
  for (let at = 0; at < whole.length; at += size) counter.add(whole.subarray(at, at + size));
  expect(counter.rowsOf("a`b", "t")).toBe(3n);
  expect(counter.rowsOf("a`b", "empty")).toBe(0n);
  expect(counter.rowsOf("c", "t")).toBe(2n);
  expect(counter.rowsOf("c", "empty")).toBeNull();
});

const key = Buffer.alloc(32, 7);
const dumpOf = (...lines: readonly string[]): Buffer =>
  Buffer.from(["USE `a`;", "LOCK TABLES `t` WRITE;", ...lines, "UNLOCK TABLES;", ""].join("\n"));
const LONG = `(${"x".repeat(300_000)})`;

function sumOf(
  dump: Buffer,
  size = dump.length,
  own = key,
  layout: RowLayout = "one_a_line",
): string | null | undefined {
  const counter = new DumpCounter(layout, own);
  for (let at = 0; at < dump.length; at += size) counter.add(dump.subarray(at, at + size));
  return counter.tables()[0]?.sum;
}

test("a table's sum is of its rows alone, wherever pieces, statements and lines begin", () => {
  const plain = dumpOf("INSERT INTO `t` VALUES", "(1,'a'),", `${LONG},`, "(3);");
  const sum = sumOf(plain);
  expect(sum).toMatch(/^[0-9a-f]{64}$/);
  const columns = "INSERT INTO `t` (`a`, `b) VALUES (```, row_start) VALUES ";
  for (const other of [
    plain,
    dumpOf("INSERT INTO `t` VALUES", "(3),", "(1,'a');", "INSERT INTO `t` VALUES", `${LONG};`),
    dumpOf(`${columns}(1,'a'),`, "(3);", `${columns}${LONG};`),
  ])
    for (const size of [7, 64, 1000, 65_536, 1_000_000]) expect(sumOf(other, size), String(size)).toBe(sum);
});

test("a changed, missing or doubled row gives another sum, and so does another key", () => {
  const head = "INSERT INTO `t` VALUES";
  const sum = sumOf(dumpOf(head, "(1),", "(2);"));
  for (const rows of [["(1);"], ["(1),", "(3);"], ["(1),", "(2),", "(2);"], ["(2),", "(2);"]])
    expect(sumOf(dumpOf(head, ...rows))).not.toBe(sum);
  expect(sumOf(dumpOf(head, "(1),", "(2);"), 9, Buffer.alloc(32, 8))).not.toBe(sum);
});

test("a table has no sum if its section is cut short, doubled or not understood", () => {
  const whole = dumpOf("INSERT INTO `t` VALUES", "(1);");
  expect(sumOf(whole.subarray(0, -2))).toBeUndefined();
  expect(sumOf(Buffer.concat([whole, whole]))).toBeNull();
  expect(sumOf(dumpOf("INSERT INTO `t` (a) VALUES (1);"))).toBeNull();
  expect(sumOf(dumpOf(`INSERT INTO \`t\` (\`${"a".repeat(300_000)}\`) VALUES (1);`), 1000)).toBeNull();
});

test("rows that share a line give the sum of rows on lines of their own, whatever their texts hold", () => {
  const sign = fc.constantFrom("'", "\\", "(", ")", ",", ";", "),(", "\n", "a", "é", "\0");
  const value = fc.oneof(
    fc.constantFrom("NULL", "-1.5", "0x00ff", "''"),
    fc.array(sign, { maxLength: 12 }).map((signs) => `'${escaped(signs.join(""))}'`),
    fc.array(sign, { maxLength: 12 }).map((signs) => `_binary '${doubled(signs.join(""))}'`),
  );
  const rows = fc.array(
    fc.array(value, { minLength: 1, maxLength: 4 }).map((values) => `(${values.join(",")})`),
    { minLength: 1, maxLength: 8 },
  );
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 200 }), fc.nat(), (all, size, cut) => {
      const at = 1 + (cut % all.length);
      const alone = dumpOf(
        "INSERT INTO `t` VALUES",
        ...all.slice(0, -1).map((row) => `${row},`),
        `${all.at(-1)};`,
      );
      const lines = [all.slice(0, at), all.slice(at)].filter((line) => line.length > 0);
      const shared = dumpOf(...lines.map((line) => `INSERT INTO \`t\` VALUES ${line.join(",")};`));
      expect(sumOf(shared, size, key, "many_a_line")).toBe(sumOf(alone));
    }),
    { numRuns: 500 },
  );
});

const escaped = (text: string): string =>
  text.replaceAll(/['\\\n\0]/g, (one) => `\\${{ "\n": "n", "\0": "0" }[one] ?? one}`);
/** As a server writes it whose SQL mode knows no backslash. */
const doubled = (text: string): string => text.replaceAll("'", "''").replaceAll(/[\\\n\0]/g, "");

test("a line that ends within a text gives no sum", () => {
  const odd = dumpOf("INSERT INTO `t` VALUES (1,'a);", "INSERT INTO `t` VALUES (2);");
  expect(sumOf(odd, 5, key, "many_a_line")).toBeNull();
});
