import type { EngineSettings } from "../settings.ts";
import { globPattern } from "./glob.ts";

export interface DumpsSettings {
  /** Absolute; the directory that the dumps are written to. */
  readonly path: string;
  /** Which files of it: `*` and `?` in each part between slashes. */
  readonly pattern: string;
  /** A file that was written to more recently may not be whole yet. */
  readonly min_age_s: number;
  /** The newest one may be as old as that; null if it may be of any age. */
  readonly max_age_s: number | null;
  /** A smaller file is no dump. */
  readonly min_bytes: number;
}

const YEAR_S = 366 * 24 * 3600;

export const dumpsSettings: EngineSettings<DumpsSettings> = {
  fields: ["path", "pattern", "min_age_s", "max_age_s", "min_bytes"],
  parse: (fields) => {
    const path = fields.path("path", "the path of the directory that the dumps are in");
    const pattern = fields.has("pattern") ? fields.text("pattern", "a pattern such as orders-*.sql.gz") : "*";
    if (pattern !== null && globPattern(pattern) === null)
      fields.issue("pattern", "must be relative, without .., such as orders-*.sql.gz or */orders.dump");
    const min_age_s = fields.count("min_age_s", 60, {
      min: 0,
      max: YEAR_S,
      what: "a whole number of seconds",
    });
    const max_age_s = fields.has("max_age_s")
      ? fields.count("max_age_s", 1, { min: 1, max: 10 * YEAR_S, what: "a whole number of seconds" })
      : null;
    const min_bytes = fields.count("min_bytes", 1, { min: 1, max: 2 ** 50, what: "a whole number of bytes" });
    return path === null || pattern === null ? null : { path, pattern, min_age_s, max_age_s, min_bytes };
  },
};
