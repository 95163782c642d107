import { expect, test } from "vitest";
import { withoutOwnDatabases } from "./own-databases.ts";

const database = (name: string, body: string): string =>
  `--\n-- Current Database: \`${name}\`\n--\n\nUSE \`${name}\`;\n${body}\n`;
const HEAD = "-- MariaDB dump\n/*!40103 SET TIME_ZONE='+00:00' */;\n";
const TAIL = "/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;\n-- Dump completed on 2026-01-02\n";

async function filtered(dump: string, pieceBytes: number, onUse?: (name: string) => void): Promise<string> {
  const bytes = Buffer.from(dump);
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += pieceBytes)
      yield await Promise.resolve(bytes.subarray(at, at + pieceBytes));
  }
  const kept: Buffer[] = [];
  for await (const piece of withoutOwnDatabases(pieces(), onUse)) kept.push(Buffer.from(piece));
  return Buffer.concat(kept).toString();
}

const long = "INSERT INTO t VALUES ('-- Current Database: `mysql`');\n".repeat(40);

test.each([1, 7, 511, 512, 513, 4096, 1 << 20])(
  "the server's own databases are left out, in pieces of %i bytes",
  async (pieceBytes) => {
    const secret = "INSERT INTO global_priv VALUES ('root');\n".repeat(100);
    for (const [before, after] of [
      [["mysql", "shop"], ["shop"]],
      [["shop", "mysql"], ["shop"]],
      [
        ["a", "mysql", "sys", "z``z"],
        ["a", "z``z"],
      ],
      [["shop"], ["shop"]],
    ]) {
      const dump =
        HEAD +
        before?.map((name) => database(name, name === "mysql" || name === "sys" ? secret : long)).join("") +
        TAIL;
      const text = await filtered(dump, pieceBytes);
      expect(text).not.toContain("global_priv");
      expect([...text.matchAll(/^USE `(.*)`;$/gm)].map(([, name]) => name)).toEqual(after);
      expect(text.startsWith(HEAD) && text.endsWith(TAIL)).toBe(true);
      expect(text.split(long)).toHaveLength((after?.length ?? 0) + 1);
    }
  },
);

test("a dump without any database, or shorter than the held bytes, passes unchanged", async () => {
  for (const dump of ["", "-- Dump completed\n", HEAD + long + TAIL])
    expect(await filtered(dump, 100)).toBe(dump);
});

test.each([1, 511, 512, 513, 1 << 20])(
  "the databases to which a dump changes are told, in pieces of %i bytes",
  async (pieceBytes) => {
    const made = (name: string, used: string): string =>
      `--\n-- Current Database: \`${name}\`\n--\n\nCREATE DATABASE /*!32312 IF NOT EXISTS*/ \`${name}\`;\n\nUSE \`${used}\`;\n`;
    const text = "-- Current Database: `x`\nINSERT INTO t VALUES ('');\nUSE `of a text`;\n";
    const dump = HEAD + made("shop", "shoq") + text + made("mysql", "mysql") + made("z``z", "z``z") + TAIL;
    const used: string[] = [];
    await filtered(dump, pieceBytes, (name) => used.push(name));
    expect(used).toEqual(["shoq", "z`z"]);
  },
);
