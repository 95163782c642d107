import { expect, test } from "vitest";
import { withoutPlacesOfFiles } from "./without-data-directories.ts";

const DUMP = `CREATE TABLE \`far\` (
  \`a\` text COMMENT ' DATA DIRECTORY=''x'''
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 DATA DIRECTORY='/mnt/it''s/far/' COMMENT='far';
) ENGINE=MyISAM DATA DIRECTORY='/a/' INDEX DIRECTORY='/b\\'/' COMMENT='both';
/*!50100 PARTITION BY RANGE (\`y\`)
(PARTITION p0 VALUES LESS THAN (2000) DATA DIRECTORY = '/c' ENGINE = InnoDB,
 PARTITION p1 VALUES LESS THAN MAXVALUE DATA DIRECTORY = '/d/e' ENGINE = InnoDB) */;
INSERT INTO \`far\` VALUES ('${"x".repeat(20_000)} DATA DIRECTORY=\\'/x/\\'),(\\' DATA DIRECTORY='),(' DATA DIRECTORY=');
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC COMMENT='a DATA DIRECTORY=''/x'' b';
DELIMITER ;;
CREATE PROCEDURE \`archive\`()
CREATE TABLE old (a int
) ENGINE=InnoDB DATA DIRECTORY='/mnt/old' ;;
DELIMITER ;
) ENGINE=InnoDB DATA DIRECTORY='/mnt/last';
-- Dump completed`;
const PLACES = [
  " DATA DIRECTORY='/mnt/it''s/far/'",
  " DATA DIRECTORY='/a/' INDEX DIRECTORY='/b\\'/'",
  " DATA DIRECTORY = '/c'",
  " DATA DIRECTORY = '/d/e'",
  " DATA DIRECTORY='/mnt/last'",
];

test.each([1, 7, 64, 1000, 9000, 100_000])(
  "tables' directories are left out, in pieces of %i bytes, and rows, comments and routines stay",
  async (size) => {
    async function* pieces(): AsyncGenerator<Buffer> {
      const whole = Buffer.from(DUMP);
      for (let at = 0; at < whole.length; at += size)
        yield await Promise.resolve(whole.subarray(at, at + size));
    }
    let found = "";
    for await (const piece of withoutPlacesOfFiles(pieces())) found += piece.toString();
    expect(found).toBe(PLACES.reduce((dump, place) => dump.replace(place, ""), DUMP));
  },
);
