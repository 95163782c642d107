import type { Engine } from "../engine.ts";
import { mariadbVersions } from "./client-versions.ts";
import { dumpMariadb } from "./dump.ts";
import { listMariadbColumns } from "./list-columns.ts";
import { proposeMariadb } from "./propose.ts";
import { findMariadbSandbox } from "./sandbox.ts";
import type { MariadbSettings } from "../../config/engines/mariadb.ts";

export const mariadb: Engine<MariadbSettings> = {
  dump: dumpMariadb,
  findSandbox: findMariadbSandbox,
  propose: proposeMariadb,
  columns: listMariadbColumns,
  versions: mariadbVersions,
};
