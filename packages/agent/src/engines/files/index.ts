import type { Engine } from "../engine.ts";
import { dumpFiles } from "./dump/dump.ts";
import { findFilesSandbox } from "./restore/sandbox.ts";
import type { FilesSettings } from "../../config/engines/files.ts";

export const files: Engine<FilesSettings> = { dump: dumpFiles, findSandbox: findFilesSandbox };
