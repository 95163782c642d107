import { utf8 } from "@attestore/proof";
import { expect, test } from "vitest";
import { storedZip } from "../../../test/stored-zip.ts";
import { blobSource } from "../../zip/blob-source.ts";
import { sizesToCompare } from "./log-sizes.ts";

test.each([
  ["of a later version", '{"format":"https://attestore.dev/evidence/v9","files":[]}'],
  ["without a format", '{"files":[]}'],
  ["that is no JSON", "{"],
])("a pack with a manifest %s says nothing of sizes, and its own verdict says why", async (_, manifest) => {
  const zip = new Blob([new Uint8Array(storedZip({ "manifest.json": utf8(manifest) }))]);
  const open = () => Promise.resolve(blobSource(zip));
  expect(await sizesToCompare([open, open])).toEqual(new Set());
});
