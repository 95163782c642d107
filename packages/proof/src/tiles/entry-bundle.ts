import { plural } from "../text/plural.ts";
import { concatBytes } from "../bytes.ts";
import { MAX_LEAF_SIZE } from "../log/leaf.ts";
import { ProofError } from "../proof-error.ts";

/**
 * Formats log entries by C2SP tlog-tiles: each entry follows its length as a big-endian uint16.
 * Throws `out_of_range`.
 */
export function encodeEntryBundle(entries: readonly Uint8Array[]): Uint8Array {
  return concatBytes(
    ...entries.flatMap((entry) => {
      if (entry.length > MAX_LEAF_SIZE)
        throw new ProofError("out_of_range", `an entry is larger than ${MAX_LEAF_SIZE} bytes`);
      return [Uint8Array.of(entry.length >> 8, entry.length & 0xff), entry];
    }),
  );
}

/**
 * Parses the entries of a bundle, which must have exactly `count` of them. Throws `malformed_tile`.
 */
export function decodeEntryBundle(bundle: Uint8Array, count: number): Uint8Array[] {
  const view = new DataView(bundle.buffer, bundle.byteOffset, bundle.byteLength);
  const entries: Uint8Array[] = [];
  let offset = 0;
  while (offset < bundle.length && entries.length < count) {
    const start = offset + 2;
    const end = start <= bundle.length ? start + view.getUint16(offset) : Infinity;
    if (end > bundle.length) throw new ProofError("malformed_tile", "the entry bundle is cut short");
    entries.push(bundle.slice(start, end));
    offset = end;
  }
  if (entries.length !== count || offset !== bundle.length)
    throw new ProofError(
      "malformed_tile",
      `the entry bundle does not contain exactly ${plural(count, "entry", "entries")}`,
    );
  return entries;
}
