/**
 * The limits of a source, whatever its content. Otherwise somebody else would decide what a host
 * does.
 */
export interface SourceLimits {
  /** How long a dump may take, and a restore with its checks. */
  readonly time_s: number;
  /** The size of the dump before compression, both when it is made and when it is restored. */
  readonly bytes: number;
  /**
   * The size of all files of a directory together, including holes: every one of those bytes is
   * read and hashed.
   */
  readonly logicalBytes: number;
  /**
   * The size of the directory that is restored to; by default it follows from the backup's signed
   * size.
   */
  readonly restoreDisk?: number;
  /** For all processes of a restore together, if no control group limits them. */
  readonly restoreMemory?: number;
}

export const DEFAULT_LIMITS: SourceLimits = {
  time_s: 24 * 3600,
  bytes: 4 * 2 ** 40,
  logicalBytes: 8 * 2 ** 40,
};

const MAX_TIME_S = 14 * 24 * 3600;
const MAX_BYTES = 2 ** 50;
export const LIMIT_FIELDS = ["time_s", "bytes", "logical_bytes", "restore_disk", "restore_memory"];
const UNITS: Readonly<Record<string, number>> = { "": 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 };

/**
 * `limits:` of a source, or of config.yaml for all of them; `builtIn` for the missing ones.
 * `report` gets the mistakes.
 */
export function parseLimits(
  value: unknown,
  builtIn: SourceLimits,
  report: (field: string, message: string) => void,
): SourceLimits {
  if (value === undefined || value === null) return builtIn;
  if (typeof value !== "object" || Array.isArray(value)) {
    report("", `must be a mapping with ${LIMIT_FIELDS.join(", ")}`);
    return builtIn;
  }
  const given = value as Record<string, unknown>;
  for (const field of Object.keys(given))
    if (!LIMIT_FIELDS.includes(field))
      report(field, `is not a limit; the limits are ${LIMIT_FIELDS.join(", ")}`);
  const within = <Otherwise extends number | undefined>(
    field: string,
    most: number,
    what: string,
    otherwise: Otherwise,
  ): number | Otherwise => {
    if (given[field] === undefined || given[field] === null) return otherwise;
    const number = typeof given[field] === "string" ? parseBytes(given[field]) : given[field];
    if (typeof number === "number" && Number.isSafeInteger(number) && number >= 1 && number <= most)
      return number;
    report(field, `must be ${what}`);
    return otherwise;
  };
  const bytes = `bytes, such as 500GB or 2TB, up to ${MAX_BYTES}`;
  const restoreDisk = within("restore_disk", MAX_BYTES, bytes, builtIn.restoreDisk);
  const restoreMemory = within("restore_memory", MAX_BYTES, bytes, builtIn.restoreMemory);
  return {
    ...(restoreDisk === undefined ? {} : { restoreDisk }),
    ...(restoreMemory === undefined ? {} : { restoreMemory }),
    time_s: within("time_s", MAX_TIME_S, `a whole number of seconds from 1 to ${MAX_TIME_S}`, builtIn.time_s),
    bytes: within("bytes", MAX_BYTES, bytes, builtIn.bytes),
    logicalBytes: within("logical_bytes", MAX_BYTES, bytes, builtIn.logicalBytes),
  };
}

function parseBytes(text: string): number | null {
  const [, digits = "", unit = "", binary] = /^([0-9]{1,15}) ?([kmgt]?)(i?)b?$/i.exec(text.trim()) ?? [];
  if (digits === "") return null;
  const step = binary === "i" ? 1024 ** ["", "k", "m", "g", "t"].indexOf(unit.toLowerCase()) : undefined;
  return Number(digits) * (step ?? UNITS[unit.toLowerCase()] ?? 1);
}
