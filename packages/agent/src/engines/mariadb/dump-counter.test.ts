import { expect, test } from "vitest";
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
  const counter = new DumpCounter();
  const whole = Buffer.from(DUMP);
  for (let at = 0; at < whole.length; at += size) counter.add(whole.subarray(at, at + size));
  expect(counter.rowsOf("a`b", "t")).toBe(3n);
  expect(counter.rowsOf("a`b", "empty")).toBe(0n);
  expect(counter.rowsOf("c", "t")).toBe(2n);
  expect(counter.rowsOf("c", "empty")).toBeNull();
});
