import type { Engine } from "../engine.ts";
import { dumpMongodb } from "./dump.ts";
import { findMongodbSandbox } from "./sandbox.ts";
import type { MongodbSettings } from "../../config/engines/mongodb.ts";

export const mongodb: Engine<MongodbSettings> = { dump: dumpMongodb, findSandbox: findMongodbSandbox };
