import { createHash } from "node:crypto";
import { ShareError, type Share } from "./shamir.ts";

const LINE_BYTES = 16;

/**
 * A share as it is printed on paper: lines of 16 bytes in hex, each with its number and a check of
 * four digits, so that a typing error is found at once and in its line.
 *
 *     share 3: 01  5f3a 9c00 …  ~7be1
 */
export function formatShare({ number, bytes }: Share): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += LINE_BYTES) {
    const hex = Buffer.from(bytes.subarray(at, at + LINE_BYTES)).toString("hex");
    const line = String(lines.length + 1).padStart(2, "0");
    lines.push(
      `share ${number}: ${line}  ${(hex.match(/.{1,4}/g) ?? []).join(" ")}  ~${checkOf(number, lines.length + 1, hex)}`,
    );
  }
  return lines.join("\n");
}

/**
 * The share in a text that may contain much else. @throws ShareError that says which line is wrong
 */
export function parseShare(text: string): Share {
  const rows = new Map<number, string>();
  let number: number | null = null;
  for (const [, share = "", line = "", digits = "", check = ""] of text.matchAll(
    /^\s*share +(\d{1,3}) *: *(\d{1,2}) +([0-9a-f ]+?) *~ *([0-9a-f]{4})\s*$/gim,
  )) {
    const hex = digits.replaceAll(" ", "").toLowerCase();
    const where = `line ${Number(line)} of share ${share}`;
    if (
      hex.length % 2 !== 0 ||
      hex.length > LINE_BYTES * 2 ||
      checkOf(Number(share), Number(line), hex) !== check.toLowerCase()
    )
      throw new ShareError(`${where} differs from the printed share: compare it digit by digit`);
    if (number !== null && number !== Number(share))
      throw new ShareError(`lines of share ${number} and of share ${share} are mixed`);
    number = Number(share);
    rows.set(Number(line), hex);
  }
  if (number === null) throw new ShareError('it contains no share; the lines of a share begin with "share"');
  const hex = Array.from({ length: rows.size }, (_, index) => {
    const row = rows.get(index + 1);
    if (row === undefined) throw new ShareError(`line ${index + 1} of share ${number} is missing`);
    if (index + 1 < rows.size && row.length !== LINE_BYTES * 2)
      throw new ShareError(`line ${index + 1} of share ${number} is too short`);
    return row;
  });
  return { number, bytes: Buffer.from(hex.join(""), "hex") };
}

function checkOf(share: number, line: number, hex: string): string {
  return createHash("sha256").update(`${share}:${line}:${hex}`).digest("hex").slice(0, 4);
}
