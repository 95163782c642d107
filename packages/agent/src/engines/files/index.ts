import type { FilesSourceConfig } from "../../root/source-config.ts";
import type { Engine } from "../engine.ts";
import { dumpFiles } from "./dump.ts";
import { findFilesSandbox } from "./sandbox.ts";

export const files: Engine<FilesSourceConfig> = { dump: dumpFiles, findSandbox: findFilesSandbox };
