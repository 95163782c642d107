import { expect, test } from "vitest";
import { withoutServerStatements } from "./without-server-statements.ts";

const PURGED = `SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ 'b19b021a-eb56-11f1-a6a9-02fc00000001:1-3:7-9,
${"b19b021a-eb56-11f1-a6a9-02fc00000002:nightly:1-3,\n".repeat(200)}b19b021a-eb56-11f1-a6a9-02fc00000003:1';`;
const LEFT_OUT = [
  "/*!50606 SET GLOBAL INNODB_STATS_AUTO_RECALC=OFF */;",
  "SET @@SESSION.SQL_LOG_BIN= 0;",
  PURGED,
  "SET @@SESSION.SQL_LOG_BIN = @MYSQLDUMP_TEMP_LOG_BIN;",
  "/*!50606 SET GLOBAL INNODB_STATS_AUTO_RECALC=@OLD_INNODB_STATS_AUTO_RECALC */;",
];
const DUMP = `-- MySQL dump 10.13
/*!50606 SET @OLD_INNODB_STATS_AUTO_RECALC=@@INNODB_STATS_AUTO_RECALC */;
${LEFT_OUT[0]}
SET @MYSQLDUMP_TEMP_LOG_BIN = @@SESSION.SQL_LOG_BIN;
${LEFT_OUT[1]}

${PURGED}

INSERT INTO \`t\` VALUES (1,'\\nSET @@SESSION.SQL_LOG_BIN= 0;\\n${"x".repeat(9000)}');
DELIMITER ;;
CREATE PROCEDURE \`quiet\`()
BEGIN
SET @@SESSION.SQL_LOG_BIN= 0;
END ;;
DELIMITER ;
SET @@GLOBAL.GTID_PURGED='x'; DROP TABLE t;
SET @@SESSION.SQL_LOG_BIN= 1;
${LEFT_OUT[3]}
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;
${LEFT_OUT[4]}
-- Dump completed`;

test.each([1, 7, 64, 1000, 9000, 1_000_000])(
  "what changes the server is left out, in pieces of %i bytes, and rows and routines stay",
  async (size) => {
    async function* pieces(): AsyncGenerator<Buffer> {
      const whole = Buffer.from(DUMP);
      for (let at = 0; at < whole.length; at += size)
        yield await Promise.resolve(whole.subarray(at, at + size));
    }
    let found = "";
    for await (const piece of withoutServerStatements(pieces())) found += piece.toString();
    const left = [...LEFT_OUT, "SET @@GLOBAL.GTID_PURGED='x';"];
    expect(found).toBe(left.reduce((dump, each) => dump.replace(`\n${each}`, "\n"), DUMP));
  },
);
