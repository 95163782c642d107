import type { Engine } from "../engine.ts";
import { dumpFiles } from "./dump.ts";
import { findFilesSandbox } from "./sandbox.ts";
import type { FilesSettings } from "../../config/engines/files.ts";

export const files: Engine<FilesSettings> = { dump: dumpFiles, findSandbox: findFilesSandbox };
