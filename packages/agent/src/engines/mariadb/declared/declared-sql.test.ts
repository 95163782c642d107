import { expect, test } from "vitest";
import { NOT_READ } from "../../content/compare-declared.ts";
import { DeclaredSql } from "./declared-sql.ts";

/** What mysqldump's text makes is read without its rows, however it is cut into pieces. */

const DUMP = `-- MariaDB dump 10.19
/*!40000 DROP DATABASE IF EXISTS \`shop\`*/;
USE \`shop\`;
DROP TABLE IF EXISTS \`orders\`;
/*!40101 SET character_set_client = utf8 */;
CREATE TABLE \`orders\` (
  \`id\` int(11) NOT NULL AUTO_INCREMENT COMMENT 'a;',
  PRIMARY KEY (\`id\`),
  KEY \`by_of\` (\`of\`),
  CONSTRAINT \`of\` FOREIGN KEY (\`of\`) REFERENCES \`x\` (\`id\`)
) ENGINE=InnoDB AUTO_INCREMENT=7 DEFAULT CHARSET=utf8mb4
 PARTITION BY RANGE (\`id\`)
(PARTITION \`p0\` VALUES LESS THAN (10) ENGINE = InnoDB,
 PARTITION \`p1\` VALUES LESS THAN MAXVALUE ENGINE = InnoDB);
LOCK TABLES \`orders\` WRITE;
INSERT INTO \`orders\` VALUES
(1,'x'),
CREATE TABLE \`fake\` (
UNLOCK TABLES;
/*!50001 CREATE VIEW \`v\` AS SELECT
 1 AS \`id\` */;
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=\`root\`@\`localhost\`*/ /*!50003 TRIGGER t before insert on orders for each row begin end */;;
CREATE DEFINER=\`root\`@\`localhost\` PROCEDURE \`p\`\`q\`()
begin /* as it was before:
CREATE DEFINER=\`root\`@\`localhost\` PROCEDURE \`in a body\`()
CREATE TABLE \`in a body\` (
*/
select 1; end ;;
/*!50003 CREATE*/ /*!50017 DEFINER=\`root\`@\`localhost\`*/ /*!50003 TRIGGER shop.\`u\` before insert on orders for each row begin
/*!50003 CREATE*/ /*!50017 DEFINER=\`root\`@\`localhost\`*/ /*!50003 TRIGGER t
 end */;;
CREATE DEFINER=\`some one\`@\`%\` AGGREGATE FUNCTION \`f\`(x int) RETURNS int
return 1 ;;
DELIMITER ;
/*!50001 VIEW \`v\` AS select 1 AS \`id\` */;
-- Dump completed
`;
const read = (text: string, piece = text.length) => {
  const sql = new DeclaredSql("restored");
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += piece) sql.add(bytes.subarray(at, at + piece));
  return sql.end();
};

test("a dump's tables are read with their parts, and the rest by name", () => {
  const made = read(DUMP);
  expect(made?.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    "table shop.orders",
    "index shop.orders.PRIMARY",
    "index shop.orders.by_of",
    "constraint shop.orders.of",
    "trigger shop.t",
    "procedure shop.`p``q`",
    "trigger shop.u",
    "function shop.f",
    "view shop.v",
  ]);
  for (const piece of [1, 3, 100]) expect(read(DUMP, piece)).toEqual(made);
  const changed = read(DUMP.replace("int(11)", "bigint"));
  expect(changed?.[0]).not.toEqual(made?.[0]);
  expect(changed?.slice(1)).toEqual(made?.slice(1));
  expect(read(DUMP.replace("AUTO_INCREMENT=7", "AUTO_INCREMENT=8"))).toEqual(made);
  expect(read(DUMP.replace("USE `shop`;", ""))?.[0]?.name).toBe("restored.orders");
});

test("a table with a longer line than is looked at is not read, and is no less there", () => {
  const long = read(DUMP.replace("COMMENT 'a;'", `COMMENT '${"x".repeat(70_000)}'`));
  expect(long?.slice(0, 2)).toMatchObject([
    { kind: "table", name: "shop.orders", definition: NOT_READ },
    { kind: "trigger" },
  ]);
});

test("a table that comes twice, or more objects than are remembered, and nothing is known", () => {
  expect(read(DUMP + DUMP)).toBeNull();
  const views = Array.from({ length: 100_001 }, (_, at) => `/*!50001 VIEW \`v${at}\` AS select 1 */;\n`);
  expect(read(views.join(""))).toBeNull();
});

test("the server's own databases, which no copy gets, declare nothing", () => {
  const own = "USE `mysql`;\n" + DUMP.slice(DUMP.indexOf("DROP TABLE"));
  expect(read(own)).toEqual([]);
  expect(read(DUMP + own)).toEqual(read(DUMP));
});

test("a dump that begins before the one before it is complete is noticed, also among rows", () => {
  const isCutShort = (text: string): boolean => {
    const sql = new DeclaredSql("restored");
    for (const line of text.split(/(?<=\n)/)) sql.add(Buffer.from(line));
    return sql.isCutShort;
  };
  const inCode = "begin\n-- MySQL dump 10.13\nend;;";
  for (const whole of [DUMP, DUMP + DUMP, DUMP.replace("select 1; end", inCode) + DUMP])
    expect(isCutShort(whole)).toBe(false);
  for (const end of ["DROP TABLE", "UNLOCK TABLES", "-- Dump completed"])
    expect(isCutShort(DUMP.slice(0, DUMP.indexOf(end)) + DUMP)).toBe(true);
});
