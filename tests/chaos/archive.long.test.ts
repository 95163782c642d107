import { describe } from "vitest";
import { testArchive } from "./archive-killed.ts";

describe("the archive of receipts, with objects on the disk", () => testArchive("disk"));
