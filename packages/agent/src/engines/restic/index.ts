import type { Engine } from "../engine.ts";
import { dumpRestic } from "./dump.ts";
import { findResticSandbox } from "./sandbox.ts";
import type { ResticSettings } from "../../config/engines/restic.ts";

export const restic: Engine<ResticSettings> = { dump: dumpRestic, findSandbox: findResticSandbox };
