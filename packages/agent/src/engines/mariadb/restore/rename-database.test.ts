import { describe, expect, it } from "vitest";
import { underName } from "./own-name.ts";
import { renamed } from "./rename-database.ts";

describe("a dump under another name", () => {
  const text = (name: string): string =>
    `-- MariaDB dump\n\n--\n-- Current Database: \`${name}\`\n--\n\nCREATE DATABASE /*!32312 IF NOT EXISTS*/ \`${name}\` /*!40100 DEFAULT CHARACTER SET utf8mb4 */;\n\nUSE \`${name}\`;\n`;
  async function through(dump: string, from: string | null, size: number): Promise<string> {
    async function* pieces(): AsyncGenerator<Buffer> {
      const bytes = Buffer.from(dump);
      for (let at = 0; at < bytes.length; at += size)
        yield await Promise.resolve(bytes.subarray(at, at + size));
    }
    const made: Buffer[] = [];
    for await (const piece of renamed(underName(pieces(), "tar`get"), from, "tar`get"))
      made.push(Buffer.from(piece));
    return Buffer.concat(made).toString();
  }

  it.each([1, 7, 100, 100_000])("has the new name wherever the pieces end (%i bytes)", async (size) => {
    const dump = `${text("shöp")}INSERT INTO \`t\` VALUES ('shöp');\n${"x".repeat(20_000)}\n${text("shöp")}-- Dump completed\n`;
    expect((await through(dump, "shöp", size)).trim()).toBe(dump.replaceAll("`shöp`", "`tar``get`").trim());
  });

  it.each([1, 7, 100, 100_000])(
    "has the new name in each statement that would change the other, and in no body (%i bytes)",
    async (size) => {
      const alter = (name: string, end: string): string =>
        `ALTER DATABASE \`${name}\` CHARACTER SET latin1 COLLATE latin1_swedish_ci ${end}\n`;
      const trigger = (names: string, body: string): string =>
        `DELIMITER ;;\n/*!50003 CREATE*/ /*!50017 DEFINER=\`a\`@\`%\`*/ /*!50003 ${names} for each row ${body}\n*/;;\nDELIMITER ;\n`;
      const body = `begin\n${alter("shöp", ";")}update \`shöp\`.t set a = 1; end`;
      const dump = (name: string, of: string): string =>
        [
          text(name),
          alter(name, ";"),
          trigger(`trigger ${of}t1 before insert on ${of}t`, body),
          trigger(`TRIGGER if not exists ${of}\`t 2\`\nAFTER update\n ON ${of}\`t\``, body),
          `DELIMITER ;;\n${alter(name, ";;")}${alter(name, ";;")}DELIMITER ;\n`,
          alter(name, ";"),
          `${"x".repeat(20_000)}\n${alter("other", ";")}-- Dump completed\n`,
        ].join("");
      const made = await through(dump("shöp", size > 7 ? "shöp." : "`SHÖP` . "), "shöp", size);
      expect(made.trim()).toBe(dump("tar`get", "").replaceAll("`tar`get`", "`tar``get`").trim());
    },
  );

  it("is refused before a trigger passes that names its database in an unknown way", async () => {
    const trigger =
      "DELIMITER ;;\n/*!50003 CREATE*/ /*!50003 TRIGGER /* of */ shop.t before insert on t for each row";
    await expect(through(`${text("shop")}${trigger}`, "shop", 50)).rejects.toMatchObject({
      code: "target_unusable",
    });
  });

  it.each([
    "CREATE DATABASE IF NOT EXISTS `shop`;\nUSE `shop`;\nDROP TABLE IF EXISTS `orders`;\n",
    `USE \`shop\`;\nDROP TABLE IF EXISTS \`orders\`;\n${text("shop")}`,
    `${"-- by hand\n".repeat(9000)}USE \`shop\`;\n`,
  ])("is refused before any of it passes unless it begins as a dump program writes it (%#)", async (dump) => {
    const made: Buffer[] = [];
    async function* pieces(): AsyncGenerator<Buffer> {
      for (let at = 0; at < dump.length; at += 1000)
        yield await Promise.resolve(Buffer.from(dump.slice(at, at + 1000)));
    }
    const reading = (async () => {
      for await (const piece of renamed(pieces(), null, "copy")) made.push(Buffer.from(piece));
    })();
    await expect(reading).rejects.toMatchObject({ code: "target_unusable" });
    expect(Buffer.concat(made).toString()).toBe("");
  });

  it("is refused if it holds another database, before that passes", async () => {
    await expect(through(`${text("a")}${text("b")}`, null, 50)).rejects.toMatchObject({
      code: "target_unusable",
    });
    await expect(through(text("b"), "a", 50)).rejects.toMatchObject({ code: "target_unusable" });
  });
});
