import type { DatabaseSync } from "node:sqlite";

/** How SQL gives a text of a database in hex. */
export type TextInHex = (text: string) => string;

/** Of a database in UTF-8: its own bytes. */
const BYTES: TextInHex = (text) => `hex(${text})`;

/**
 * SQLite makes UTF-8 of a text in UTF-16 for `hex`, and two texts may then be the same: it takes
 * any two bytes for the second half of a character. `trim` without a character to remove makes it
 * UTF-8 and back. A text that is another one then has a `u` and its own bytes.
 */
const OF_UTF16: TextInHex = (text) =>
  `case when cast(trim(${text}, '') as blob) <> cast(${text} as blob) then 'u' || hex(cast(${text} as blob)) else hex(${text}) end`;

/** `isExact`: false for what agents before 29 November 2026 signed. */
export function textInHex(database: DatabaseSync, isExact: boolean): TextInHex {
  const encoding = String(database.prepare("pragma encoding").get()?.["encoding"]);
  return isExact && encoding.startsWith("UTF-16") ? OF_UTF16 : BYTES;
}
