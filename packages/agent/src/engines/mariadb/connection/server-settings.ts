import type { ForeignMetadata } from "../../engine.ts";
import type { MariadbSession } from "./session.ts";
import { rowsOf } from "./session-error.ts";

/**
 * Settings that decide whether a server can load a dump, and that can only be set when a server is
 * made or started. A source's scratch server gets the same.
 */
export interface ServerSettings {
  /** Names of tables in any case mean the same table; the server stores them in lower case. */
  readonly ignoresCase: boolean;
  /** Of InnoDB, in bytes. Longer rows need larger pages. Null for the usual one. */
  readonly pageSize: number | null;
}

/** Signed in a backup's metadata. Absent if they are a new server's. */
export interface SettingsMetadata {
  readonly lower_case_table_names?: 1;
  readonly innodb_page_size?: number;
}

const PAGE_SIZES: readonly number[] = [4096, 8192, 32768, 65536];

/**
 * What differs from a new server's settings, for a backup's metadata.
 * @throws RunError, SessionEnded
 */
export async function settingsOf(session: MariadbSession): Promise<SettingsMetadata> {
  const rows = rowsOf(
    await session.run(
      "show global variables where variable_name in ('lower_case_table_names', 'innodb_page_size')",
    ),
    "asking for the server's settings",
  );
  const said = new Map(rows.map(([name, value]) => [name, Number(value)]));
  const pageSize = said.get("innodb_page_size") ?? 0;
  return {
    ...(said.get("lower_case_table_names") === 1 ? { lower_case_table_names: 1 as const } : {}),
    ...(PAGE_SIZES.includes(pageSize) ? { innodb_page_size: pageSize } : {}),
  };
}

/** As the metadata of a backup say, which we received. */
export function settingsIn(metadata: ForeignMetadata): ServerSettings {
  const { lower_case_table_names: names, innodb_page_size: size } = metadata;
  const pageSize = PAGE_SIZES.find((each) => each === size) ?? null;
  return { ignoresCase: names === 1, pageSize };
}

/** A server's arguments, for making its data directory and for starting it. */
export function settingArguments({ ignoresCase, pageSize }: ServerSettings): string[] {
  return [
    ...(ignoresCase ? ["--lower-case-table-names=1"] : []),
    ...(pageSize === null ? [] : [`--innodb-page-size=${pageSize}`]),
  ];
}
