import type { Engine } from "../engine.ts";
import { dumpDumps } from "./dump.ts";
import { findDumpsSandbox } from "./sandbox.ts";
import type { DumpsSettings } from "../../config/engines/dumps.ts";

export const dumps: Engine<DumpsSettings> = { dump: dumpDumps, findSandbox: findDumpsSandbox };
