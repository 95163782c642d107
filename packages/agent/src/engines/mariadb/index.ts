import { leftOutTexts } from "../content/left-out-texts.ts";
import type { Engine } from "../engine.ts";
import { mariadbVersions } from "./client-versions.ts";
import { OBJECTS_VERSIONS } from "./content/expected-objects.ts";
import { hiddenText } from "./content/hidden-kinds.ts";
import { dumpMariadb } from "./dump/dump.ts";
import { listMariadbColumns } from "./source/list-columns.ts";
import { proposeMariadb } from "./source/propose.ts";
import { findMariadbSandbox } from "./sandbox/sandbox.ts";
import type { MariadbSettings } from "../../config/engines/mariadb.ts";

export const mariadb: Engine<MariadbSettings> = {
  dump: dumpMariadb,
  findSandbox: findMariadbSandbox,
  propose: proposeMariadb,
  columns: listMariadbColumns,
  versions: mariadbVersions,
  hidden: (metadata) =>
    leftOutTexts(metadata, (kind) => hiddenText(kind, metadata["engine_version"]), OBJECTS_VERSIONS),
};
