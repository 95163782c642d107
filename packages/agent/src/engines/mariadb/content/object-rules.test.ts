import { expect, test } from "vitest";
import { leftOutOf, tableParts } from "./object-rules.ts";

/** As MariaDB 10.11 prints it. */
const table = (b: string, words: string, place = ""): string => `CREATE TABLE \`t\` (
  \`a\` varchar(30) DEFAULT ' DATA DIRECTORY=',
  \`b\` ${b},
  \`c\` varchar(9) DEFAULT 'x'
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci COMMENT='see ${words} DIRECTORY=''/x'' and'${place}`;

test("a text that looks like the place of a table's files hides nothing", () => {
  const parts = tableParts("t", table("bigint(20) NOT NULL", "DATA"));
  expect(tableParts("t", table("int(11) DEFAULT NULL", "DATA"))).not.toEqual(parts);
  expect(tableParts("t", table("bigint(20) NOT NULL", "INDEX"))).not.toEqual(parts);
  expect(leftOutOf(table("int(11)", "DATA"))).toMatchObject({ hasPlaces: false });
});

test("the place itself is not compared, and named", () => {
  const placed = table("int(11)", "DATA", " DATA DIRECTORY='/srv/a ''b''/' INDEX DIRECTORY='/srv/c/'");
  expect(tableParts("t", placed)).toEqual(tableParts("t", table("int(11)", "DATA")));
  expect(leftOutOf(placed)).toMatchObject({ hasPlaces: true });
});
