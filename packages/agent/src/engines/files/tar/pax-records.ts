import { MalformedArchive } from "./tar-header.ts";

/**
 * Parses the records of a pax extended header, each `<length> <keyword>=<value>
 * `, as bytes (latin1).
 * @throws MalformedArchive also if a keyword comes twice, because readers could disagree on which
 * one counts.
 */
export function parsePaxRecords(body: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < body.length;) {
    const space = body.indexOf(0x20, at);
    const digits = space === -1 || space - at > 10 ? "" : body.toString("latin1", at, space);
    const end = /^[1-9][0-9]*$/.test(digits) ? at + Number(digits) : 0;
    if (end <= space + 1 || end > body.length || body[end - 1] !== 0x0a) throw malformed();
    const record = body.toString("latin1", space + 1, end - 1);
    const equals = record.indexOf("=");
    if (equals < 1) throw malformed();
    const keyword = record.slice(0, equals);
    if (records.has(keyword)) throw malformed();
    records.set(keyword, record.slice(equals + 1));
    at = end;
  }
  return records;
}

function malformed(): MalformedArchive {
  return new MalformedArchive("a pax extended header is malformed");
}
