import { leftOutTexts } from "../content/left-out-texts.ts";
import type { Engine } from "../engine.ts";
import { mongodbVersions } from "./client-versions.ts";
import { dumpMongodb } from "./dump.ts";
import { OBJECTS_VERSIONS } from "./exact-objects.ts";
import { leftOutText } from "./left-out.ts";
import { findMongodbSandbox } from "./sandbox.ts";
import type { MongodbSettings } from "../../config/engines/mongodb.ts";

export const mongodb: Engine<MongodbSettings> = {
  dump: dumpMongodb,
  findSandbox: findMongodbSandbox,
  versions: mongodbVersions,
  hidden: (metadata) => leftOutTexts(metadata, leftOutText, OBJECTS_VERSIONS),
};
