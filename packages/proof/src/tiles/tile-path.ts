import { ProofError } from "../proof-error.ts";

/** Number of hashes, or entries, in a full tile: height 8. */
export const TILE_WIDTH = 256;

/**
 * A tile of hashes (level 0 to 63) or a bundle of entries. `width` is 1..255 for a partial tile and
 * 256 for a full one.
 */
export interface Tile {
  level: number | "entries";
  index: number;
  width: number;
}

/**
 * Formats the C2SP tlog-tiles path `tile/<L>/<N>[.p/<W>]`, relative to the log's prefix. Throws
 * `out_of_range`.
 */
export function tilePath({ level, index, width }: Tile): string {
  const isLevel = level === "entries" || (Number.isInteger(level) && level >= 0 && level <= 63);
  const isWidth = Number.isInteger(width) && width >= 1 && width <= TILE_WIDTH;
  if (!isLevel || !isWidth || !Number.isSafeInteger(index) || index < 0)
    throw new ProofError("out_of_range", `no tile of level ${level}, index ${index}, width ${width}`);
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, "0").match(/.../g) ?? [];
  const path = groups.map((group, i) => (i < groups.length - 1 ? `x${group}` : group)).join("/");
  return `tile/${level}/${path}${width === TILE_WIDTH ? "" : `.p/${width}`}`;
}

const PATH = /^tile\/(entries|\d{1,2})\/((?:x\d{3}\/){0,5}\d{3})(?:\.p\/(\d{1,3}))?$/;

/**
 * Returns the one tile with this path. Throws `malformed_tile` for a path that tilePath does not
 * make.
 */
export function parseTilePath(path: string): Tile {
  const [, level, index, width] = PATH.exec(path) ?? [];
  if (level !== undefined && index !== undefined) {
    const tile: Tile = {
      level: level === "entries" ? level : Number(level),
      index: Number(index.replaceAll(/[x/]/g, "")),
      width: width === undefined ? TILE_WIDTH : Number(width),
    };
    if (isMadeBy(tile, path)) return tile;
  }
  throw new ProofError("malformed_tile", "not the path of a tile");
}

/**
 * A path with leading zeroes, or with a level or width out of range, does not survive the round
 * trip.
 */
function isMadeBy(tile: Tile, path: string): boolean {
  try {
    return tilePath(tile) === path;
  } catch {
    return false;
  }
}
